// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/text.hpp"
#include "kith/numerics/blas.hpp"

namespace kith::app {
namespace {

/// The parser by itself turns -1 and numbers beyond the range into some other seed.
std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return in_quotes(text) + " is not a whole number from 0 to 18446744073709551615";
}

StopSource& interrupts() {
  static StopSource source;
  return source;
}

constexpr unsigned kGraceSeconds = 2;

/// The first Ctrl-C asks the run to stop; the handler is then gone, so a second one ends it at
/// once. A decomposition of a large matrix is one call that cannot look: it is ended for it.
void on_interrupt(int) {
  interrupts().request_stop();
  alarm(kGraceSeconds);
}

/// What is said then, as a whole line.
std::string& last_words() {
  static std::string words = "kith: interrupted\n";
  return words;
}

void on_grace_over(int) {
  [[maybe_unused]] const auto written =
      write(STDERR_FILENO, last_words().data(), last_words().size());
  _exit(kInterrupted);
}

void catch_interrupts() {
  (void)last_words();  // made before a handler needs it
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = on_grace_over;
  sigaction(SIGALRM, &action, nullptr);
}

}  // namespace

void end_grace() { alarm(0); }

void say_when_interrupted(std::string_view text) { last_words() = fmt::format("kith: {}\n", text); }

void add_common_options(CLI::App& command, CommonOptions& options, const BlasHelp& blas) {
  command.add_flag("--json", options.json, "print one JSON document on standard output")
      ->group("Common");
  command
      .add_option("--threads", options.threads,
                  "threads for independent pieces of work; results do not depend on it")
      ->check(CLI::Range(1, 4096))
      ->type_name("N")
      ->default_str("all cores")
      ->group("Common");
  command.add_option("--blas-threads", options.blas_threads, blas.meaning)
      ->check(CLI::Range(1, 4096))
      ->type_name("N")
      ->default_str(blas.usual)
      ->group("Common");
  command.add_option("--seed", options.seed, "seed of every random choice")
      ->check(check_seed)
      ->type_name("N")
      ->capture_default_str()
      ->group("Common");
  command.add_flag("--quiet", options.quiet, "no progress and no notes on standard error")
      ->group("Common");
}

Session::Session(const CommonOptions& options) : options_(options), sink_(options.quiet) {
  catch_interrupts();
  context.threads = options.threads > 0 ? options.threads : available_cores();
  context.rng = RngStreams(options.seed);
  context.sink = &sink_;
  context.stop = StopToken(interrupts());
  use_blas_for(0);
}

void Session::use_blas_for(Index n) {
  context.blas_threads = options_.blas_threads > 0 ? options_.blas_threads : usual_blas_threads(n);
  blas_.reset();  // restore before setting anew
  blas_ = std::make_shared<BlasThreads>(context.blas_threads);
}

void print_text(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw io_error("cannot write to standard output");
  }
}

void print_json(const Json& document) {
  print_text(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace kith::app
