#include "app/claims/claim.hpp"

#include "ropelab/exact/parse.hpp"

namespace ropelab::app {
namespace {

// Of a decimal number: zeros before the first other digit do not count.
int significant_digits(std::string_view decimal) {
  int digits = 0;
  for (const char c : decimal.substr(0, decimal.find('e'))) {
    if (c >= '0' && c <= '9' && (digits > 0 || c != '0')) ++digits;
  }
  return digits;
}

bool rounds_to(std::string_view claimed, const Real& computed) {
  const int digits = significant_digits(claimed);
  return to_decimal(computed, digits) == to_decimal(parse_rational(claimed), digits);
}

Real relative_difference(const Real& claimed, const Real& computed) {
  return (computed - claimed) / abs(claimed);
}

ClaimRow decimal_row(ClaimText text, std::string_view claimed, const Real& computed,
                     Verdict otherwise) {
  return {std::move(text.quantity),
          ExactNumber{std::string(claimed)},
          computed,
          relative_difference(to_real(parse_rational(claimed)), computed),
          rounds_to(claimed, computed) ? Verdict::agrees : otherwise,
          std::move(text.note)};
}

ClaimRow growing_row(ClaimText text, const Real& ratio, Verdict otherwise) {
  const Verdict verdict = ratio >= 2 ? Verdict::agrees : otherwise;
  return {std::move(text.quantity), "grows", ratio, {}, verdict, std::move(text.note)};
}

Verdict about_verdict(const Real& claimed, const Real& computed) {
  const Real ratio = computed / claimed;
  if (abs(ratio - 1) <= Real(1) / 10) return Verdict::agrees;
  return ratio > Real(1) / 2 && ratio < 2 ? Verdict::holds_only : Verdict::wrong;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  constexpr std::string_view names[] = {"agrees", "holds-only", "wrong", "measured"};
  return names[static_cast<int>(verdict)];
}

ClaimRow measured_row(ClaimText text, const Real& computed) {
  return {std::move(text.quantity), {}, computed, {}, Verdict::measured, std::move(text.note)};
}

ClaimRow stated_row(ClaimText text, std::string_view claimed, const Real& computed) {
  return decimal_row(std::move(text), claimed, computed, Verdict::wrong);
}

ClaimRow reading_row(ClaimText text, std::string_view claimed, const Real& computed) {
  return decimal_row(std::move(text), claimed, computed, Verdict::holds_only);
}

ClaimRow about_row(ClaimText text, const Real& claimed, const Real& computed) {
  return {std::move(text.quantity),
          to_double(claimed),
          computed,
          relative_difference(claimed, computed),
          about_verdict(claimed, computed),
          std::move(text.note)};
}

ClaimRow less_than_one_row(ClaimText text, const Real& ratio) {
  const Verdict verdict = ratio < 1 ? Verdict::agrees : Verdict::wrong;
  return {std::move(text.quantity), "< 1", ratio, {}, verdict, std::move(text.note)};
}

ClaimRow growth_row(ClaimText text, const Real& ratio) {
  return growing_row(std::move(text), ratio, Verdict::wrong);
}

ClaimRow growth_reading_row(ClaimText text, const Real& ratio) {
  return growing_row(std::move(text), ratio, Verdict::holds_only);
}

ClaimRow no_change_row(ClaimText text, const Real& change, const Real& resolution) {
  const Verdict verdict = change <= resolution ? Verdict::agrees : Verdict::holds_only;
  return {std::move(text.quantity), 0, change, {}, verdict, std::move(text.note)};
}

long long first_above(long long below, const std::function<bool(long long)>& holds) {
  long long before = below, from = below + 1;
  while (!holds(from)) {
    before = from;
    from *= 2;
  }
  while (from - before > 1) {
    const long long middle = before + (from - before) / 2;
    (holds(middle) ? from : before) = middle;
  }
  return from;
}

}  // namespace ropelab::app
