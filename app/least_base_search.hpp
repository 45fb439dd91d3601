// ropelab frequencies --least-base: the least base that serves each context.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/output.hpp"
#include "app/run.hpp"
#include "app/text_option.hpp"
#include "ropelab/rope/least_base.hpp"

namespace ropelab::app {

class LeastBaseSearch {
 public:
  // Adds --least-base and --proof.
  void add_to(CLI::App& app);
  bool wanted() const { return wanted_; }

  // Throws UsageError for contexts beyond longest_searched_context.
  void set_up(const std::vector<int>& rope_dims, const std::vector<long long>& contexts);

  static std::vector<std::string> columns();
  std::size_t rows() const { return points_.size(); }
  // Takes hold of the file of --proof. Throws UsageError where that cannot be written, or is in
  // use.
  void open_proof(FilesInUse& files);
  // Adds a row for each dimension and context, and keeps the proofs. Throws UsageError where no
  // base serves, and Interrupted.
  void run(Run& run, Table& table);
  // Writes the proofs where --proof asks for them.
  void write_proofs(Manifest manifest);

 private:
  struct Point {
    int rope_dim;
    long long context;
  };
  const LeastBaseProof* longest_before(const Point& point) const;
  LeastBaseProof proof_of(Run& run, const Point& point) const;

  bool wanted_ = false;
  TextOption proof_;
  std::vector<Point> points_;
  std::vector<LeastBaseProof> proofs_;
  std::optional<Output> proof_file_;
};

}  // namespace ropelab::app
