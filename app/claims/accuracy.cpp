// Claims about what rounding does to the construction's scores.
#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>

#include "app/claims/all_claims.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/exact/rounding_status.hpp"
#include "ropelab/rope/frequency.hpp"

namespace ropelab::app {
namespace {

constexpr const char* kPhases[] = {"1", "0.1", "0.01", "0.001", "1e-4", "1e-5", "1e-6"};

Construction construction_at(std::string_view max_phase, long long context) {
  return {parse_positive(max_phase) / Algebraic(context), alibi_slope(16, 1), 64};
}

// One format and pipeline, measured over all pairs at every max phase, from the largest on.
struct PhaseSeries {
  Format dtype;
  Pipeline pipeline;
  long long context;
  std::vector<PairErrors> errors;  // by kPhases

  std::string text() const {
    return fmt::format("{}, {}, context {}", dtype.name, pipeline.name, context);
  }
  double error(std::size_t phase) const { return errors[phase].rounding_maximum->error; }
};

PhaseSeries series_of(const char* dtype, const char* pipeline, long long context) {
  const Format& format = find_format(dtype);
  return {format, parse_pipeline(pipeline, format), context, {}};
}

// All series are of one context.
void measure(std::vector<PhaseSeries>& all, const Interruption& interruption) {
  const long long context = all.front().context;
  for (const char* max_phase : kPhases) {
    const DistanceReference reference(construction_at(max_phase, context),
                                      static_cast<std::size_t>(context), interruption);
    for (PhaseSeries& series : all) {
      series.errors.push_back(
          measure_all_pairs(series.pipeline, reference, 0, interruption).errors);
    }
  }
}

std::vector<PhaseSeries> short_series() {
  std::vector<PhaseSeries> all;
  for (const char* dtype : {"float16", "bfloat16", "float32"}) {
    for (const char* pipeline : {"ideal-trig", "naive", "fp32-rope", "fused"}) {
      all.push_back(series_of(dtype, pipeline, 4096));
    }
  }
  return all;
}

void add_to_curve(Table& table, const PhaseSeries& series) {
  for (std::size_t n = 0; n < series.errors.size(); ++n) {
    const Construction construction = construction_at(kPhases[n], series.context);
    const Step& rotation = series.pipeline[StepName::rotation];
    const PairErrors& errors = series.errors[n];
    auto row = table.add_row();
    row.set("context", series.context)
        .set("max_phase", parse_positive(kPhases[n]).to_double())
        .set("theta", construction.theta.to_double())
        .set("dtype", series.dtype.name)
        .set("pipeline", series.pipeline.name)
        .set("N", amplitude(construction).to_double())
        .set("N_status", rounding_status(*rotation, amplitude(construction)))
        .set("rounding_rms", errors.rounding_rms)
        .set("pairs", errors.pairs)
        .set("nonfinite_pairs", errors.nonfinite_pairs);
    if (errors.rounding_maximum) row.set("rounding_max_abs", errors.rounding_maximum->error);
  }
}

// The least and the greatest of a series' largest errors; all are finite.
std::pair<double, double> extent(const PhaseSeries& series) {
  std::pair<double, double> extent{series.error(0), series.error(0)};
  for (std::size_t n = 1; n < series.errors.size(); ++n) {
    extent.first = std::min(extent.first, series.error(n));
    extent.second = std::max(extent.second, series.error(n));
  }
  return extent;
}

// Where pairs overflow there is no error to compare: the claim holds, but for the range's sake.
ClaimRow out_of_range_row(const std::string& quantity, const PhaseSeries& series,
                          std::size_t first) {
  std::string note = fmt::format(
      "holds only through the range: from max phase {} down, N or a rotated query overflows",
      kPhases[first]);
  if (first > 0) {
    note += fmt::format("; at {} the largest error is {:.3g} logits", kPhases[first - 1],
                        series.error(first - 1));
  }
  return {quantity, "grows", {}, {}, Verdict::holds_only, note};
}

ClaimRow stability_row(const PhaseSeries& series) {
  const std::string quantity =
      "largest rounding error at max phase 1e-6 over that at 1: " + series.text();
  const auto broken =
      std::find_if(series.errors.begin(), series.errors.end(),
                   [](const PairErrors& errors) { return errors.nonfinite_pairs > 0; });
  if (broken != series.errors.end()) {
    return out_of_range_row(quantity, series,
                            static_cast<std::size_t>(broken - series.errors.begin()));
  }
  const auto [least, greatest] = extent(series);
  return growth_row({quantity, fmt::format("stays between {:.3g} and {:.3g} logits while theta "
                                           "shrinks a million times",
                                           least, greatest)},
                    Real(series.error(series.errors.size() - 1)) / Real(series.error(0)));
}

void add_long_rows(std::vector<ClaimRow>& rows, const PhaseSeries& series) {
  const auto [least, greatest] = extent(series);
  rows.push_back(stability_row(series));
  rows.push_back(measured_row({"largest rounding error at max phase 0.1, logits: " + series.text(),
                               "over all 2147516416 pairs"},
                              series.error(1)));
  rows.push_back(
      measured_row({"the least of them over max phases 1 ... 1e-6", series.text()}, least));
  rows.push_back(
      measured_row({"the greatest of them over max phases 1 ... 1e-6", series.text()}, greatest));
}

// A rotated dot product, every position rotated for itself as a model does it.
Real rotated_dot(const FrequencyGrid& grid, const std::vector<Real>& q, const std::vector<Real>& k,
                 long long i, long long j) {
  Real sum = 0;
  for (int pair = 0; pair < grid.pairs(); ++pair) {
    const std::size_t n = 2 * static_cast<std::size_t>(pair);
    const Real theta = grid.theta(pair).to_real();
    const Real query = theta * i, key = theta * j;
    const Real qc = cosine(query), qs = sine(query), kc = cosine(key), ks = sine(key);
    sum += (q[n] * qc - q[n + 1] * qs) * (k[n] * kc - k[n + 1] * ks) +
           (q[n] * qs + q[n + 1] * qc) * (k[n] * ks + k[n + 1] * kc);
  }
  return sum;
}

// Components are multiples of 1/1024 in [-1, 1).
std::vector<Real> random_vector(boost::random::mt19937_64& random, int size) {
  std::vector<Real> components;
  for (int n = 0; n < size; ++n) {
    components.push_back((Real(random() >> 53) - 1024) / 1024);
  }
  return components;
}

ClaimRow exact_invariance_row(std::uint64_t seed) {
  const FrequencyGrid grid(Rational(10000), 64);
  boost::random::mt19937_64 random(seed);
  const std::vector<Real> q = random_vector(random, 64), k = random_vector(random, 64);
  const Real here = rotated_dot(grid, q, k, 100, 0);
  Real change = 0;
  for (const long long offset : {1, 10, 1000, 65436, 1 << 20, 1 << 30}) {
    const Real moved = rotated_dot(grid, q, k, 100 + offset, offset);
    change = std::max(change, Real(abs(moved - here)));
  }
  return no_change_row({"largest change of a rotated score with both positions moved, exact",
                        "64 dimensions, base 1e4, d = 100, moved by up to 2^30 positions: nothing "
                        "beyond what arithmetic of 512 bits itself blurs (2^-400)"},
                       change, ldexp(Real(1), -400));
}

// By how much F(i, i-d) varies with i, for each distance; logits.
struct Spread {
  std::vector<double> by_distance;
  std::size_t worst = 0;
};

Spread spread_of(const Pipeline& pipeline, const DistanceReference& reference,
                 const Interruption& interruption) {
  const Construction& construction = reference.construction();
  const RotatedTable table = rotated_table(pipeline, construction, 0, reference.context());
  Spread spread;
  for (const Diagonal& diagonal : measure_diagonals(pipeline, score_scale(construction), table,
                                                    reference.simulated(), interruption)) {
    const bool any = diagonal.finite > 0;
    spread.by_distance.push_back(any ? (diagonal.greatest - diagonal.least).high : 0);
  }
  const auto worst = std::max_element(spread.by_distance.begin(), spread.by_distance.end());
  spread.worst = static_cast<std::size_t>(worst - spread.by_distance.begin());
  return spread;
}

void add_to_curve(Table& table, const Format& dtype, const std::string& pipeline,
                  const Spread& spread) {
  for (std::size_t d = 1; d < spread.by_distance.size(); d *= 2) {
    table.add_row({dtype.name, pipeline, d, spread.by_distance[d]});
  }
}

ClaimRow spread_row(const Format& dtype, const std::string& pipeline, const Spread& spread) {
  return no_change_row(
      {fmt::format("largest change of F at one distance, logits: {}, {}", dtype.name, pipeline),
       fmt::format("holds only in exact arithmetic; context 4096, max phase 1, worst at d = {}",
                   spread.worst)},
      spread.by_distance[spread.worst], 0);
}

}  // namespace

ClaimResult small_theta_unstable(const ClaimSettings& settings) {
  std::vector<PhaseSeries> all = short_series();
  std::vector<PhaseSeries> longest{series_of("float32", "ideal-trig", 65536)};
  measure(all, settings.interruption);
  measure(longest, settings.interruption);
  ClaimResult result;
  for (const PhaseSeries& series : all) result.rows.push_back(stability_row(series));
  add_long_rows(result.rows, longest.front());
  result.curve.emplace(std::vector<std::string>{"context", "max_phase", "theta", "dtype",
                                                "pipeline", "N", "N_status", "rounding_max_abs",
                                                "rounding_rms", "pairs", "nonfinite_pairs"});
  for (const PhaseSeries& series : all) add_to_curve(*result.curve, series);
  add_to_curve(*result.curve, longest.front());
  return result;
}

ClaimResult relative_positions(const ClaimSettings& settings) {
  const DistanceReference reference(construction_at("1", 4096), 4096, settings.interruption);
  ClaimResult result{{exact_invariance_row(settings.seed)}, {}};
  result.curve.emplace(std::vector<std::string>{"dtype", "pipeline", "distance", "largest_change"});
  for (const char* name : {"float16", "bfloat16", "float32", "float64"}) {
    for (const char* preset : {"ideal-trig", "fused"}) {
      const Format& dtype = find_format(name);
      const Spread spread =
          spread_of(parse_pipeline(preset, dtype), reference, settings.interruption);
      result.rows.push_back(spread_row(dtype, preset, spread));
      add_to_curve(*result.curve, dtype, preset, spread);
    }
  }
  return result;
}

}  // namespace ropelab::app
