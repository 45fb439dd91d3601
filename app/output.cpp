#include "app/output.hpp"

#include <filesystem>
#include <stdexcept>

#include "app/terminal.hpp"
#include "app/usage_error.hpp"

namespace ropelab::app {
namespace {

bool is_standard_output(const std::string& path) { return path.empty() || path == "-"; }

TableFormat chosen_format(const std::string& path, std::optional<TableFormat> format) {
  if (format) return *format;
  if (is_standard_output(path)) return TableFormat::csv;
  try {
    return table_format_of(path);
  } catch (const std::invalid_argument& error) {
    throw UsageError("-o", error.what() + std::string(", or say --output-format"));
  }
}

WholeFile open_file(const std::string& path) {
  try {
    return WholeFile(path);
  } catch (const std::runtime_error& error) {
    throw UsageError("-o", error.what());
  }
}

// A device or a pipe has no name beside it.
bool can_have_manifest(const std::string& path) {
  return !std::filesystem::exists(path) || std::filesystem::is_regular_file(path);
}

}  // namespace

Output::Output(const std::string& path, std::optional<TableFormat> format)
    : format_(chosen_format(path, format)) {
  if (is_standard_output(path)) return;
  file_.emplace(open_file(path));
  if (can_have_manifest(path)) manifest_.emplace(open_file(manifest_path(path)));
}

void Output::write(const Table& table, const Manifest& manifest) {
  const std::string text = to_text(table, format_);
  if (!file_) return write_output(text);
  file_->write(text);
  if (manifest_) manifest_->write(to_json(manifest));
  file_->commit();
  if (manifest_) manifest_->commit();
}

void Output::write_finished_rows(const Table& table) {
  if (!file_ && !table.rows().empty()) write_output(to_text(table, format_));
}

}  // namespace ropelab::app
