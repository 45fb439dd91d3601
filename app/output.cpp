#include "app/output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "app/terminal.hpp"
#include "app/usage_error.hpp"

namespace ropelab::app {
namespace {

// The device by that name may be a pipe, or a file that the shell has opened.
bool is_standard_output(const std::string& path) {
  return path.empty() || path == "-" || path == "/dev/stdout";
}

std::string partial(const std::string& path) { return path + ".partial"; }

TableFormat chosen_format(const std::string& option, const std::string& path,
                          std::optional<TableFormat> format) {
  if (format) return *format;
  std::error_code none;
  if (is_standard_output(path) || std::filesystem::is_character_file(path, none)) {
    return TableFormat::csv;
  }
  try {
    return table_format_of(path);
  } catch (const std::invalid_argument& error) {
    const std::string or_else = option == "-o" ? ", or say --output-format" : "";
    throw UsageError(option, error.what() + or_else);
  }
}

// A device has no name beside it.
bool can_have_manifest(const std::string& path) {
  return !std::filesystem::exists(path) || std::filesystem::is_regular_file(path);
}

// "x-NAME.csv" beside "x.csv".
std::string further_path(const std::string& path, const std::string& name) {
  std::filesystem::path further(path);
  further.replace_filename(further.stem().string() + "-" + name + further.extension().string());
  return further.string();
}

// Without the line end.
std::string json_member(const std::string& name, const Table& table) {
  std::string text = to_text(table, TableFormat::json);
  text.pop_back();
  return fmt::format("\"{}\": {}", name, text);
}

void write_whole(const std::string& path, const std::string& text) {
  WholeFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace

WholeFile open_file(const std::string& option, const std::string& path) {
  try {
    return WholeFile(path);
  } catch (const std::runtime_error& error) {
    throw UsageError(option, error.what());
  }
}

Output::Output(const std::string& option, const std::string& path,
               std::optional<TableFormat> format, FilesInUse& files,
               const std::vector<std::string>& further_names)
    : format_(chosen_format(option, path, format)) {
  if (is_standard_output(path)) return;
  const bool is_regular = can_have_manifest(path);
  std::vector<std::string> written = {path};
  if (is_regular) {
    written.push_back(manifest_path(path));
    for (const std::string& name : further_names) written.push_back(further_path(path, name));
  }
  std::vector<std::string> taken = written;
  for (const std::string& each : written) taken.push_back(partial(each));
  files.add_written(option, taken);
  file_.emplace(open_file(option, path));
  if (!is_regular) return;
  manifest_.emplace(open_file(option, manifest_path(path)));
  for (std::size_t n = 2; n < written.size(); ++n) {
    further_.push_back(open_file(option, written[n]));
  }
}

void Output::write(const Table& table, const Manifest& manifest,
                   const std::vector<FurtherTable>& further) {
  if (!file_) return write_output(all_in_one(table, further));
  if (is_device()) {
    file_->write(all_in_one(table, further));
    return file_->commit();
  }
  file_->write(to_text(table, format_));
  manifest_->write(to_json(manifest));
  file_->commit();
  manifest_->commit();
  for (std::size_t n = 0; n < further.size(); ++n) {
    further_.at(n).write(to_text(further[n].table, format_));
    further_.at(n).commit();
  }
  remove_partial();
}

std::string Output::all_in_one(const Table& table, const std::vector<FurtherTable>& further) const {
  if (format_ == TableFormat::json && !further.empty()) {
    std::string text = "{\n" + json_member("table", table);
    for (const FurtherTable& each : further) text += ",\n" + json_member(each.name, each.table);
    return text + "\n}\n";
  }
  std::string text = to_text(table, format_);
  for (const FurtherTable& each : further) text += "\n" + to_text(each.table, format_);
  return text;
}

void Output::write_finished_rows(const Table& table, const Manifest& manifest,
                                 const std::vector<FurtherTable>& further) {
  if (table.rows().empty()) return;
  if (!file_ || is_device()) return write(table, manifest, further);
  write_whole(partial(file_->path()), to_text(table, format_));
  write_whole(partial(manifest_->path()), to_json(manifest));
  for (std::size_t n = 0; n < further.size(); ++n) {
    write_whole(partial(further_.at(n).path()), to_text(further[n].table, format_));
  }
}

// What an interrupted run left of the same files is no use any more.
void Output::remove_partial() const {
  std::error_code gone;
  std::filesystem::remove(partial(file_->path()), gone);
  std::filesystem::remove(partial(manifest_->path()), gone);
  for (const WholeFile& file : further_) std::filesystem::remove(partial(file.path()), gone);
}

std::string Output::place_of_finished_rows() const {
  if (!file_) return "printed";
  return fmt::format("kept in '{}'", is_device() ? file_->path() : partial(file_->path()));
}

}  // namespace ropelab::app
