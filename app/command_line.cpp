#include "app/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <thread>

#include "app/commands.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/build_info.hpp"

namespace ropelab::app {
namespace {

constexpr std::string_view kAbout =
    "What ALiBi through RoPE rotations, and rotated dot products, cost in accuracy.";
constexpr std::string_view kValues =
    "Numbers are read exactly: 0.1, 1e-6, 1/3, 0.1/65536, 2^-20, 2^(-1/2), 0x1p-13, 64K, 1M.\n"
    "Several values: a list a,b,c or a range FIRST:LAST:COUNT, evenly spaced, or\n"
    "FIRST:LAST:COUNT:log. The same options may stand in a TOML file: --config FILE.";

std::string version_text() {
  const BuildInfo& build = build_info();
  return fmt::format("ropelab {} (commit {}, {})", build.version, build.commit, build.compiler);
}

bool starts_with_digit(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

bool is_negative_number(std::string_view argument) {
  if (argument.substr(0, 1) != "-") return false;
  argument.remove_prefix(1);
  if (argument.substr(0, 1) == ".") return starts_with_digit(argument.substr(1));
  return starts_with_digit(argument) || argument == "inf" || argument == "nan";
}

// CLI11 takes -.5 and -inf for options and `--name=` for an option whose value comes next. A
// blank before a number changes nothing else: values are read without surrounding blanks.
std::string readable_by_cli11(const std::string& argument) {
  if (is_negative_number(argument)) return ' ' + argument;
  if (argument.rfind("-o=", 0) == 0) return "--output" + argument.substr(2);
  if (argument.rfind("--", 0) == 0 && argument.size() > 3 && argument.back() == '=' &&
      argument.find('=') == argument.size() - 1) {
    throw UsageError(argument.substr(0, argument.size() - 1), "there is no value after the '='");
  }
  return argument;
}

std::vector<std::string> readable_by_cli11(const std::vector<std::string>& arguments) {
  std::vector<std::string> readable = arguments;
  const auto end = std::find(readable.begin(), readable.end(), "--");
  std::transform(readable.begin(), end, readable.begin(),
                 [](const std::string& argument) { return readable_by_cli11(argument); });
  return readable;
}

// The innermost command that was named, and its name as users write it.
const CLI::App& chosen_app(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + ' ' + app.get_name();
}

std::string names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string sentence_for_missing(const CLI::App& root, const CLI::App& app,
                                 const CLI::ParseError& error) {
  if (app.get_subcommands({}).empty()) return fmt::format("{}: {}", full_name(app), error.what());
  const auto others = root.remaining(true);
  if (others.empty() || others.front().substr(0, 1) == "-") {
    const std::string before =
        others.empty() ? std::string() : fmt::format(" before '{}'", others.front());
    return fmt::format("no command is given{}; {} takes one of {}", before, full_name(app),
                       names_of_commands(app));
  }
  return fmt::format("'{}' is not a command of {}; there are {}", others.front(), full_name(app),
                     names_of_commands(app));
}

std::string sentence_for_stranger(const CLI::App& root, const CLI::App& app) {
  const auto strangers = root.remaining(true);
  const std::string stranger = strangers.empty() ? "an argument" : strangers.front();
  const bool is_option = stranger.size() > 1 && stranger.front() == '-';
  return fmt::format("'{}' is {} '{}'; see {} --help", stranger,
                     is_option ? "not an option of" : "one argument too many for", full_name(app),
                     full_name(app));
}

// CLI11 begins these with the option's name and a colon.
std::string sentence_for_mismatch(const CLI::App& root, const CLI::App& app,
                                  const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) option = root.get_option_no_throw(name);
  if (option == nullptr || option->count() < 2) return name + ": it needs a value";
  return fmt::format("{}: it is given more than once; {}", name,
                     takes_list(*option) ? "write a list" : "it takes a single value");
}

// CLI11 writes "Could not convert: --quiet = maybe". Other options take any text, so that it can
// only be a flag.
std::string sentence_for_flag(const std::string& text) {
  constexpr std::string_view assignment = " = ";
  const auto begin = text.find("--");
  const auto end = text.find(assignment);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return text + "; a flag takes true, false or nothing";
  }
  return fmt::format("{}: '{}' is neither true nor false; a flag takes one of these, or nothing",
                     text.substr(begin, end - begin), text.substr(end + assignment.size()));
}

std::string sentence_for(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = chosen_app(root);
  const std::string text = error.what();
  const auto is = [&error](auto* type) {
    return dynamic_cast<std::remove_pointer_t<decltype(type)>*>(&error) != nullptr;
  };
  if (is(static_cast<const CLI::RequiredError*>(nullptr))) {
    return sentence_for_missing(root, app, error);
  }
  if (is(static_cast<const CLI::ExtrasError*>(nullptr))) return sentence_for_stranger(root, app);
  if (is(static_cast<const CLI::ArgumentMismatch*>(nullptr))) {
    return sentence_for_mismatch(root, app, text);
  }
  if (is(static_cast<const CLI::ExcludesError*>(nullptr))) return text + "; give one of the two";
  if (is(static_cast<const CLI::FileError*>(nullptr))) {
    return fmt::format("--config: '{}' cannot be read", root.get_config_ptr()->as<std::string>());
  }
  // What remains is a flag with a value: --quiet=maybe.
  return sentence_for_flag(text);
}

// What holds where the option is not given: nothing beside what excludes it.
std::string default_text(const CLI::Option& option) {
  const auto others = option.get_excludes();
  const auto given = [](const CLI::Option* other) { return other->count() > 0; };
  if (std::any_of(others.begin(), others.end(), given)) return {};
  const bool is_flag = option.get_expected_max() == 0;
  return is_flag ? "false" : option.get_default_str();
}

// As resolved; empty where the option has no meaning.
std::string parameter_text(const CLI::Option& option, const Parameters& resolved) {
  for (const auto& [name, text] : resolved) {
    if (name == option.get_single_name()) return text;
  }
  if (option.count() == 0) return default_text(option);
  return fmt::format("{}", fmt::join(option.results(), ","));
}

}  // namespace

CommandLine::CommandLine() : root_(std::string(kAbout), "ropelab") {
  root_.set_version_flag("--version", version_text());
  root_.set_config("--config", "", "Take options from a TOML file")->type_name("FILE");
  root_.require_subcommand(1);
  root_.footer(std::string(kValues));
  auto config = std::make_shared<ConfigFile>(root_);
  config_ = config.get();
  root_.config_formatter(std::move(config));
  for (CommandEntry& entry : all_commands()) add(std::move(entry));
}

CLI::App& CommandLine::group_of(const std::string& command_name) {
  const auto end = command_name.find(' ');
  if (end == std::string::npos) return root_;
  const std::string name = command_name.substr(0, end);
  for (CLI::App* app : root_.get_subcommands({})) {
    if (app->get_name() == name) return *app;
  }
  CLI::App& group = *root_.add_subcommand(name, group_summary(name));
  return *group.require_subcommand(1)->fallthrough();
}

void CommandLine::add(CommandEntry entry) {
  choices_.push_back(std::make_unique<Choice>());
  Choice& choice = *choices_.back();
  choice.entry = std::move(entry);
  const std::string& name = choice.entry.name;
  choice.app = group_of(name).add_subcommand(name.substr(name.find(' ') + 1), choice.entry.summary);
  choice.app->fallthrough();  // to --config
  choice.app->footer("Options may also stand in a TOML file: --config FILE.\n\nExample:\n" +
                     choice.entry.example);
  choice.command = choice.entry.make();
  choice.command->add_options(*choice.app);
  choice.shared.add_to(*choice.app, choice.entry.has_own_output);
}

void CommandLine::SharedOptions::add_to(CLI::App& app, bool has_own_output) {
  if (!has_own_output) {
    output.add_to(app, "-o,--output", "FILE",
                  "Write to a .csv, .json or .md file, with a manifest beside it; after Ctrl-C, "
                  "finished rows go to FILE.partial instead");
  }
  output_format.add_to(app, "--output-format", "FORMAT",
                       "csv, json or markdown; without it, the file's ending says");
  digits.add_to(app, "--digits", "COUNT",
                "17 for the shortest doubles, up to 100 for exact columns with that many digits",
                "17");
  threads.add_to(app, "--threads", "COUNT", "Threads to compute with", "all");
  instruction_set.add_to(app, "--instruction-set", "NAME",
                         "The best vector instructions to use: scalar, sse4, avx2, avx512 or best; "
                         "figures do not depend on it",
                         "best");
  seed.add_to(app, "--seed", "INTEGER", "Seed of everything random", "1");
  app.add_flag("--quiet", quiet, "No progress and no remarks on standard error");
}

namespace {

// Later versions of CLI11 would read several files, one after the other.
void require_one_config(const std::vector<std::string>& arguments) {
  const auto given = std::count_if(arguments.begin(), arguments.end(), [](const auto& argument) {
    return argument == "--config" || argument.rfind("--config=", 0) == 0;
  });
  if (given > 1) {
    throw UsageError("--config", "it is given more than once; it takes a single value");
  }
}

}  // namespace

std::optional<std::string> CommandLine::parse(const std::vector<std::string>& arguments) {
  arguments_ = arguments;
  try {
    parse_with_cli11(readable_by_cli11(arguments));
  } catch (const CLI::CallForHelp&) {
    return root_.help();
  } catch (const CLI::CallForVersion&) {
    return version_text() + '\n';
  } catch (const CLI::ParseError& error) {
    throw UsageError(sentence_for(root_, error));
  }
  return std::nullopt;
}

void CommandLine::parse_with_cli11(const std::vector<std::string>& arguments) {
  require_one_config(arguments);
  root_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  if (config_given() && root_.get_config_ptr()->as<std::string>().empty()) {
    throw UsageError("--config", "'' is no name; write that of a TOML file");
  }
  const CLI::App* app = &chosen_app(root_);
  chosen_ = std::find_if(choices_.begin(), choices_.end(), [app](const auto& choice) {
              return choice->app == app;
            })->get();
}

Run::Settings CommandLine::settings() const {
  const SharedOptions& shared = chosen_->shared;
  const auto whole = [](long long least, long long most) {
    return [=](const std::string& text) { return parse_integer(text, least, most); };
  };
  Run::Settings settings;
  settings.quiet = shared.quiet;
  settings.digits = static_cast<int>(shared.digits.read(whole(17, 100)));
  settings.seed =
      static_cast<std::uint64_t>(shared.seed.read(whole(0, std::numeric_limits<long long>::max())));
  settings.instruction_set = shared.instruction_set.read(find_instruction_set);
  settings.threads = shared.threads.text() == "all"
                         ? std::max(1U, std::thread::hardware_concurrency())
                         : static_cast<unsigned>(shared.threads.read(whole(1, 4096)));
  return settings;
}

Manifest CommandLine::manifest(const Parameters& resolved) const {
  const Run::Settings run = settings();
  Manifest manifest;
  manifest.command_line = arguments_;
  manifest.command_line.insert(manifest.command_line.begin(), "ropelab");
  manifest.threads = run.threads;
  manifest.seed = run.seed;
  for (const CLI::Option* option : chosen_->app->get_options({})) {
    const std::string text = parameter_text(*option, resolved);
    if (text.empty() || option == chosen_->app->get_help_ptr()) continue;
    manifest.parameters.emplace_back(option->get_single_name(), text);
  }
  return manifest;
}

FilesInUse CommandLine::files_in_use() const {
  std::vector<std::string> read = chosen_->command->files_read();
  if (config_given()) read.push_back(root_.get_config_ptr()->as<std::string>());
  return FilesInUse(read);
}

Output CommandLine::output(FilesInUse& files, const std::vector<std::string>& further_names) const {
  const SharedOptions& shared = chosen_->shared;
  if (shared.output.given() && shared.output.text().empty()) {
    throw UsageError("-o", "'' is no name; write that of a .csv, .json or .md file, or -");
  }
  std::optional<TableFormat> format;
  if (shared.output_format.given()) format = shared.output_format.read(find_table_format);
  return Output("-o", shared.output.text(), format, files, further_names);
}

std::string CommandLine::place_of(const std::string& option) const {
  return option.empty() ? std::string() : config_->place_of(option);
}

}  // namespace ropelab::app
