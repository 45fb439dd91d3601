// Pairs and positions per second and processor core, and as ratios to yardsticks of the same run:
//   ropelab_benchmark FILE.csv [NUMPY_PAIRS_PER_SECOND]
// tests/benchmark/run.sh calls it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <charconv>
#include <cstring>
#include <iostream>
#include <map>

#include "benchmark/roof.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/errors/score_rows.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/manifest.hpp"
#include "ropelab/table/whole_file.hpp"
#include "ropelab/table/writer.hpp"

namespace ropelab {
namespace {

constexpr std::size_t context = 65536;

// The last of 16 heads: its N is a number of every format.
Construction construction() {
  return {parse_positive("0.1") / Algebraic(static_cast<long long>(context)),
          alibi_slope(16, 16),
          64,
          {}};
}

struct Case {
  std::string dtype, pipeline;
  Operations roof;
};

const std::vector<Case> cases = {
    {"float32", "ideal-trig", Operations::float32},
    {"float32", "naive", Operations::float32},
    {"float16", "fused", Operations::float32},
    {"bfloat16", "fused", Operations::float32},
    {"float16", "ideal-trig", Operations::rounded_float32},
    {"bfloat16", "ideal-trig", Operations::rounded_float32},
    {"float8_e5m2", "ideal-trig", Operations::rounded_float32},
    {"float64", "ideal-trig", Operations::float64},
};

std::string name_of(Operations operations) {
  switch (operations) {
    case Operations::float32:
      return "registers, float32";
    case Operations::float64:
      return "registers, float64";
    case Operations::rounded_float32:
      return "registers, rounded";
  }
  return "";
}

Pipeline pipeline_of(const Case& of) { return parse_pipeline(of.pipeline, find_format(of.dtype)); }

// Of every causal pair what the columns of the error table are made of.
void measure_pairs(benchmark::State& state, const Case& of, InstructionSet set) {
  use_instruction_set(set);
  const Pipeline pipeline = pipeline_of(of);
  const DistanceReference reference(construction(), context);
  const ExactInput scale = score_scale(construction());
  const RotatedTable table = rotated_table(pipeline, construction(), 0, context);
  for (auto _ : state) {
    benchmark::DoNotOptimize(measure_diagonals(pipeline, scale, table, reference.simulated()));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(context * (context + 1) / 2));
  use_instruction_set(InstructionSet::best);
}

void measure_roof(benchmark::State& state, Operations operations) {
  std::int64_t pairs = 0;
  for (auto _ : state) {
    pairs += static_cast<std::int64_t>(run_in_registers(operations, 1000000));
  }
  state.SetItemsProcessed(pairs);
}

void measure_table(benchmark::State& state, const Case& of) {
  const Pipeline pipeline = pipeline_of(of);
  for (auto _ : state) {
    benchmark::DoNotOptimize(rotated_table(pipeline, construction(), 0, context));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(context));
}

// One sine and one cosine of 128 bits a position.
void measure_multiprecision(benchmark::State& state) {
  using Number = boost::multiprecision::number<
      boost::multiprecision::cpp_bin_float<128, boost::multiprecision::digit_base_2>>;
  const Number theta = Number(0.1) / context;
  std::int64_t position = 0;
  for (auto _ : state) {
    const Number phase = theta * (++position % static_cast<std::int64_t>(context));
    benchmark::DoNotOptimize(sin(phase));
    benchmark::DoNotOptimize(cos(phase));
  }
  state.SetItemsProcessed(position);
}

// A block as attention takes it: so many queries and all keys, in the second-level cache.
constexpr std::size_t block_queries = 64, block_keys = 2048;

void measure_block(benchmark::State& state, const Case& of, std::size_t pairs, bool adds) {
  const Pipeline pipeline = pipeline_of(of);
  const Construction one = construction();
  const RotatedPair pair{one.theta, {-amplitude(one).to_double(), 0}, {0, 1}};
  const ScoreRows rows(pipeline, score_scale(one).algebraic(),
                       score_table(pipeline, std::vector(pairs, pair), 0, block_keys));
  std::vector<float> out(block_queries * block_keys);
  const ScoreRange block{block_keys - block_queries, block_queries, 0, block_keys};
  for (auto _ : state) {
    if (adds) {
      rows.add(block, out.data(), block_keys);
    } else {
      rows.fill(block, out.data(), block_keys);
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * out.size()));
}

void measure_copy(benchmark::State& state) {
  std::vector<float> from(block_queries * block_keys, 1), to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * from.size()));
}

// What a native bias costs: out += -slope (i - j), from one row of the bias.
void measure_native_bias(benchmark::State& state) {
  std::vector<float> out(block_queries * block_keys), bias(block_queries + block_keys);
  for (std::size_t n = 0; n < bias.size(); ++n) bias[n] = -0.5F * static_cast<float>(n);
  for (auto _ : state) {
    for (std::size_t i = 0; i < block_queries; ++i) {
      float* row = out.data() + i * block_keys;
      std::transform(row, row + block_keys, bias.data() + (block_queries - i), row,
                     [](float x, float b) { return x + b; });
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * out.size()));
}

std::string name_of(const Case& of) { return "all pairs, " + of.dtype + " " + of.pipeline; }

const std::string copied = "a block copied", native_bias = "a block, native bias added";
constexpr std::size_t block_pairs[] = {1, 4};

std::string name_of_block(const Case& of, std::size_t pairs, bool adds) {
  return fmt::format("a block{}, {} {}, {}", adds ? " added" : "", of.dtype, of.pipeline,
                     pairs == 1 ? "one pair" : fmt::format("{} pairs", pairs));
}

void register_all() {
  const auto add = [](const std::string& name, auto function) {
    benchmark::RegisterBenchmark(name.c_str(), function)
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMillisecond);
  };
  for (const auto operations :
       {Operations::float32, Operations::float64, Operations::rounded_float32}) {
    add(name_of(operations), [=](auto& state) { measure_roof(state, operations); });
  }
  for (const Case& of : cases) {
    add(name_of(of), [=](auto& state) { measure_pairs(state, of, InstructionSet::best); });
    add(name_of(of) + ", scalar",
        [=](auto& state) { measure_pairs(state, of, InstructionSet::scalar); });
    add("table, " + of.dtype + " " + of.pipeline, [=](auto& state) { measure_table(state, of); });
  }
  add("sine and cosine of 128 bits", measure_multiprecision);
  add(copied, measure_copy);
  add(native_bias, measure_native_bias);
  for (const Case& of : cases) {
    for (const std::size_t pairs : block_pairs) {
      add(name_of_block(of, pairs, false),
          [=](auto& state) { measure_block(state, of, pairs, false); });
      add(name_of_block(of, pairs, true),
          [=](auto& state) { measure_block(state, of, pairs, true); });
    }
  }
}

// Prints as Google Benchmark does, and keeps the rates.
class Rates : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      std::string name = run.benchmark_name();
      rates_[name.substr(0, name.find("/process_time"))] = run.counters.at("items_per_second");
    }
  }
  // 0 if it was not measured.
  double operator[](const std::string& name) const {
    const auto found = rates_.find(name);
    return found == rates_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, double> rates_;
};

class RateTable {
 public:
  explicit RateTable(const Rates& rates) : rates_(rates) {}

  void add(const std::string& what, const std::string& unit, const std::string& yardstick) {
    add(what, unit, rates_[what], yardstick, rates_[yardstick]);
  }

  // Left out if a filter kept either from being measured.
  void add(const std::string& what, const std::string& unit, double rate,
           const std::string& yardstick, double yardstick_rate) {
    if (!(rate > 0 && yardstick_rate > 0)) return;
    const auto rounded = [](double x) { return fmt::format("{:.3g}", x); };
    table_.add_row({what, unit, ExactNumber{rounded(rate)}, yardstick,
                    ExactNumber{rounded(rate / yardstick_rate)}});
  }

  const Table& table() const { return table_; }

 private:
  const Rates& rates_;
  Table table_{{"what", "unit", "per_second", "yardstick", "ratio"}};
};

Table table_of(const Rates& rates, double numpy) {
  RateTable rows(rates);
  const std::string float32 = name_of(cases.front());
  for (const Case& of : cases) {
    rows.add(name_of(of), "pairs", name_of(of.roof));
    rows.add(name_of(of), "pairs", float32);
    rows.add(name_of(of), "pairs", name_of(of) + ", scalar");
  }
  rows.add(float32, "pairs", rates[float32], "NumPy, float32", numpy);
  for (const Case& of : cases) {
    rows.add("table, " + of.dtype + " " + of.pipeline, "positions", "sine and cosine of 128 bits");
  }
  for (const Case& of : cases) {
    for (const std::size_t pairs : block_pairs) {
      rows.add(name_of_block(of, pairs, false), "pairs", copied);
      rows.add(name_of_block(of, pairs, true), "pairs", native_bias);
    }
  }
  return rows.table();
}

double parse_rate(const std::string& text) {
  double rate = 0;
  std::from_chars(text.data(), text.data() + text.size(), rate);
  return rate;
}

void write(const std::string& path, const Table& table, const std::vector<std::string>& arguments) {
  Manifest manifest;
  manifest.command_line = arguments;
  manifest.instruction_set = instruction_set_in_use();
  manifest.threads = 1;
  manifest.rows = table.rows().size();
  manifest.notes = {"rates are per second of processor time, on one core"};
  const auto put = [](const std::string& where, const std::string& text) {
    WholeFile file(where);
    file.write(text);
    file.commit();
  };
  put(path, to_text(table, table_format_of(path)));
  put(manifest_path(path), to_json(manifest));
}

int run(std::vector<std::string> arguments) {
  if (arguments.size() < 2) {
    std::cerr << "usage: ropelab_benchmark FILE.csv [NUMPY_PAIRS_PER_SECOND]\n";
    return 2;
  }
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  register_all();
  Rates rates;
  benchmark::RunSpecifiedBenchmarks(&rates);
  write(arguments[1], table_of(rates, arguments.size() > 2 ? parse_rate(arguments[2]) : 0),
        arguments);
  return 0;
}

}  // namespace
}  // namespace ropelab

int main(int count, char** words) {
  benchmark::Initialize(&count, words);
  return ropelab::run({words, words + count});
}
