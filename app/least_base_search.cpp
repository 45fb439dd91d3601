#include "app/least_base_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace ropelab::app {
namespace {

// What a proof adds to that of a shorter context: a row for each refutation, and one without a
// witness for the ratio that serves.
void add_rows(Table& table, const LeastBaseProof& proof, const std::vector<Refutation>& known) {
  const auto [first, end] =
      std::mismatch(proof.refuted.begin(), proof.refuted.end(), known.begin(), known.end());
  for (auto refutation = first; refutation != proof.refuted.end(); ++refutation) {
    table.add_row({proof.rope_dim, proof.context, refutation->ratio, refutation->witness});
  }
  table.add_row({proof.rope_dim, proof.context, proof.serving, Cell()});
}

}  // namespace

void LeastBaseSearch::add_to(CLI::App& app) {
  app.add_flag("--least-base", wanted_,
               "Instead of a grid: the least base from 1 on whose sum of cosines is nowhere "
               "negative within --context, for each --rope-dim and --context (lists)")
      ->excludes(app.get_option("--base"), app.get_option("--near"), app.get_option("--scaling"));
  proof_.add_to(app, "--proof", "FILE",
                "With --least-base: also write which distance refutes which smaller bases");
  proof_.option()->needs(app.get_option("--least-base"));
}

void LeastBaseSearch::set_up(const std::vector<int>& rope_dims,
                             const std::vector<long long>& contexts) {
  const auto disorder =
      std::adjacent_find(contexts.begin(), contexts.end(), std::greater_equal<>());
  if (proof_.given() && disorder != contexts.end()) {
    throw UsageError("--context",
                     "its values must ascend with --proof, where each context goes on "
                     "from the one before");
  }
  for (const int rope_dim : rope_dims) {
    for (const long long context : contexts) {
      if (context > longest_searched_context) {
        throw UsageError("--context", fmt::format("'{}' is too long a context for --least-base; it "
                                                  "takes up to {}",
                                                  context, longest_searched_context));
      }
      points_.push_back({rope_dim, context});
    }
  }
}

std::vector<std::string> LeastBaseSearch::columns() {
  return {"rope_dim", "context", "least_base_low", "least_base_high", "witness", "intervals"};
}

// Whose refutations hold for this point too.
const LeastBaseProof* LeastBaseSearch::longest_before(const Point& point) const {
  const LeastBaseProof* longest = nullptr;
  for (const LeastBaseProof& proof : proofs_) {
    if (proof.rope_dim == point.rope_dim && proof.context <= point.context &&
        (longest == nullptr || proof.context > longest->context)) {
      longest = &proof;
    }
  }
  return longest;
}

LeastBaseProof LeastBaseSearch::proof_of(Run& run, const Point& point) const {
  const auto proof = find_least_base(point.rope_dim, point.context, longest_before(point),
                                     run.point_interruption());
  if (!proof) {
    throw UsageError("--rope-dim",
                     fmt::format("'{}' has no base from 1 to {} that serves {} "
                                 "positions; more dimensions or a shorter --context "
                                 "would",
                                 point.rope_dim, largest_searched_base, point.context));
  }
  if (const auto flaw = flaw_of(*proof, run.interruption())) throw std::logic_error(*flaw);
  return *proof;
}

void LeastBaseSearch::open_proof(FilesInUse& files) {
  if (!proof_.given()) return;
  if (proof_.text().empty()) {
    throw UsageError(proof_.name(), "'' is no name; write that of a .csv, .json or .md file");
  }
  proof_file_.emplace(proof_.name(), proof_.text(), std::nullopt, files);
}

void LeastBaseSearch::run(Run& run, Table& table) {
  run.over(
      points_.size(),
      [&](std::size_t n) {
        proofs_.push_back(proof_of(run, points_[n]));
        const LeastBaseProof& proof = proofs_.back();
        const BaseBracket base = bracket(proof);
        const Cell witness = proof.refuted.empty() ? Cell() : Cell(proof.refuted.back().witness);
        table.add_row(
            {proof.rope_dim, proof.context, base.low, base.high, witness, proof.refuted.size()});
      },
      [&](std::size_t n) { return static_cast<double>(points_[n].context); });
}

void LeastBaseSearch::write_proofs(Manifest manifest) {
  if (!proof_file_) return;
  Table table({"rope_dim", "context", "ratio", "witness"});
  const LeastBaseProof* before = nullptr;
  for (const LeastBaseProof& proof : proofs_) {
    const bool goes_on = before != nullptr && before->rope_dim == proof.rope_dim;
    add_rows(table, proof, goes_on ? before->refuted : std::vector<Refutation>());
    before = &proof;
  }
  manifest.rows = table.rows().size();
  proof_file_->write(table, manifest);
}

}  // namespace ropelab::app
