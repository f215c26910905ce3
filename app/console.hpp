// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "kith/core/context.hpp"
#include "kith/core/mention.hpp"

namespace kith::app {

/// How the program spells what texts of the library mention: "--missing zero", "--self".
[[nodiscard]] std::string as_flag(std::string_view id, std::string_view value);

/// Progress and messages on standard error: a bar with an estimate on a terminal, otherwise a plain
/// line every so often. Nothing but messages when quiet.
class ConsoleSink final : public ProgressSink {
 public:
  using Clock = std::chrono::steady_clock;
  explicit ConsoleSink(bool quiet);
  ~ConsoleSink() override;
  ConsoleSink(const ConsoleSink&) = delete;
  ConsoleSink& operator=(const ConsoleSink&) = delete;

  void progress(std::string_view stage, double done, double total,
                std::string_view at_hand) override;
  void message(std::string_view text) override;
  void end_progress();
  /// That `stage` goes on, unless something else was shown a moment ago.
  void still(std::string_view stage, Clock::time_point since);

 private:
  void clear_bar();
  void show(std::string line);

  std::mutex mutex_;
  const bool quiet_;
  const bool terminal_;
  bool bar_shown_ = false;
  std::string stage_;
  Clock::time_point stage_began_;
  double done_before_ = 0;  // of this stage, when it was first heard of: the rest of an earlier run
  Clock::time_point last_shown_;
};

/// While it lives, says once in a while how long `stage` has taken: for work that cannot tell how
/// much of it is done.
class Heartbeat {
 public:
  Heartbeat(ConsoleSink& sink, std::string stage);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat();

  ConsoleSink& sink_;
  const std::string stage_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

/// Whether text written to standard output may use UTF-8 box characters and colour.
struct OutputStyle {
  bool unicode = false;
  bool colour = false;
  int width = 80;
};
[[nodiscard]] OutputStyle output_style();

/// A line "  what          value" of what a command says in the end, as long as it is or wrapped
/// under the value.
[[nodiscard]] std::string line(std::string_view what, const std::string& value);
[[nodiscard]] std::string line(std::string_view what, const std::string& value,
                               const OutputStyle& style);

/// A word as a shell takes it: in single quotes where it has unusual characters.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace kith::app
