// SPDX-License-Identifier: Apache-2.0
// The `kith` program: parses the command line, runs one command, turns errors into exit codes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <sstream>
#include <string_view>
#include <vector>

#include "commands/commands.hpp"
#include "console.hpp"
#include "describe_program.hpp"
#include "hints.hpp"
#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "kith/numerics/blas.hpp"
#include "kith/version.hpp"
#include "session.hpp"

namespace kith::app {
namespace {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kBadInput:
    case ErrorCode::kIo:
      return kBadUsage;
    case ErrorCode::kInterrupted:
      return kInterrupted;
    case ErrorCode::kInternal:
      return kInternalError;
  }
  return kInternalError;
}

int guarded(const std::function<int()>& run) {
  try {
    return run();
  } catch (const Error& error) {
    end_grace();
    fmt::print(stderr, "kith: {}\n", spelled(error.what(), as_flag));
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "kith: out of memory\n");
    return kBadUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kith: internal error: {}\n", error.what());
    return kInternalError;
  }
}

/// `kith help` is `kith --help`; `kith help COMMAND` and `kith COMMAND help` are
/// `kith COMMAND --help`.
std::vector<const char*> arguments_of(int argc, char** argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  if (argc == 3 && std::string_view(argv[2]) == "help") arguments[2] = "--help";
  if (argc < 2 || std::string_view(argv[1]) != "help") return arguments;
  arguments.erase(arguments.begin() + 1);
  arguments.push_back("--help");
  return arguments;
}

/// Of help on a command that there is not, its name: the parser would explain the program.
std::string unknown_help(const CLI::App& program, const std::vector<const char*>& arguments) {
  if (arguments.size() != 3 || std::string_view(arguments[2]) != "--help") return {};
  const std::string name = arguments[1];
  const std::vector<const CLI::App*> there_are = program.get_subcommands({});
  const bool known = std::ranges::any_of(
      there_are, [&](const CLI::App* command) { return command->get_name() == name; });
  return known || name.starts_with('-') ? std::string() : name;
}

/// As it could be typed again, words with unusual characters in single quotes.
std::string command_line(int argc, char** argv) {
  std::string line = "kith";
  for (int i = 1; i < argc; ++i) line += ' ' + shell_word(argv[i]);
  return line;
}

int parse_and_run(int argc, char** argv) {
  CLI::App program(
      "kith: classification from pairwise similarities, indefinite ones included.\n"
      "Start with `kith inspect --similarity FILE --labels FILE`.");
  program.name("kith");
  program.require_subcommand(1);
  program.set_version_flag("--version",
                           fmt::format("kith {}\nBLAS: {}", kVersion, blas_description()));
  program.get_formatter()->column_width(34);

  const std::vector<Command> commands = {
      add_inspect(program), add_convert(program),
      add_measure(program), add_methods(program),
      add_train(program),   add_info(program),
      add_predict(program), add_evaluate(program, command_line(argc, argv)),
      add_report(program)};
  // Hidden: what the manual page and the completions are made from.
  const CLI::App* describe = program.add_subcommand("__describe")->group("");
  const std::vector<const char*> arguments = arguments_of(argc, argv);
  if (const std::string unknown = unknown_help(program, arguments); !unknown.empty()) {
    fmt::print(stderr, "kith: there is no command {}{}\nTry `kith --help`.\n", in_quotes(unknown),
               command_hint(program, unknown));
    return kBadUsage;
  }
  try {
    program.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    const int code = program.exit(help, text, text);
    print_text(text.str());
    return code;
  } catch (const CLI::ParseError& error) {
    const std::vector<CLI::App*> chosen = program.get_subcommands();
    const std::string name = chosen.empty() ? "kith" : "kith " + chosen.front()->get_name();
    // A word that is not known may stand for one that is required.
    const bool extras = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                        error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
    const std::string problem = chosen.empty() ? unknown_command(program, arguments)
                                : extras       ? unexpected_argument(*chosen.front())
                                               : std::string();
    fmt::print(stderr, "{}: {}\nTry `{} --help`.\n", name, problem.empty() ? error.what() : problem,
               name);
    return kBadUsage;
  }
  if (describe->parsed()) {
    print_json(describe_program(program));
    return kDone;
  }
  for (const Command& command : commands) {
    if (command.parser->parsed()) return command.run();
  }
  throw Error(ErrorCode::kInternal, "no command was run");
}

}  // namespace
}  // namespace kith::app

int main(int argc, char** argv) {
  return kith::app::guarded([&] { return kith::app::parse_and_run(argc, argv); });
}
