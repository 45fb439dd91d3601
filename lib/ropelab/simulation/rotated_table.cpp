#include "ropelab/simulation/rotated_table.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/simulation/quick_rotation.hpp"

namespace ropelab {
namespace {

// The exact inputs of a construction, made once for all positions.
struct Inputs {
  ExactInput theta, query_part, key_part;

  explicit Inputs(const Construction& construction)
      : theta(construction.theta),
        query_part(amplitude(construction) / construction.key_part),
        key_part(construction.key_part) {}
};

template <class Exact>
class Rotation {
 public:
  Rotation(const Pipeline& pipeline, const Inputs& inputs)
      : pipeline_(pipeline),
        theta_(inputs.theta),
        query_{step_negated(rotation_input<Exact>(pipeline, inputs.query_part)), 0.0},
        key_{0.0, rotation_input<Exact>(pipeline, inputs.key_part)} {}

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
  Positions(const Pipeline& pipeline, const Construction& construction)
      : inputs_(construction), bounded_(pipeline, inputs_), certain_(pipeline, inputs_) {
    if (!QuickRotation::serves(pipeline)) return;
    quick_.emplace(pipeline, inputs_.theta, inputs_.query_part, inputs_.key_part);
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

}  // namespace

RotatedTable rotated_table(const Pipeline& pipeline, const Construction& construction,
                           long long first_position, std::size_t count) {
  const Positions positions(pipeline, construction);
  RotatedTable table = empty_table(pipeline, count);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 256), [&](const auto& range) {
    for (std::size_t n = range.begin(); n != range.end(); ++n) {
      positions.fill(table, n, static_cast<double>(first_position + static_cast<long long>(n)));
    }
  });
  return table;
}

}  // namespace ropelab
