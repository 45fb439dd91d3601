// ropelab reproduce: every claim of a set, recomputed.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cells.hpp"
#include "app/claims/all_claims.hpp"
#include "app/commands.hpp"
#include "app/output.hpp"
#include "app/text_option.hpp"
#include "ropelab/errors/diagonals.hpp"

namespace ropelab::app {
namespace {

namespace fs = std::filesystem;

// What stands in the folder: the claims as CSV and Markdown, and the curves behind them.
class ClaimFiles {
 public:
  // Makes the folder if there is none, and takes hold of all files. Throws UsageError.
  ClaimFiles(const std::string& folder, std::string_view stem, const std::vector<Claim>& claims)
      : folder_(made(folder)),
        claims_("-o", path(fmt::format("{}.csv", stem)), std::nullopt, files_),
        claims_in_markdown_(open_file("-o", path(fmt::format("{}.md", stem)))) {
    for (const Claim& claim : claims) {
      if (claim.has_curve) curves_.emplace_back("-o", curve_path(claim), std::nullopt, files_);
    }
  }

  // The curves are of the claims with one, in order.
  void write(const Table& table, const std::vector<Table>& curves, Manifest manifest) {
    claims_in_markdown_.write(to_text(table, TableFormat::markdown));
    claims_.write(table, manifest);
    claims_in_markdown_.commit();
    for (std::size_t n = 0; n < curves.size(); ++n) {
      manifest.rows = curves[n].rows().size();
      curves_[n].write(curves[n], manifest);
    }
  }

 private:
  static std::string made(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (fs::is_directory(folder)) return folder;
    throw UsageError("-o", fmt::format("'{}' is no folder and cannot be made one; name a folder, "
                                       "or - to print only",
                                       folder));
  }
  std::string path(const std::string& name) const { return (fs::path(folder_) / name).string(); }
  std::string curve_path(const Claim& claim) const {
    return path(fmt::format("claim-{}.csv", claim.key));
  }

  std::string folder_;
  FilesInUse files_;
  Output claims_;
  WholeFile claims_in_markdown_;
  std::vector<Output> curves_;
};

const Claim& find_claim(const ClaimSet& set, const std::string& key) {
  std::vector<std::string_view> keys;
  for (const Claim& claim : set.claims) {
    if (claim.key == key) return claim;
    keys.push_back(claim.key);
  }
  throw std::invalid_argument(fmt::format("'{}' is not a claim of the set '{}'; there are {}", key,
                                          set.name, fmt::join(keys, ", ")));
}

// "all", or keys separated by commas; in the order of the set, each once.
std::vector<Claim> read_claims(const ClaimSet& set, const std::string& text) {
  if (text == "all") return set.claims;
  std::vector<std::string_view> keys;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    keys.push_back(find_claim(set, text.substr(begin, end - begin)).key);
  }
  std::vector<Claim> claims;
  for (const Claim& claim : set.claims) {
    if (std::find(keys.begin(), keys.end(), claim.key) != keys.end()) claims.push_back(claim);
  }
  return claims;
}

class Reproduce : public Command {
 public:
  void add_options(CLI::App& app) override {
    set_.add_to(app, "--set", "NAME",
                "articles: what the source articles claim; literature: what papers and reports "
                "published",
                "articles");
    claim_.add_to(app, "--claim", kKeys,
                  "Claims of the set to recompute: all, or a list such as reach,N-65k", "all");
    folder_.add_to(app, "-o,--output", "DIR",
                   "Folder for the claims and the tables behind them; - prints only, as --claim "
                   "does without it",
                   "results");
  }

  // Some of the claims do not take the place of all of them unless that is said.
  void set_up(const Interruption&) override {
    const ClaimSet set = set_.read(find_claim_set);
    file_stem_ = set.file_stem;
    claims_ = claim_.read([&set](const std::string& text) { return read_claims(set, text); });
    const bool all = claims_.size() == set.claims.size();
    folder_name_ = folder_.given() || all ? folder_.text() : "-";
  }

  Parameters resolved_parameters(const Interruption&) const override {
    return {{"output", folder_name_}};
  }

  std::vector<std::string> columns() const override {
    return {"claim", "quantity", "claimed", "computed", "relative_difference", "verdict", "note"};
  }

  void run(Run& run, Table& table) override {
    if (folder_name_ != "-") files_.emplace(folder_name_, file_stem_, claims_);
    run.set_instruction_set(instruction_set_in_use());
    const ClaimSettings settings{run.seed(), run.interruption()};
    run.over(
        claims_.size(),
        [&](std::size_t n) {
          ClaimResult result = claims_[n].recompute(settings);
          for (const ClaimRow& row : result.rows) add(table, claims_[n], row, run.digits());
          if (result.curve) curves_.push_back(std::move(*result.curve));
        },
        [&](std::size_t n) { return claims_[n].work; });
  }

  void write_beside(const Table& table, const Manifest& manifest) override {
    if (files_) files_->write(table, curves_, manifest);
  }

 private:
  static void add(Table& table, const Claim& claim, const ClaimRow& row, int digits) {
    const auto cell = [digits](const std::optional<Real>& x) {
      return x ? exact_cell(*x, digits) : Cell();
    };
    table.add_row({claim.key, row.quantity, row.claimed, cell(row.computed), cell(row.difference),
                   verdict_name(row.verdict), row.note});
  }

  TextOption set_;
  TextOption claim_;
  TextOption folder_;
  std::string_view file_stem_;
  std::string folder_name_;  // "-": none
  std::vector<Claim> claims_;
  std::optional<ClaimFiles> files_;
  std::vector<Table> curves_;
};

}  // namespace

CommandEntry reproduce_command() {
  CommandEntry entry{
      "reproduce", "Recompute what was published, and say what is so",
      "  $ ropelab reproduce --claim slope-bloom -o -\n"
      "  claim,quantity,claimed,computed,relative_difference,verdict,note\n"
      "  slope-bloom,slope of head 1 of 16,0.707,0.7071067811865476,0.0001510342101096526,"
      "agrees,2^(-8/16) = 2^(-1/2)\n",
      make_command<Reproduce>};
  entry.has_own_output = true;
  return entry;
}

}  // namespace ropelab::app
