// Cases about frequencies, phases, rotated vectors and the scores they give. Naive values are
// those of a pipeline that is exact but for the formats named.
#pragma once

#include <algorithm>

#include "cases/bias_cases.hpp"
#include "cases/scaling_cases.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/rope/rotated_dot.hpp"
#include "ropelab/simulation/score.hpp"

namespace cases {

using ropelab::Components;
using ropelab::ExactInput;
using ropelab::Pipeline;
using ropelab::StepName;

inline Pipeline pipeline_of(const Case& c) {
  Pipeline pipeline;
  pipeline[StepName::position] = c.kept_in("pos_fmt");
  pipeline[StepName::theta] = c.kept_in("theta_fmt");
  pipeline[StepName::phase] = c.kept_in("prod_fmt");
  pipeline[StepName::table] = c.kept_in("cache_fmt");
  return pipeline;
}

// The other rule leaves a scaling out.
inline ropelab::Scaling scaling_of(const Case& c) {
  if (!c.has("llama3") || c.other_rule()) return {};
  return llama3_of(c);
}

inline Algebraic theta_of(const Case& c) {
  if (c.has("theta")) return c.positive("theta");
  const ropelab::FrequencyGrid grid(c.number("base"), c.small("dim"), scaling_of(c));
  return grid.theta(c.small("r"));
}

inline ropelab::AngleSteps<Real> angle_of(const Case& c) {
  const double position = static_cast<double>(c.integer("pos"));
  return ropelab::angle_steps<Real>(pipeline_of(c), ExactInput(theta_of(c)), position);
}

// The other rule forgets the 2 of 2r/dim.
inline Value theta(const Case& c) {
  const int dim = c.small("dim") * (c.other_rule() ? 2 : 1);
  try {
    return ropelab::FrequencyGrid(c.number("base"), dim).theta(c.small("r")).to_real();
  } catch (const std::invalid_argument& refusal) {
    const bool base = std::string(refusal.what()).find("base is") == 0;
    return base ? "error: base must be > 0" : "error";
  }
}

inline Value phase(const Case& c) { return ropelab::as_exact(angle_of(c).phase); }

inline Value sin(const Case& c) { return ropelab::sine(c.real("x")); }

// The naive path makes the cosine of x from a sine, and subtracts in the format.
inline Value cos(const Case& c) {
  if (!c.has("x")) {
    try {
      return ropelab::as_exact(angle_of(c).cosine);
    } catch (const std::invalid_argument&) {
      return "error";
    }
  }
  if (!c.naive()) return ropelab::cosine(c.real("x"));
  const Step format = c.kept_in("fmt");
  const Real quarter_turn = kept(format, Real(ropelab::pi() / 2));
  return ropelab::sine(kept(format, Real(quarter_turn - kept(format, c.real("x")))));
}

// The largest error of the cosines of a whole table. Bounded has 100 bits, and is quick.
inline Value max_cos_err(const Case& c) {
  const ropelab::FrequencyGrid grid(c.positive("base"), c.small("dim"));
  const std::string& range = c.text("pos");
  const int last = std::stoi(range.substr(range.find("..") + 2));
  const Pipeline pipeline = pipeline_of(c);
  const auto cosine_at = [](const Pipeline& p, const ExactInput& frequency, int position) {
    const auto angle = ropelab::angle_steps<ropelab::Bounded>(p, frequency, position);
    return ropelab::as_exact(angle.cosine).value;
  };
  Real worst = 0;
  for (int pair = 0; pair < grid.pairs(); ++pair) {
    const ExactInput frequency(grid.theta(pair));
    for (int position = std::stoi(range); position <= last; ++position) {
      const auto error =
          cosine_at(pipeline, frequency, position) - cosine_at(Pipeline{}, frequency, position);
      worst = std::max(worst, Real(abs(ropelab::to_real(error))));
    }
  }
  return worst;
}

// FACTOR*pi or FACTOR*pi/2.
inline Value limit(const Case& c) {
  const std::string& form = c.text("form");
  const auto star = form.find("*pi");
  const Real turns = ropelab::to_real(ropelab::parse_rational(form.substr(0, star)));
  return Real(turns * ropelab::pi() / (form.substr(star) == "*pi/2" ? 2 : 1));
}

inline Value rotate(const Case& c) {
  const std::vector<Rational> x = c.vector("x");
  const Pipeline pipeline = pipeline_of(c);
  const auto angle = ropelab::angle_steps<Real>(pipeline, ExactInput(c.positive("angle")), 1);
  const auto rotated = ropelab::rotation_steps<Real>(
      pipeline, angle, {ropelab::to_real(x.at(0)), ropelab::to_real(x.at(1))});
  return ropelab::as_exact(c.says("component", "0") ? rotated.stored.first : rotated.stored.second);
}

// The other rule reads one layout as the other.
inline Value dot(const Case& c) {
  const ropelab::FrequencyGrid grid(c.positive("base"), c.small("dim"));
  const bool half = c.says("layout", "half_split") != c.other_rule();
  return ropelab::exact_rotated_dot(grid, c.vector("q"), c.vector("k"), c.integer("i"),
                                    c.integer("j"),
                                    half ? ropelab::Layout::half : ropelab::Layout::interleaved)
      .value;
}

inline Value amplitude(const Case& c) {
  const Algebraic n = ropelab::amplitude({theta_of(c), slope_of(c), c.integer("h")});
  const Step format = c.kept_in("store_fmt");
  return format ? Real(ropelab::round_to(*format, n)) : n.to_real();
}

// A key kept in k_fmt, if this is the stage at which the case keeps it so.
inline Components<Real> kept_key(const Case& c, const char* stage, const Components<Real>& key) {
  const Step format = c.kept_in("k_fmt");
  if (!format || !c.says("quant", stage)) return key;
  return {ropelab::round_to(*format, ropelab::as_exact(key.first)),
          ropelab::round_to(*format, ropelab::as_exact(key.second))};
}

inline Real computed_score(const Case& c, const ropelab::Construction& construction, long long i,
                           long long j) {
  const Pipeline pipeline = pipeline_of(c);
  const ExactInput frequency(construction.theta);
  const ExactInput n(ropelab::amplitude(construction));
  const auto rotated = [&](const Components<Real>& x, long long position) {
    const auto angle =
        ropelab::angle_steps<Real>(pipeline, frequency, static_cast<double>(position));
    return ropelab::rotation_steps<Real>(pipeline, angle, x).stored;
  };
  const auto query =
      rotated({ropelab::step_negated(ropelab::rotation_input<Real>(pipeline, n)), 0.0}, i);
  const auto key = kept_key(c, "post_rope", rotated(kept_key(c, "pre_rope", {0.0, 1.0}), j));
  const auto steps =
      ropelab::score_steps<Real>(pipeline, ropelab::score_scale(construction), query, key);
  return ropelab::as_exact(steps.scaled);
}

// -(m/theta) sin(d theta): the right path never rotates anything by i or j.
inline Value score(const Case& c) {
  const ropelab::Construction construction{theta_of(c), slope_of(c), c.integer("h")};
  if (c.naive()) {
    const long long j = c.has("d") ? 0 : c.integer("j");
    return computed_score(c, construction, j + distance_of(c), j);
  }
  const Real angle = construction.theta.to_real() * Real(distance_of(c));
  return Real(-ropelab::amplification(construction).to_real() * ropelab::sine(angle));
}

}  // namespace cases
