// ropelab round: what a number becomes in each format.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "app/commands.hpp"
#include "app/construction_options.hpp"
#include "ropelab/exact/distance.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/exact/rounding_status.hpp"

namespace ropelab::app {
namespace {

// A number of any sign, infinity or NaN, as the user wrote it.
struct Input {
  std::string text;
  bool negative = false;
  // Empty: zero, or what `special` holds.
  std::optional<Algebraic> magnitude;
  double special = 0;  // 0, infinity or NaN
};

// Powers of two may be irrational, so they are no rationals; zero is nothing positive.
std::optional<Algebraic> parse_magnitude(const std::string& text,
                                         const std::string& unsigned_text) {
  try {
    return parse_positive(unsigned_text);
  } catch (const std::invalid_argument&) {
    if (parse_rational(text) == 0) return std::nullopt;
    throw;
  }
}

Input parse_input(const std::string& argument) {
  Input input{without_blanks(argument), false, std::nullopt, 0};
  const bool is_signed = input.text.find_first_of("+-") == 0;
  const std::string unsigned_text = input.text.substr(is_signed ? 1 : 0);
  input.negative = is_signed && input.text.front() == '-';
  if (unsigned_text == "inf" || unsigned_text == "nan") {
    input.special = unsigned_text == "inf" ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN();
    return input;
  }
  try {
    input.magnitude = parse_magnitude(input.text, unsigned_text);
  } catch (const std::invalid_argument& error) {
    throw UsageError("VALUE", error.what());
  }
  return input;
}

double rounded_magnitude(const Format& format, const Input& input) {
  return input.magnitude ? round_to(format, *input.magnitude) : round_to(format, input.special);
}

// The words of N_status of the error table, and nan.
std::string_view status(const Format& format, const Input& input) {
  if (input.magnitude) return rounding_status(format, *input.magnitude);
  if (std::isnan(input.special)) return "nan";
  if (input.special == 0) return "zero";
  return std::isinf(input.special) && format.overflow != Overflow::infinity ? "overflow" : "exact";
}

std::string bits_text(const Format& format, double value) {
  return fmt::format("0x{:0{}x}", encode(format, value), format.bits / 4);
}

// Of the result; beyond the largest number, of what was rounded.
double spacing(const Format& format, const Input& input, double value) {
  if (std::isfinite(value) || !input.magnitude) return ulp(format, value);
  return ulp_at(format, *input.magnitude);
}

// Empty where there is no such number.
Cell number_cell(double value) { return std::isnan(value) ? Cell() : Cell(value); }

void add_row(Table& table, const Input& input, const Format& format) {
  const double magnitude = rounded_magnitude(format, input);
  const double value = input.negative ? -magnitude : magnitude;
  table.add_row({input.text, format.name, value, to_hexadecimal(value), bits_text(format, value),
                 number_cell(spacing(format, input, value)), number_cell(next_below(format, value)),
                 number_cell(next_above(format, value)), status(format, input)});
}

class Round : public Command {
 public:
  void add_options(CLI::App& app) override {
    app.add_option("VALUE", arguments_, "Numbers; inf and nan too")->required()->type_name("");
    formats_.add_to(app);
  }

  void set_up(const Interruption& interruption) override {
    for (const std::string& argument : arguments_) {
      interruption.check();
      inputs_.push_back(parse_input(argument));
    }
    dtypes_ = formats_.read();
  }

  std::vector<std::string> columns() const override {
    return {"input", "dtype", "value", "hex", "bits", "ulp", "below", "above", "status"};
  }

  std::optional<std::size_t> rows_in_all() const override {
    return inputs_.size() * dtypes_.size();
  }

  void run(Run& run, Table& table) override {
    run.over(inputs_.size(), [&](std::size_t n) {
      for (const Format& format : dtypes_) add_row(table, inputs_[n], format);
    });
  }

 private:
  std::vector<std::string> arguments_;
  FormatOptions formats_;
  std::vector<Input> inputs_;
  std::vector<Format> dtypes_;
};

}  // namespace

CommandEntry round_command() {
  return {"round", "Round numbers to formats and show the neighbours of the result",
          R"(  $ ropelab round 0.1 --dtype bfloat16,float8_e5m2
  input,dtype,value,hex,bits,ulp,below,above,status
  0.1,bfloat16,0.10009765625,0x1.9ap-4,0x3dcd,0.00048828125,0.099609375,0.1005859375,rounded
  0.1,float8_e5m2,0.09375,0x1.8p-4,0x2e,0.015625,0.078125,0.109375,rounded
)",
          make_command<Round>};
}

}  // namespace ropelab::app
