// Published claims about positions, angles and biases kept in 16 bits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "app/claims/all_claims.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/diagonals.hpp"
#include "ropelab/errors/random_dots.hpp"
#include "ropelab/rope/frequency.hpp"
#include "ropelab/simulation/steps.hpp"

namespace ropelab::app {
namespace {

// The table of the report: 2048 positions, 16 frequencies.
constexpr int kTablePositions = 2048;
constexpr int kReportedPosition = 1857, kReportedPair = 1;

const FrequencyGrid& table_grid() {
  static const FrequencyGrid grid(Rational(10000), 32);
  return grid;
}

struct CosineError {
  Real error = 0;
  int position = 0, pair = 0;
};

// The entry of a cosine table that is furthest from the cosine of the exact phase.
CosineError largest_cosine_error(const Pipeline& pipeline, const Interruption& interruption) {
  CosineError largest;
  for (int pair = 0; pair < table_grid().pairs(); ++pair) {
    const ExactInput theta(table_grid().theta(pair));
    for (int position = 0; position < kTablePositions; ++position) {
      interruption.check();
      const Real kept = as_exact(angle_steps<Real>(pipeline, theta, position).table_cosine);
      const Real error = abs(kept - cosine(theta.times<Real>(position)));
      if (error > largest.error) largest = {error, position, pair};
    }
  }
  return largest;
}

Real reported_phase(const Pipeline& pipeline) {
  const ExactInput theta(table_grid().theta(kReportedPair));
  return as_exact(angle_steps<Real>(pipeline, theta, kReportedPosition).phase);
}

std::string place_of(const CosineError& error) {
  return fmt::format("at position {}, pair {}", error.position, error.pair);
}

// How many different numbers a format makes of the integers below `count`.
std::size_t count_distinct(const Format& format, int count) {
  std::set<double> different;
  for (int n = 0; n < count; ++n) different.insert(round_to(format, static_cast<double>(n)));
  return different.size();
}

ClaimText distinct_text(const Format& format, int count) {
  return {fmt::format("positions of the first {} that {} tells apart", count, format.name),
          format.largest < count
              ? fmt::format("those beyond {} are one: infinity", format.largest)
              : fmt::format("every one up to {}", std::ldexp(1.0, format.precision))};
}

// ALiBi's bias as the dot product of the query's (-m, -m i) and the key's (-j, 1).
class BiasFactors {
 public:
  BiasFactors(const Algebraic& slope, const Format& storage, std::size_t context) : slope_(slope) {
    const ExactInput exact(slope);
    const auto kept = [&](double factor) {
      return factor == 0 ? 0.0 : -round_to(storage, exact.times<Real>(factor));
    };
    for (std::size_t n = 0; n < context; ++n) {
      const auto position = static_cast<double>(n);
      table_.query_first.high.push_back(kept(1));
      table_.query_second.high.push_back(kept(position));
      table_.key_first.high.push_back(-round_to(storage, position));
      table_.key_second.high.push_back(1);
    }
  }

  struct Error {
    Real largest = 0;  // |score + m (i - j)| over the pairs with a finite score
    std::uint64_t nonfinite_pairs = 0;
    bool none() const { return largest == 0 && nonfinite_pairs == 0; }
  };

  // Over all causal pairs of the first positions.
  Error error(const Pipeline& pipeline, std::size_t context,
              const Interruption& interruption) const {
    const Real slope = slope_.to_real();
    std::vector<DoubleDouble> bias;
    for (std::size_t d = 0; d < context; ++d) {
      bias.push_back(to_double_double(Real(-slope * static_cast<long long>(d))));
    }
    Error error;
    long long distance = 0;
    for (const Diagonal& diagonal :
         measure_diagonals(pipeline, ExactInput(Algebraic()), first(context), bias, interruption)) {
      const Real exact = -slope * distance++;
      error.nonfinite_pairs += diagonal.pairs - diagonal.finite;
      if (diagonal.finite == 0) continue;
      error.largest = std::max({error.largest, Real(abs(to_real(diagonal.least) - exact)),
                                Real(abs(to_real(diagonal.greatest) - exact))});
    }
    return error;
  }

  // The first query position with a score that is not exact; there is one.
  std::size_t first_inexact(const Pipeline& pipeline, const Interruption& interruption) const {
    const auto is_inexact = [&](long long context) {
      return !error(pipeline, static_cast<std::size_t>(context), interruption).none();
    };
    return static_cast<std::size_t>(first_above(1, is_inexact)) - 1;
  }

 private:
  RotatedTable first(std::size_t count) const {
    const auto cut = [count](const ComponentTable& whole) {
      const auto end = whole.high.begin() + static_cast<std::ptrdiff_t>(count);
      return ComponentTable{{whole.high.begin(), end}, {}};
    };
    return {cut(table_.query_first), cut(table_.query_second), cut(table_.key_first),
            cut(table_.key_second)};
  }

  Algebraic slope_;
  RotatedTable table_;  // nothing in it is rotated
};

struct FactorSetting {
  const char* slope_text;
  int heads;  // head 1 of them
  const char* dtype;
  const char* pipeline;  // for its accumulation

  std::string text(const Pipeline& made) const {
    return fmt::format("{}, slope {}, {} accumulation", dtype, slope_text,
                       made[StepName::accumulation]->name);
  }
};

std::string holds_only_note(std::size_t first_inexact, std::uint64_t nonfinite_pairs) {
  std::string note = first_inexact == 1
                         ? std::string("holds only at position 0: the slope is rounded")
                         : fmt::format("holds only up to position {}", first_inexact - 1);
  if (nonfinite_pairs > 0) note += fmt::format("; {} pairs more are not finite", nonfinite_pairs);
  return note;
}

void add_factor_rows(std::vector<ClaimRow>& rows, const FactorSetting& setting,
                     const Interruption& interruption) {
  const Format& dtype = find_format(setting.dtype);
  const Pipeline pipeline = parse_pipeline(setting.pipeline, dtype);
  const BiasFactors factors(alibi_slope(setting.heads, 1), dtype, 65536);
  const std::size_t first = factors.first_inexact(pipeline, interruption);
  const std::string setting_text = setting.text(pipeline);
  rows.push_back(measured_row(
      {"first query position whose bias is not exact: " + setting_text,
       first == 1 ? std::string("the slope itself is no number of the format")
                  : fmt::format("all pairs of the first {} positions are exact", first)},
      Real(static_cast<long long>(first))));
  for (const std::size_t context : {2048U, 8192U, 65536U}) {
    const BiasFactors::Error error = factors.error(pipeline, context, interruption);
    rows.push_back(no_change_row(
        {fmt::format("largest error at context {}, logits: {}", context, setting_text),
         first >= context ? "exact" : holds_only_note(first, error.nonfinite_pairs)},
        error.largest, 0));
  }
}

// The first position that a format turns into infinity.
ClaimRow overflow_row(const Format& format) {
  int position = 0;
  while (std::isfinite(round_to(format, static_cast<double>(position)))) ++position;
  return measured_row(
      {fmt::format("first key position that overflows, {}", format.name),
       fmt::format("the largest number is {}; half a spacing further is infinity", format.largest)},
      position);
}

struct ShiftSetting {
  const char* pipeline;
  const char* note;
};

void add_shift_rows(std::vector<ClaimRow>& rows, const RandomDots& dots,
                    const ShiftSetting& setting, const Interruption& interruption) {
  const Format& dtype = find_format("bfloat16");
  const auto errors =
      dots.measure(parse_pipeline(setting.pipeline, dtype), dtype, {1024, 131072}, interruption);
  rows.push_back(measured_row(
      {fmt::format("rms change of a score, i - j = 24, both shifted by 1024: bfloat16, {}",
                   setting.pipeline),
       fmt::format("the scores' own rms is {:.3g}; in exact arithmetic nothing changes",
                   dots.exact_rms())},
      errors[0].shift_rms));
  rows.push_back(growth_reading_row(
      {fmt::format("the same shifted by 131072 over that: bfloat16, {}", setting.pipeline),
       setting.note},
      Real(errors[1].shift_rms) / Real(errors[0].shift_rms)));
}

}  // namespace

ClaimResult float16_table(const ClaimSettings& settings) {
  const Format& dtype = find_format("float16");
  const Pipeline naive = parse_pipeline("naive", dtype);
  const Pipeline exact_theta = parse_pipeline("naive,position=exact,theta=exact", dtype);
  const Pipeline float32_angles = parse_pipeline("fp32-rope", dtype);
  const CosineError largest = largest_cosine_error(naive, settings.interruption);
  const CosineError of_phase = largest_cosine_error(exact_theta, settings.interruption);
  const CosineError of_table = largest_cosine_error(float32_angles, settings.interruption);
  const Real exact = table_grid().theta(kReportedPair).to_real() * kReportedPosition;
  return {{stated_row({"phase of position 1857, pair 1, exact", "dimension 32, base 1e4"},
                      "1044.2678", exact),
           stated_row({"the same in float16", "theta is rounded to 0.5625, then the product"},
                      "1045", reported_phase(naive)),
           reading_row({"the same, theta exact and only the phase in float16",
                        "holds only where theta is rounded too"},
                       "1045", reported_phase(exact_theta)),
           stated_row({"largest error of a cosine, float16", place_of(largest)}, "0.7819",
                      largest.error),
           reading_row({"the same, theta exact and only the phase in float16",
                        "holds only where theta is rounded too; " + place_of(of_phase)},
                       "0.7819", of_phase.error),
           measured_row({"the same, angles in float32 and the table in float16",
                         "no more than rounding the cosine; " + place_of(of_table)},
                        of_table.error)},
          {}};
}

ClaimResult distinct_positions(const ClaimSettings&) {
  const Format &bfloat16 = find_format("bfloat16"), &float16 = find_format("float16");
  const auto count = [](const Format& format, int positions) {
    return Real(count_distinct(format, positions));
  };
  return {{stated_row(distinct_text(bfloat16, 2048), "641", count(bfloat16, 2048)),
           stated_row(distinct_text(bfloat16, 32768), "1153", count(bfloat16, 32768)),
           measured_row(distinct_text(float16, 2048), count(float16, 2048)),
           measured_row(distinct_text(float16, 32768), count(float16, 32768))},
          {}};
}

ClaimResult shifted_scores(const ClaimSettings& settings) {
  const RandomDots dots(FrequencyGrid(Rational(10000), 128), Layout::half, 24, 0, 100,
                        settings.seed, settings.interruption);
  ClaimResult result;
  constexpr const char* bounded =
      "holds only where positions and angles are bfloat16 too: rounded components lose as much "
      "wherever they stand";
  for (const ShiftSetting& setting :
       {ShiftSetting{"naive", "positions and angles are bfloat16 too"},
        ShiftSetting{"ideal-trig", bounded}, ShiftSetting{"fp32-rope", bounded}}) {
    add_shift_rows(result.rows, dots, setting, settings.interruption);
  }
  return result;
}

ClaimResult bias_of_rank_two(const ClaimSettings& settings) {
  ClaimResult result;
  for (const char* dtype : {"float16", "bfloat16"}) {
    for (const auto& [slope_text, heads] : {std::pair("1/2", 8), std::pair("2^(-1/2)", 16)}) {
      for (const char* pipeline : {"fused", "naive"}) {
        add_factor_rows(result.rows, {slope_text, heads, dtype, pipeline}, settings.interruption);
      }
    }
  }
  result.rows.push_back(overflow_row(find_format("float16")));
  return result;
}

}  // namespace ropelab::app
