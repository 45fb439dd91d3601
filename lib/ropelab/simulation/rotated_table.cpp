#include "ropelab/simulation/rotated_table.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/simulation/quick_rotation.hpp"

namespace ropelab {
namespace {

// A fixed component before it is rotated, of either sign or 0.
class Fixed {
 public:
  Fixed() = default;
  Fixed(int sign, const Algebraic& size) : sign_(sign), size_(ExactInput(size)) {}
  explicit Fixed(double x) : sign_(x < 0 ? -1 : 1) {
    if (x != 0) size_.emplace(std::fabs(x));
  }

  // As the rotation step sees it first.
  template <class Exact>
  StepValue<Exact> input(const Pipeline& pipeline) const {
    if (!size_) return 0.0;
    const auto size = rotation_input<Exact>(pipeline, *size_);
    return sign_ < 0 ? step_negated(size) : size;
  }

 private:
  int sign_ = 1;
  std::optional<ExactInput> size_;
};

// The exact inputs of one rotated pair, made once for all positions.
struct Inputs {
  ExactInput theta;
  Fixed query_first, query_second, key_first, key_second;

  explicit Inputs(const Construction& construction)
      : theta(construction.theta),
        query_first(-1, amplitude(construction) / construction.key_part),
        key_second(1, construction.key_part) {}
  explicit Inputs(const RotatedPair& pair)
      : theta(pair.theta),
        query_first(pair.query[0]),
        query_second(pair.query[1]),
        key_first(pair.key[0]),
        key_second(pair.key[1]) {}
};

template <class Exact>
class Rotation {
 public:
  Rotation(const Pipeline& pipeline, const Inputs& inputs)
      : pipeline_(pipeline),
        theta_(inputs.theta),
        query_{inputs.query_first.input<Exact>(pipeline),
               inputs.query_second.input<Exact>(pipeline)},
        key_{inputs.key_first.input<Exact>(pipeline), inputs.key_second.input<Exact>(pipeline)} {}

  // Query and key at one position.
  std::pair<Components<Exact>, Components<Exact>> at(double position) const {
    const auto angle = angle_steps<Exact>(pipeline_, theta_, position);
    return {rotation_steps(pipeline_, angle, query_).stored,
            rotation_steps(pipeline_, angle, key_).stored};
  }

 private:
  const Pipeline& pipeline_;
  const ExactInput& theta_;
  Components<Exact> query_, key_;
};

DoubleDouble carried(double x) { return {x, 0}; }
DoubleDouble carried(const Bounded& x) { return x.value; }
DoubleDouble carried(const Real& x) { return to_double_double(x); }

template <class Exact>
void store(ComponentTable& table, std::size_t n, const StepValue<Exact>& value) {
  const DoubleDouble number = std::visit([](const auto& v) { return carried(v); }, value);
  table.high[n] = number.high;
  if (!table.low.empty()) table.low[n] = number.low;
}

template <class Exact>
void store(RotatedTable& table, std::size_t n,
           const std::pair<Components<Exact>, Components<Exact>>& vectors) {
  store(table.query_first, n, vectors.first.first);
  store(table.query_second, n, vectors.first.second);
  store(table.key_first, n, vectors.second.first);
  store(table.key_second, n, vectors.second.second);
}

void store(RotatedTable& table, std::size_t n, const QuickRotation::Vectors& vectors) {
  table.query_first.high[n] = vectors.query_first;
  table.query_second.high[n] = vectors.query_second;
  table.key_first.high[n] = vectors.key_first;
  table.key_second.high[n] = vectors.key_second;
}

RotatedTable empty_table(const Pipeline& pipeline, std::size_t count) {
  const bool exact = !pipeline[StepName::storage];
  const ComponentTable column{std::vector<double>(count), std::vector<double>(exact ? count : 0)};
  return {column, column, column, column};
}

// The quickest way to each position that decides every rounding.
class Positions {
 public:
  Positions(const Pipeline& pipeline, Inputs inputs)
      : inputs_(std::move(inputs)), bounded_(pipeline, inputs_), certain_(pipeline, inputs_) {
    if (!QuickRotation::serves(pipeline)) return;
    const auto rounded = [&](const Fixed& x) {
      return std::get<double>(x.input<Bounded>(pipeline));
    };
    quick_.emplace(
        pipeline, inputs_.theta,
        QuickRotation::Vectors{rounded(inputs_.query_first), rounded(inputs_.query_second),
                               rounded(inputs_.key_first), rounded(inputs_.key_second)});
  }
  Positions(const Positions&) = delete;  // its parts refer to inputs_
  Positions& operator=(const Positions&) = delete;

  void fill(RotatedTable& table, std::size_t n, double position) const {
    try {
      const auto vectors = quick_ ? quick_->at(position) : std::nullopt;
      if (vectors) {
        store(table, n, *vectors);
      } else {
        store(table, n, bounded_.at(position));
      }
    } catch (const Undecided&) {
      store(table, n, certain_.at(position));
    }
  }

 private:
  Inputs inputs_;
  Rotation<Bounded> bounded_;
  Rotation<Real> certain_;
  std::optional<QuickRotation> quick_;
};

RotatedTable rotated(const Pipeline& pipeline, const Inputs& inputs, long long first_position,
                     std::size_t count) {
  const Positions positions(pipeline, inputs);
  RotatedTable table = empty_table(pipeline, count);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 256), [&](const auto& range) {
    for (std::size_t n = range.begin(); n != range.end(); ++n) {
      positions.fill(table, n, static_cast<double>(first_position + static_cast<long long>(n)));
    }
  });
  return table;
}

}  // namespace

RotatedTable rotated_table(const Pipeline& pipeline, const Construction& construction,
                           long long first_position, std::size_t count) {
  return rotated(pipeline, Inputs(construction), first_position, count);
}

RotatedTable rotated_table(const Pipeline& pipeline, const RotatedPair& pair,
                           long long first_position, std::size_t count) {
  return rotated(pipeline, Inputs(pair), first_position, count);
}

}  // namespace ropelab
