// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "kith/report/text_art.hpp"

namespace kith::app {
namespace {

constexpr std::chrono::milliseconds kBarEvery{100};
constexpr std::chrono::seconds kLineEvery{10};
constexpr std::chrono::seconds kSilence{2};  // on a terminal, before a heartbeat is seen
constexpr std::chrono::milliseconds kBeatEvery{500};
constexpr int kBarWidth = 20;

std::string line_head(std::string_view what) { return fmt::format("  {:<13} ", what); }

std::string duration(double seconds) {
  const long whole = std::lround(std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

int terminal_width(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string text = value;
    return text.find("UTF-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

std::string as_flag(std::string_view id, std::string_view value) {
  if (id == "distance" && value == "no") return "--similarity";
  return fmt::format("--{}{}{}", id, value.empty() ? "" : " ", value);
}

ConsoleSink::ConsoleSink(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

ConsoleSink::~ConsoleSink() { clear_bar(); }

void ConsoleSink::clear_bar() {
  if (!bar_shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  bar_shown_ = false;
}

void ConsoleSink::progress(std::string_view stage, double done, double total,
                           std::string_view at_hand) {
  if (quiet_) return;
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (stage != stage_) {
    stage_ = stage;
    stage_began_ = now;
    last_shown_ = now;
    done_before_ = done;
    return;  // short stages are never shown
  }
  const Clock::duration pause = now - last_shown_;
  if (terminal_ ? pause < kBarEvery : pause < kLineEvery) return;
  last_shown_ = now;
  const double elapsed = std::chrono::duration<double>(now - stage_began_).count();
  std::string line = fmt::format("{}: {:.0f}", stage_, done);
  if (total > 0) {
    const double share = std::clamp(done / total, 0.0, 1.0);
    if (terminal_) {
      const int filled = static_cast<int>(kBarWidth * share);
      line = fmt::format("[{:=<{}}{: <{}}] {}", "", filled, "", kBarWidth - filled, line);
    }
    line += fmt::format(" of {:.0f} ({:.0f} %), {} so far", total, 100 * share, duration(elapsed));
    if (done > done_before_) {
      const double left = elapsed * (total - done) / (done - done_before_);
      line += fmt::format(", about {} to go", duration(left));
    }
  } else {
    line += fmt::format(", {} so far", duration(elapsed));
  }
  if (!at_hand.empty()) line += fmt::format(" [{}]", at_hand);
  show(std::move(line));
}

void ConsoleSink::still(std::string_view stage, Clock::time_point since) {
  if (quiet_) return;
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  const Clock::time_point last = std::max(last_shown_, since);
  if (now - last < (terminal_ ? Clock::duration(kSilence) : Clock::duration(kLineEvery))) return;
  if (!terminal_) last_shown_ = now;
  const double elapsed = std::chrono::duration<double>(now - since).count();
  show(fmt::format("{}, {} so far", stage, duration(elapsed)));
}

void ConsoleSink::show(std::string line) {
  if (!terminal_) {
    fmt::print(stderr, "kith: {}\n", line);
    return;
  }
  line.resize(std::min(line.size(), static_cast<std::size_t>(terminal_width(STDERR_FILENO) - 1)));
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  bar_shown_ = true;
}

void ConsoleSink::end_progress() {
  const std::lock_guard lock(mutex_);
  clear_bar();
}

void ConsoleSink::message(std::string_view text) {
  const std::lock_guard lock(mutex_);
  clear_bar();
  if (!quiet_) fmt::print(stderr, "kith: {}\n", spelled(text, as_flag));
}

Heartbeat::Heartbeat(ConsoleSink& sink, std::string stage)
    : sink_(sink), stage_(std::move(stage)), thread_([this] { beat(); }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Heartbeat::beat() {
  const ConsoleSink::Clock::time_point since = ConsoleSink::Clock::now();
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kBeatEvery, [this] { return end_; })) sink_.still(stage_, since);
}

OutputStyle output_style() {
  OutputStyle style;
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  style.unicode = locale_is_utf8();
  style.colour = terminal && std::getenv("NO_COLOR") == nullptr;
  if (terminal) style.width = std::clamp(terminal_width(STDOUT_FILENO), 40, 120);
  return style;
}

std::string line(std::string_view what, const std::string& value) {
  return line_head(what) + value + '\n';
}

std::string line(std::string_view what, const std::string& value, const OutputStyle& style) {
  const std::string head = line_head(what);
  std::string text = wrap(value, style.width, std::string(head.size(), ' '));
  return text.replace(0, head.size(), head);
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kUsual =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,.:/@%";
  if (!word.empty() && word.find_first_not_of(kUsual) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char letter : word) {
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return quoted + '\'';
}

}  // namespace kith::app
