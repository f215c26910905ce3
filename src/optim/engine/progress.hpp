// SPDX-License-Identifier: Apache-2.0
// When an iteration ends and how: the best point so far, patience, the iteration limit and
// interrupts. Every loop of optim and learn asks this class, but for those whose file says why
// they stand alone.
#pragma once

#include <cmath>
#include <limits>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"

namespace kith::engine {

struct Limits {
  double tolerance = 1e-6;  ///< the iteration ends as soon as a merit is at most this
  long iterations = 100;
  /// Iterations without progress after which only rounding is left.
  long patience = std::numeric_limits<long>::max();
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
    at_best_ = least_;
    progress();
    return true;
  }
  /// Something beside the merit got better: patience starts anew.
  void progress() { progress_at_ = iterations_; }
  /// As progress(), where the mean complementarity is a tenth below its least so far: the merit may
  /// follow. Where it is far below that of the best point, what is left of the merit is rounding.
  void watch(double complementarity) {
    constexpr double kFar = 1e-8;
    if (!(complementarity < 0.9 * least_)) return;
    least_ = complementarity;
    if (complementarity > kFar * at_best_) progress();
  }

  /// Whether another step is to be taken; status() tells why not. Throws where the run is
  /// interrupted.
  [[nodiscard]] bool goes_on() {
    ctx_.check_stop();
    if (ended_) return false;
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
  /// The iteration ends here for a reason of its own: no step can be taken, or its rule says so.
  void end(SolveStatus status) {
    ended_ = true;
    status_ = status;
  }
  /// Another way was found from the best point after an end.
  void resume() {
    ended_ = false;
    progress();
  }

  [[nodiscard]] double merit() const { return merit_; }
  [[nodiscard]] long iterations() const { return iterations_; }
  [[nodiscard]] SolveStatus status() const { return status_; }
  void report(SolveInfo& info) const {
    info.status = status_;
    info.iterations = iterations_;
  }

 private:
  Limits limits_;
  const RunContext& ctx_;
  bool offered_ = false;
  bool ended_ = false;
  double merit_ = std::numeric_limits<double>::infinity();
  double least_ = std::numeric_limits<double>::infinity();    // of the complementarity
  double at_best_ = std::numeric_limits<double>::infinity();  // the same at the best point
  long iterations_ = 0;
  long progress_at_ = 0;
  SolveStatus status_ = SolveStatus::kNumericalFailure;
};

}  // namespace kith::engine
