// ropelab dot: one rotated dot product, exactly and as formats and pipelines compute it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/construction_options.hpp"
#include "ropelab/errors/dot_bound.hpp"
#include "ropelab/errors/random_dots.hpp"
#include "ropelab/exact/distance.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/rope/rotated_dot.hpp"
#include "ropelab/simulation/computed_dot.hpp"
#include "ropelab/sweep/values.hpp"
#include "ropelab/table/csv_reader.hpp"

namespace ropelab::app {
namespace {

// Digits of the column `exact`, unless --digits asks for more.
constexpr int exact_digits = 40;

std::vector<Rational> parse_vector(const std::string& text) {
  if (text.find(',') != std::string::npos) {
    throw std::invalid_argument(
        fmt::format("'{}' has a comma; write components with spaces between, and 0.5", text));
  }
  std::istringstream words(text);
  std::vector<Rational> components;
  for (std::string word; words >> word;) components.push_back(parse_rational(word));
  if (components.empty()) {
    throw std::invalid_argument("there are no components; write them with spaces between");
  }
  return components;
}

long long parse_position(const std::string& text) {
  return parse_integer(text, -kMostPositions, kMostPositions);
}

int parse_rope_dim(const std::string& text) {
  constexpr int most_dimensions = 1 << 20;
  return static_cast<int>(parse_integer(text, 2, most_dimensions));
}

// One record of an input file. `column` says what is being read.
DotInputs read_product(const CsvText& csv, std::size_t record, Layout layout,
                       std::string_view& column) {
  const auto text = [&](std::string_view name) -> const std::string& {
    column = name;
    return csv.at(record, name);
  };
  const Algebraic base = parse_positive(text("base"));
  const int rope_dim = parse_rope_dim(text("rope_dim"));
  const FrequencyGrid grid(base, rope_dim);
  const long long i = parse_position(text("i"));
  const long long j = parse_position(text("j"));
  const auto vector = [&](std::string_view name) {
    std::vector<Rational> v = parse_vector(text(name));
    if (v.size() == static_cast<std::size_t>(rope_dim)) return v;
    throw std::invalid_argument(
        fmt::format("there are {} components where rope_dim is {}", v.size(), rope_dim));
  };
  std::vector<Rational> q = vector("q");
  return {grid, std::move(q), vector("k"), i, j, layout};
}

// All records of an input file. Problems are named with file, line and column.
std::vector<DotInputs> read_products(const std::string& path, Layout layout,
                                     const Interruption& interruption) {
  const CsvText csv = read_csv_file(path, {"rope_dim", "base", "i", "j", "q", "k"});
  std::vector<DotInputs> products;
  for (std::size_t n = 0; n < csv.records().size(); ++n) {
    interruption.check();
    std::string_view column;
    try {
      products.push_back(read_product(csv, n, layout, column));
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(fmt::format("'{}': line {}: {}: {}", path, csv.records()[n].line,
                                              column, problem.what()));
    }
  }
  return products;
}

// What was computed, beside the exact value.
struct Judged {
  StepValue<Real> value;
  Real error;  // |value - exact|; only where the value is finite
};

Judged judge(StepValue<Real> value, const ExactDot& exact) {
  if (!is_finite(value)) return {value, 0};
  const double* rounded = std::get_if<double>(&value);
  if (rounded != nullptr && exact.rational) {
    return {value, to_real(Rational(abs(to_rational(*rounded) - *exact.rational)))};
  }
  return {value, abs(as_exact(value) - exact.value)};
}

Cell value_cell(const StepValue<Real>& value, int digits) {
  if (const double* rounded = std::get_if<double>(&value)) return *rounded;
  return exact_cell(std::get<Real>(value), digits);
}

double nearest_double(const StepValue<Real>& value) {
  const double* rounded = std::get_if<double>(&value);
  return rounded != nullptr ? *rounded : to_double(std::get<Real>(value));
}

constexpr long long kMostRandom = 1'000'000;

// One product of the table.
struct Product {
  std::size_t number;
  DotInputs inputs;
};

// Where random products stand before they are shifted.
struct RandomPoint {
  FrequencyGrid grid;
  long long i, j;
};

// What one way to compute them makes of random products, at each offset.
struct RandomErrors {
  Format dtype;
  Pipeline pipeline;
  std::vector<ShiftErrors> at_offsets;
};

class Dot : public Command {
 public:
  void add_options(CLI::App& app) override {
    q_.add_to(app, "--q", "VECTOR", "Query: decimal or hexadecimal components, spaces between");
    k_.add_to(app, "--k", "VECTOR", "Key");
    i_.add_to(app, "--i", kIntegers, "Position of the query");
    j_.add_to(app, "--j", kIntegers, "Position of the key");
    base_.add_to(app, "--base", kNumbers, "Bases of RoPE's grid", "10000");
    rope_dim_.add_to(app, "--rope-dim", kIntegers,
                     "Rotated dimensions: as many as components; with --random a list (default: "
                     "64)");
    scaling_.add_to(app);
    input_.add_to(app, "--input", "FILE",
                  "CSV file with at least the columns rope_dim,base,i,j,q,k instead");
    random_.add_to(app, "--random", "COUNT",
                   "So many random unit-variance q and k of --rope-dim components (from --seed) "
                   "instead: how far their products change as both positions are shifted");
    offset_.add_to(app, "--offset", kIntegers, "With --random: shifts of both positions",
                   "0,1K,2K,4K,8K,16K,32K,64K,128K");
    layout_.add_to(app, "--layout", "interleaved|half",
                   "Whether components 2r and 2r+1 make a pair, or r and r + half of them",
                   "interleaved");
    formats_.add_to(app);
    pipelines_.add_to(app);
    for (TextOption* option : {&q_, &k_, &i_, &j_, &base_, &rope_dim_, &random_, &offset_}) {
      option->option()->excludes(input_.option());
    }
    random_.option()->excludes(q_.option(), k_.option());
    offset_.option()->needs(random_.option());
  }

  void set_up(const Interruption& interruption) override {
    layout_choice_ = layout_.read([](const std::string& text) { return find_layout(text); });
    dtypes_ = formats_.read();
    pipeline_names_ = pipelines_.read();
    if (random_.given()) {
      read_random(interruption);
    } else if (input_.given()) {
      add_products(input_.read([&](const std::string& path) {
        return read_products(path, layout_choice_, interruption);
      }));
    } else {
      read_options(interruption);
    }
  }

  std::vector<std::string> columns() const override {
    if (random_.given()) {
      return {"rope_dim",  "base",      "i",         "j",         "offset",
              "dtype",     "pipeline",  "products",  "exact_rms", "error_rms",
              "error_max", "shift_rms", "shift_max", "nonfinite"};
    }
    return {"row",       "rope_dim", "base",           "i",
            "j",         "dtype",    "pipeline",       "value",
            "hex",       "exact",    "absolute_error", "relative_error",
            "ulp_error", "bound"};
  }

  std::optional<std::size_t> rows_in_all() const override {
    const std::size_t ways = dtypes_.size() * pipeline_names_.size();
    return random_.given() ? points_.size() * ways * offsets_.size() : products_.size() * ways;
  }

  std::vector<std::string> files_read() const override {
    std::vector<std::string> files = scaling_.files_read();
    if (input_.given()) files.push_back(input_.text());
    return files;
  }

  Parameters resolved_parameters(const Interruption&) const override {
    return scaling_.resolved_parameters(scaling_.read());
  }

  void run(Run& run, Table& table) override {
    if (random_.given()) {
      run.over(points_.size(), [&](std::size_t n) { add_random_rows(run, table, points_[n]); });
      return;
    }
    run.over(products_.size(), [&](std::size_t n) {
      const auto& [number, inputs] = products_[n];
      const ExactDot exact = exact_rotated_dot(inputs.grid, inputs.q, inputs.k, inputs.i, inputs.j,
                                               inputs.layout, run.interruption());
      for (const Format& dtype : dtypes_) {
        for (const std::string& name : pipeline_names_) {
          run.interruption().check();
          const Pipeline pipeline = parse_pipeline(name, dtype, formats_.eight_bit());
          add_row(table, number, inputs, dtype, pipeline, exact, run);
        }
      }
    });
  }

 private:
  std::vector<long long> read_positions(const TextOption& option,
                                        const Interruption& interruption) const {
    return option.read([&](const std::string& text) {
      return parse_integer_values(text, -kMostPositions, kMostPositions, interruption);
    });
  }

  std::vector<Algebraic> read_bases(const Interruption& interruption) const {
    return base_.read(
        [&](const std::string& text) { return parse_positive_values(text, interruption); });
  }

  std::vector<int> random_rope_dims(const Interruption& interruption) const {
    return rope_dim_.given() ? read_rope_dims(rope_dim_, interruption) : std::vector<int>{64};
  }

  void read_random(const Interruption& interruption) {
    count_ = static_cast<std::size_t>(
        random_.read([](const std::string& text) { return parse_integer(text, 1, kMostRandom); }));
    offsets_ = read_positions(offset_, interruption);
    for (const TextOption* option : {&i_, &j_}) {
      if (!option->given()) {
        throw UsageError(option->name(), "is missing; give --i and --j with --random");
      }
    }
    const auto queries = read_positions(i_, interruption), keys = read_positions(j_, interruption);
    const auto bases = read_bases(interruption);
    const auto scalings = scaling_.read();
    for (const int rope_dim : random_rope_dims(interruption)) {
      for (const Algebraic& base : bases) {
        for (const long long i : queries) {
          for (const long long j : keys) {
            interruption.check();
            require_offsets_fit(i, j);
            for (const Scaling& scaling : scalings) {
              points_.push_back({scaled_grid(base, rope_dim, scaling), i, j});
            }
          }
        }
      }
    }
  }

  void require_offsets_fit(long long i, long long j) const {
    for (const long long offset : offsets_) {
      for (const long long position : {i + offset, j + offset}) {
        if (std::abs(position) <= kMostPositions) continue;
        throw UsageError("--offset", fmt::format("'{}' shifts a position to {}; within 2^53 would "
                                                 "be right",
                                                 offset, position));
      }
    }
  }

  // All that can be interrupted comes before the rows of a point.
  void add_random_rows(Run& run, Table& table, const RandomPoint& point) const {
    const RandomDots dots(point.grid, layout_choice_, point.i, point.j, count_, run.seed(),
                          run.interruption());
    std::vector<RandomErrors> measured;
    for (const Format& dtype : dtypes_) {
      for (const std::string& name : pipeline_names_) {
        const Pipeline pipeline = parse_pipeline(name, dtype, formats_.eight_bit());
        measured.push_back(
            {dtype, pipeline, dots.measure(pipeline, dtype, offsets_, run.interruption())});
      }
    }
    const double exact_rms = dots.exact_rms();
    for (const auto& [dtype, pipeline, errors] : measured) {
      for (std::size_t n = 0; n < offsets_.size(); ++n) {
        add_random_row(table, point, offsets_[n], dtype, pipeline, exact_rms, errors[n], run);
      }
    }
  }

  void add_random_row(Table& table, const RandomPoint& point, long long offset, const Format& dtype,
                      const Pipeline& pipeline, double exact_rms, const ShiftErrors& errors,
                      const Run& run) const {
    Table::Row row = table.add_row();
    row.set("rope_dim", point.grid.rope_dim())
        .set("base", exact_cell(point.grid.base(), run.digits()))
        .set("i", point.i)
        .set("j", point.j)
        .set("offset", offset)
        .set("dtype", dtype.name)
        .set("pipeline", pipeline_cell(pipeline, dtype, point.grid))
        .set("products", count_)
        .set("exact_rms", exact_rms)
        .set("nonfinite", errors.nonfinite);
    if (errors.nonfinite == count_) return;
    row.set("error_rms", errors.error_rms)
        .set("error_max", errors.error_max)
        .set("shift_rms", errors.shift_rms)
        .set("shift_max", errors.shift_max);
  }

  void read_options(const Interruption& interruption) {
    for (const TextOption* option : {&q_, &k_, &i_, &j_}) {
      if (option->given()) continue;
      throw UsageError(option->name(),
                       "is missing; give --q, --k, --i and --j, or --input, or "
                       "--random with --i and --j");
    }
    const std::vector<Rational> q = q_.read(parse_vector);
    const std::vector<Rational> k = k_.read(parse_vector);
    const int rope_dim = common_size(q, k);
    const auto queries = read_positions(i_, interruption), keys = read_positions(j_, interruption);
    std::vector<DotInputs> products;
    for (const Algebraic& base : read_bases(interruption)) {
      for (const long long i : queries) {
        for (const long long j : keys) {
          interruption.check();
          products.push_back({FrequencyGrid(base, rope_dim), q, k, i, j, layout_choice_});
        }
      }
    }
    add_products(products);
  }

  // Numbered from 1, each once for every scaling.
  void add_products(const std::vector<DotInputs>& products) {
    const auto scalings = scaling_.read();
    for (std::size_t n = 0; n < products.size(); ++n) {
      for (const Scaling& scaling : scalings) {
        DotInputs inputs = products[n];
        inputs.grid = scaled_grid(inputs.grid.base(), inputs.grid.rope_dim(), scaling);
        products_.push_back({n + 1, std::move(inputs)});
      }
    }
  }

  // As many dimensions as there are components; --rope-dim may say so again.
  int common_size(const std::vector<Rational>& q, const std::vector<Rational>& k) const {
    if (q.size() % 2 != 0) {
      throw UsageError("--q", fmt::format("there are {} components; they are rotated in pairs, "
                                          "so write an even number of them",
                                          q.size()));
    }
    if (k.size() != q.size()) {
      throw UsageError("--k",
                       fmt::format("there are {} components where --q has {}", k.size(), q.size()));
    }
    const auto rope_dim = static_cast<int>(q.size());
    if (rope_dim_.given() && rope_dim_.read(parse_rope_dim) != rope_dim) {
      throw UsageError("--rope-dim", fmt::format("'{}' does not fit; there are {} components",
                                                 rope_dim_.text(), rope_dim));
    }
    return rope_dim;
  }

  // Settings that change a figure and have no column of their own stand behind the pipeline.
  std::string pipeline_cell(const Pipeline& pipeline, const Format& dtype,
                            const FrequencyGrid& grid) const {
    std::string cell = pipeline.name;
    if (dtype.overflow == Overflow::saturate || saturates(pipeline)) cell += ",saturate";
    if (layout_choice_ != Layout::interleaved) {
      cell += fmt::format(",layout={}", layout_name(layout_choice_));
    }
    cell += scaling_in_pipeline_cell(grid.scaling().scaling());
    return cell;
  }

  void add_row(Table& table, std::size_t number, const DotInputs& inputs, const Format& dtype,
               const Pipeline& pipeline, const ExactDot& exact, const Run& run) const {
    const int digits = run.digits();
    const Judged judged = judge(computed_dot(pipeline, dtype, inputs, run.interruption()), exact);
    Table::Row row = table.add_row();
    row.set("row", number)
        .set("rope_dim", inputs.grid.rope_dim())
        .set("base", exact_cell(inputs.grid.base(), digits))
        .set("i", inputs.i)
        .set("j", inputs.j)
        .set("dtype", dtype.name)
        .set("pipeline", pipeline_cell(pipeline, dtype, inputs.grid))
        .set("value", value_cell(judged.value, digits))
        .set("hex", to_hexadecimal(nearest_double(judged.value)))
        .set("exact", ExactNumber{exact.to_decimal(std::max(digits, exact_digits))})
        .set("bound", dot_bound(pipeline, dtype, inputs));
    if (!is_finite(judged.value)) return;
    const Real size = abs(exact.value);
    row.set("absolute_error", exact_cell(judged.error, digits))
        .set("relative_error", size == 0 ? Cell() : exact_cell(Real(judged.error / size), digits))
        .set("ulp_error", to_double(Real(judged.error / Real(ulp_at(dtype, exact.value)))));
  }

  TextOption q_, k_, i_, j_, base_, rope_dim_, input_, random_, offset_, layout_;
  ScalingOption scaling_;
  FormatOptions formats_;
  PipelineOption pipelines_;
  Layout layout_choice_ = Layout::interleaved;
  std::vector<Format> dtypes_;
  std::vector<std::string> pipeline_names_;
  std::vector<Product> products_;
  // With --random:
  std::size_t count_ = 0;
  std::vector<long long> offsets_;
  std::vector<RandomPoint> points_;
};

}  // namespace

CommandEntry dot_command() {
  return {"dot", "Rotate a query and a key and multiply them, exactly and in number formats",
          R"(  $ ropelab dot --q "1 2 3 4" --k "1 1 1 1" --i 3 --j 1 --dtype float32
  row,rope_dim,base,i,j,dtype,pipeline,value,hex,exact,absolute_error,relative_error,ulp_error,bound
  1,4,10000,3,1,float32,ideal-trig,4.820863246917725,0x1.348906p+2,4.820863443505602513133654286755320914711,1.9658787790375865e-07,4.07785618090035e-08,0.41227466132162327,5.978506838652399e-06
  $ ropelab dot --random 50 --i 1024 --j 1000 --offset 0,1K,128K --dtype bfloat16 --pipeline naive,fp32-rope | cut -d, -f5-7,9,10,12
  offset,dtype,pipeline,exact_rms,error_rms,shift_rms
  0,bfloat16,naive,7.209884167378747,3.5279932045873803,0
  1024,bfloat16,naive,7.209884167378747,4.703382259961086,3.5122274761434866
  131072,bfloat16,naive,7.209884167378747,7.80102252814091,7.703170105219824
  0,bfloat16,fp32-rope,7.209884167378747,0.04117504712906232,0
  1024,bfloat16,fp32-rope,7.209884167378747,0.03240804735408221,0.04196338299941838
  131072,bfloat16,fp32-rope,7.209884167378747,0.03939584714256811,0.04947649463779559
)",
          make_command<Dot>};
}

}  // namespace ropelab::app
