// SPDX-License-Identifier: Apache-2.0
#include "hints.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "console.hpp"
#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "kith/core/unknown_setting.hpp"
#include "kith/learn/registry.hpp"

namespace kith::app {
namespace {

/// What others call something, and what kith calls it.
struct Names {
  std::string_view theirs;
  std::string_view ours;
};

std::string_view find_name(std::span<const Names> names, std::string_view word) {
  const auto found =
      std::ranges::find_if(names, [&](const Names& one) { return one.theirs == word; });
  return found == names.end() ? std::string_view() : found->ours;
}

/// An option that other programs call `word`; empty: it is no such word.
std::string_view own_option(std::string_view word) {
  static constexpr std::array<Names, 20> kNames = {{{"o", "--out"},
                                                    {"cv", "--folds"},
                                                    {"n-splits", "--folds"},
                                                    {"n-folds", "--folds"},
                                                    {"n-repeats", "--repeats"},
                                                    {"test-size", "--test-fraction"},
                                                    {"n-jobs", "--threads"},
                                                    {"jobs", "--threads"},
                                                    {"random-state", "--seed"},
                                                    {"output", "--out"},
                                                    {"input", "--similarity"},
                                                    {"matrix", "--similarity"},
                                                    {"similarities", "--similarity"},
                                                    {"kernel-matrix", "--similarity"},
                                                    {"distances", "--distance"},
                                                    {"y", "--labels"},
                                                    {"classes", "--labels"},
                                                    {"transposed", "--transpose"},
                                                    {"fasta", "--data"},
                                                    {"splits", "--partitions"}}};
  return find_name(kNames, word);
}

/// A command that others call `word`; empty: it is no such word.
std::string_view own_command(std::string_view word) {
  static constexpr std::array<Names, 21> kNames = {{{"auto", "train --method auto"},
                                                    {"fit", "train"},
                                                    {"learn", "train"},
                                                    {"training", "train"},
                                                    {"build", "train"},
                                                    {"classify", "predict"},
                                                    {"prediction", "predict"},
                                                    {"test", "predict"},
                                                    {"apply", "predict"},
                                                    {"compare", "evaluate"},
                                                    {"cv", "evaluate"},
                                                    {"benchmark", "evaluate"},
                                                    {"evaluation", "evaluate"},
                                                    {"describe", "inspect"},
                                                    {"summary", "inspect"},
                                                    {"look", "inspect"},
                                                    {"show", "info"},
                                                    {"list", "methods"},
                                                    {"method", "methods"},
                                                    {"similarity", "measure"},
                                                    {"plot", "report"}}};
  return find_name(kNames, word);
}

/// Without the dashes that begin it, and without a value.
std::string bare(std::string_view word) {
  word = word.substr(0, word.find('='));
  return std::string(word.substr(std::min(word.find_first_not_of('-'), word.size())));
}

bool is_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_one_of(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool has_setting(const MethodInfo& method, std::string_view name) {
  return std::ranges::any_of(method.fields,
                             [&](const FieldInfo& field) { return field.name == name; });
}

/// Whether some method has a setting of that name.
bool is_setting(std::string_view name) {
  return std::ranges::any_of(all_methods(),
                             [&](const MethodInfo& method) { return has_setting(method, name); });
}

/// Whether a method as it was typed, "svm-clip", has a setting of that name.
bool typed_method_has(const std::string& method, std::string_view name) {
  if (!is_method(method)) return true;  // of auto, or refused elsewhere
  return has_setting(method_info(parse_method(method).settings), name);
}

/// "--set cost=10", as the command takes a setting of a method; `value` may be empty.
std::string setting_form(const CLI::App& command, const std::string& setting,
                         const std::string& value) {
  const bool several = value.find(',') != std::string::npos;
  const char* flag = several ? "--grid" : "--set";
  const std::string assignment =
      fmt::format("{}={}", setting, value.empty() ? "VALUE" : shell_word(value));
  if (command.get_name() == "evaluate") {
    return fmt::format("{0} '*:{1}' for all methods that have it, or {0} METHOD:{1} for one", flag,
                       assignment);
  }
  const std::vector<std::string> typed = command.get_option("--method")->results();
  const std::string method = typed.empty() ? "svm" : typed.front();
  if (typed_method_has(method, setting)) {
    return fmt::format("{}{} {}", several && method != "auto" ? "--tune " : "", flag, assignment);
  }
  const std::vector<MethodInfo> methods = all_methods();
  const auto able = std::ranges::find_if(
      methods, [&](const MethodInfo& one) { return has_setting(one, setting); });
  return fmt::format("--method {} {}{} {}, since {} has none", able->name, several ? "--tune " : "",
                     flag, assignment, method);
}

/// The value that was typed after the first argument that is left over, or in it.
std::string value_of(const std::vector<std::string>& rest) {
  const std::size_t at = rest.front().find('=');
  if (at != std::string::npos) return rest.front().substr(at + 1);
  const bool next = rest.size() > 1 && (!rest[1].starts_with('-') || parse_double(rest[1]));
  return next ? rest[1] : "";
}

/// Of an option that another command has, or that means something else here; empty: nothing.
std::string by_command(const CLI::App& app, const std::string& name, const std::string& value) {
  const std::string& command = app.get_name();
  const std::string list = value.empty() ? "NAME" : shell_word(value);
  if (command == "evaluate" && name == "budget") {
    return ": results of an evaluation must not depend on the speed of the machine";
  }
  if (command == "evaluate" && name == "method") {
    return fmt::format(" (did you mean --methods {}?)", value.empty() ? "LIST" : list);
  }
  if (command == "train" && name == "methods") {
    if (value == "all") return " (did you mean --method auto?)";
    const std::vector<std::string> typed = app.get_option("--method")->results();
    if (!typed.empty() && typed.front() == "auto") {
      return fmt::format(" (did you mean --among {}?)", list);
    }
    const bool several = value.find(',') != std::string::npos;
    return fmt::format(" (did you mean --method {}?)", several ? "auto --among " + list : list);
  }
  if (command == "train" && (name == "out" || name == "output" || name == "o")) {
    return " (did you mean --model?)";
  }
  if (command == "train" && name == "auto") return " (did you mean --method auto?)";
  if (command == "predict" && name == "labels") {
    return "; predict writes labels and compares with none: kith evaluate --similarity FILE "
           "--labels FILE measures errors";
  }
  if (command == "predict" && (name == "missing" || name == "scale" || name == "from-distance" ||
                               name == "symmetrise" || name == "diagonal")) {
    return "; the model does to new rows what was done to the training matrix";
  }
  return {};
}

std::vector<std::string> commands_of(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

/// The shortest option that begins with what was typed, or the closest.
std::optional<std::string> meant_option(const std::string& name,
                                        const std::vector<std::string>& options) {
  std::optional<std::string> begun;
  for (const std::string& option : options) {
    if (name.size() < 3 || !option.starts_with("--" + name)) continue;
    if (!begun || option.size() < begun->size()) begun = option;
  }
  return begun ? begun : closest("--" + name, options);
}

std::string positional_hint(const std::vector<std::string>& options, const std::string& word) {
  if (is_method(word)) {
    for (const char* list : {"--methods", "--among"}) {
      if (!is_one_of(options, list)) continue;
      return fmt::format("; the names of a list are separated by commas: {} knn,svm-clip", list);
    }
  }
  if (is_one_of(options, "--similarity") && is_file(word)) {
    return fmt::format("; files are named by flags, such as --similarity {}", shell_word(word));
  }
  return {};
}

}  // namespace

std::string command_hint(const CLI::App& program, std::string_view word) {
  const std::vector<std::string> commands = commands_of(program);
  const std::string name = lower_case(bare(word));
  std::string meant;
  if (is_one_of(commands, name)) {
    meant = name;
  } else if (const std::string_view ours = own_command(name); !ours.empty()) {
    meant = ours;
  } else if (is_method(name)) {
    meant = "train --method " + name;
  } else if (is_file(std::string(word))) {
    const bool model = word.ends_with(".kith");
    meant = (model ? "info " : "inspect --similarity ") + shell_word(word);
  } else if (const std::optional<std::string> near = closest(name, commands)) {
    meant = *near;
  }
  return meant.empty() ? meant : fmt::format(" (did you mean `kith {}`?)", meant);
}

std::string unknown_command(const CLI::App& program, const std::vector<const char*>& arguments) {
  if (arguments.size() < 2) return {};
  const std::string_view word = arguments[1];
  if (!word.starts_with('-')) {
    return fmt::format("there is no command {}{}", in_quotes(word), command_hint(program, word));
  }
  const std::string flag = "--" + bare(word);
  const std::vector<std::string> commands = commands_of(program);
  for (const std::string& name : commands) {
    if (is_one_of(commands, bare(word))) break;  // --train
    if (program.get_subcommand(name)->get_option_no_throw(flag) == nullptr) continue;
    return fmt::format("{} stands before a command; give the command first, such as `kith {} {}`",
                       in_quotes(word), name, flag);
  }
  return fmt::format("there is no option {}{}", in_quotes(word), command_hint(program, word));
}

std::string unexpected_argument(const CLI::App& command) {
  const std::vector<std::string> rest = command.remaining();
  if (rest.empty()) return {};
  const std::string word = rest.front().substr(0, rest.front().find('='));
  const bool dashed = word.starts_with("-");
  const std::string text =
      (dashed ? "there is no option " : "unexpected argument ") + in_quotes(word);
  std::string name = bare(word);
  const std::string setting(own_name(name));
  std::ranges::replace(name, '_', '-');
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options()) options.push_back(option->get_name());
  const std::string value = value_of(rest);
  if (is_one_of(options, "--similarity") && is_setting(setting) && is_file(value)) {
    return fmt::format("{} (did you mean --similarity {}?)", text, shell_word(value));
  }
  if (is_one_of(options, "--set") && is_setting(setting)) {
    return fmt::format("{}; {} is a setting of a method, given as {}", text, setting,
                       setting_form(command, setting, value));
  }
  if (!dashed) return text + positional_hint(options, word);
  if (const std::string own = by_command(command, name, value); !own.empty()) {
    return text + own;
  }
  const std::string own(own_option(name));
  const std::optional<std::string> guess =
      is_one_of(options, own) ? own : meant_option(name, options);
  return guess ? fmt::format("{} (did you mean {}?)", text, *guess) : text;
}

void check_one_method(const std::string& text) {
  const bool all = text == "all";
  if (!all && text.find(',') == std::string::npos) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("--method {} names {} methods, and one is trained: --method auto{} lets "
                          "the best of them predict together, and kith evaluate --methods {} "
                          "compares them",
                          in_quotes(text), all ? "all" : "several",
                          all ? "" : " --among " + shell_word(text), shell_word(text)));
}

}  // namespace kith::app
