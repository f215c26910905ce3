// SPDX-License-Identifier: Apache-2.0
// When an iteration ends and how: the best point so far, patience, the iteration limit, interrupts
// and the clock. The loop of the interior points asks this class.
#pragma once

#include <chrono>
#include <cmath>
#include <limits>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"

namespace kith::engine {

/// Seconds since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

struct Limits {
  double tolerance = 1e-6;  ///< the iteration ends as soon as a merit is at most this
  long iterations = 100;
  long patience = 12;  ///< iterations without progress after which only rounding is left
};

/// Follows an iteration by the merit of its points: 0 at an optimum, the smaller the better.
class BestSoFar {
 public:
  BestSoFar(const Limits& limits, const RunContext& ctx) : limits_(limits), ctx_(ctx) {}

  /// Takes the merit of the present point. True where the point is the first or the best so far.
  bool offer(double merit) {
    if (offered_ && !(merit < merit_)) return false;
    offered_ = true;
    merit_ = std::isnan(merit) ? std::numeric_limits<double>::infinity() : merit;
    progress();
    return true;
  }
  /// Something beside the merit got better: patience starts anew.
  void progress() { progress_at_ = iterations_; }
  /// As progress(), where the mean complementarity is a tenth below its least so far.
  void watch(double complementarity) {
    if (!(complementarity < 0.9 * least_)) return;
    least_ = complementarity;
    progress();
  }

  /// Whether another step is to be taken; status() tells why not. Throws where the run is
  /// interrupted.
  [[nodiscard]] bool goes_on() {
    ctx_.check_stop();
    if (merit_ <= limits_.tolerance) {
      status_ = SolveStatus::kSolved;
    } else if (iterations_ >= limits_.iterations) {
      status_ = SolveStatus::kIterationLimit;
    } else if (iterations_ - progress_at_ > limits_.patience) {
      status_ = SolveStatus::kReducedAccuracy;
    } else {
      return true;
    }
    return false;
  }
  void stepped() { ++iterations_; }
  /// No step can be taken from the present point.
  void fail(SolveStatus status) { status_ = status; }

  [[nodiscard]] double merit() const { return merit_; }
  [[nodiscard]] long iterations() const { return iterations_; }
  [[nodiscard]] SolveStatus status() const { return status_; }
  void report(SolveInfo& info) const {
    info.status = status_;
    info.iterations = iterations_;
    info.seconds = clock_.seconds();
  }

 private:
  Limits limits_;
  const RunContext& ctx_;
  Stopwatch clock_;
  bool offered_ = false;
  double merit_ = std::numeric_limits<double>::infinity();
  double least_ = std::numeric_limits<double>::infinity();
  long iterations_ = 0;
  long progress_at_ = 0;
  SolveStatus status_ = SolveStatus::kNumericalFailure;
};

}  // namespace kith::engine
