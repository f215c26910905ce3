// SPDX-License-Identifier: Apache-2.0
// What every command shares: the common flags, the run context made from them, and the console.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"
#include "kith/core/context.hpp"
#include "kith/core/json.hpp"
#include "kith/core/settings.hpp"

namespace kith::app {

enum ExitCode : int {
  kDone = 0,
  kBadUsage = 1,
  kMissedTolerance = 2,
  kInternalError = 3,
  kInterrupted = 130,
};

/// The flags every command has.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;       ///< 0: all cores
  int blas_threads = 0;  ///< 0: 1, or chosen from the size of the problem (kBlasBySize)
  std::uint64_t seed = 1;
};
/// What --blas-threads is for in a command, and what it is where it is not given.
struct BlasHelp {
  const char* meaning = "threads inside one matrix operation";
  const char* usual = "1";
};
/// For commands that decompose one matrix at a time: they call Session::use_blas_for.
inline constexpr BlasHelp kBlasBySize{
    "threads inside one matrix decomposition; recorded with the result",
    "1 below 2,000 samples, else all cores"};
void add_common_options(CLI::App& command, CommonOptions& options, const BlasHelp& blas = {});

/// Called where an interrupt was heard: the run ends by itself, and is no longer ended from
/// outside.
void end_grace();
/// What a run says that is ended from outside, instead of "interrupted". Before it begins.
void say_when_interrupted(std::string_view text);

/// Held while a command works: progress on standard error, Ctrl-C raises the stop token, BLAS runs
/// on the stated number of threads.
class Session {
 public:
  explicit Session(const CommonOptions& options);

  RunContext context;

  /// Takes the progress bar off the terminal, before results are printed.
  void end_progress() { sink_.end_progress(); }

  /// Shows that `stage` goes on, for as long as the result lives.
  [[nodiscard]] Heartbeat heartbeat(std::string stage) { return {sink_, std::move(stage)}; }

  /// Sets the BLAS threads: those that were asked for, else the usual ones for n samples. Until
  /// then there is one.
  void use_blas_for(Index n);

 private:
  const CommonOptions& options_;
  ConsoleSink sink_;
  std::shared_ptr<void> blas_;
};

/// A command of the program: its parser and what it does, which returns an exit code.
struct Command {
  CLI::App* parser = nullptr;
  std::function<int()> run;
};

/// Adds one flag per field of `settings`, named and explained as `describe` does; what is yes or no
/// is no unless the flag is there. Values are checked while parsing, so a bad one is bad usage that
/// names its rule. Fields of `without` get
/// none.
template <Described S>
void add_settings_flags(CLI::App& command, S& settings, const std::string& group,
                        std::span<const std::string_view> without = {}) {
  for (const FieldInfo& field : fields(settings)) {
    if (std::find(without.begin(), without.end(), field.name) != without.end()) continue;
    const std::string flag = "--" + field.name;
    if (field.type == "yes/no") {
      command
          .add_flag_callback(
              flag,
              [&settings, flag, name = field.name] { set_field(settings, flag, name, "yes"); },
              field.help)
          ->group(group);
      continue;
    }
    command
        .add_option_function<std::string>(
            flag,
            [&settings, flag, name = field.name](const std::string& text) {
              set_field(settings, flag, name, text);
            },
            field.help + " (" + field.rule + ")")
        ->default_str(field.default_value)
        ->group(group)
        ->type_name(field.type == "choice" ? "NAME"
                    : field.type == "text" ? "TEXT"
                                           : "NUMBER");
  }
}

/// Prints one JSON document to standard output; throws when it cannot be written.
void print_json(const Json& document);
/// Prints text to standard output; throws when it cannot be written.
void print_text(std::string_view text);

}  // namespace kith::app
