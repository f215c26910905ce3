// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string_view>

#include "kith/core/rng.hpp"

namespace kith {

/// Raised from outside (Ctrl-C, another thread) to end a run early. Safe to raise in a signal
/// handler.
class StopSource {
 public:
  void request_stop() noexcept { flag_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] const std::atomic<bool>& flag() const noexcept { return flag_; }

 private:
  std::atomic<bool> flag_{false};
};

class StopToken {
 public:
  StopToken() = default;
  explicit StopToken(const StopSource& source) : flag_(&source.flag()) {}
  [[nodiscard]] bool stop_requested() const noexcept {
    return flag_ != nullptr && flag_->load(std::memory_order_relaxed);
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

/// Where progress goes. Called from any thread; implementations do their own locking.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  /// `done` of `total` steps of `stage` are finished; total <= 0 means that it is not known.
  /// `at_hand` is what is being worked on, or empty.
  virtual void progress(std::string_view stage, double done, double total,
                        std::string_view at_hand) = 0;
  /// Something the user should know that is no error.
  virtual void message(std::string_view text) = 0;
};

/// What a run is given beside its data. Passed by reference through every layer; never global.
struct RunContext {
  int threads = 1;       ///< for independent units; results do not depend on it
  int blas_threads = 1;  ///< inside one BLAS or LAPACK call; recorded with every result
  RngStreams rng{1};
  ProgressSink* sink = nullptr;
  StopToken stop{};

  void progress(std::string_view stage, double done, double total,
                std::string_view at_hand = {}) const {
    if (sink != nullptr) sink->progress(stage, done, total, at_hand);
  }
  void message(std::string_view text) const {
    if (sink != nullptr) sink->message(text);
  }
  /// Throws Error(kInterrupted) once the stop token is raised. Cheap: call it in every outer loop.
  void check_stop() const;
};

}  // namespace kith
