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
               std::optional<TableFormat> format, FilesInUse& files)
    : format_(chosen_format(option, path, format)) {
  if (is_standard_output(path)) return;
  files.add_written(option,
                    {path, manifest_path(path), partial(path), partial(manifest_path(path))});
  file_.emplace(open_file(option, path));
  if (can_have_manifest(path)) manifest_.emplace(open_file(option, manifest_path(path)));
}

void Output::write(const Table& table, const Manifest& manifest) {
  const std::string text = to_text(table, format_);
  if (!file_) return write_output(text);
  file_->write(text);
  if (manifest_) manifest_->write(to_json(manifest));
  file_->commit();
  if (manifest_) manifest_->commit();
  remove_partial();
}

void Output::write_further(const std::string& name, const Table& table) {
  const std::string text = to_text(table, format_);
  if (!file_) return write_output("\n" + text);
  if (is_device()) throw std::runtime_error("a second table needs a file with a name");
  std::filesystem::path path(file_->path());
  path.replace_filename(path.stem().string() + "-" + name + path.extension().string());
  write_whole(path.string(), text);
}

void Output::write_finished_rows(const Table& table, const Manifest& manifest) {
  if (table.rows().empty()) return;
  if (!file_ || is_device()) return write(table, manifest);
  write_whole(partial(file_->path()), to_text(table, format_));
  write_whole(partial(manifest_->path()), to_json(manifest));
}

// What an interrupted run left of the same file is no use any more.
void Output::remove_partial() const {
  if (is_device()) return;
  std::error_code gone;
  std::filesystem::remove(partial(file_->path()), gone);
  std::filesystem::remove(partial(manifest_path(file_->path())), gone);
}

std::string Output::place_of_finished_rows() const {
  if (!file_) return "printed";
  return fmt::format("kept in '{}'", is_device() ? file_->path() : partial(file_->path()));
}

}  // namespace ropelab::app
