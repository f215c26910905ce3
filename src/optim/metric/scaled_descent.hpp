// SPDX-License-Identifier: Apache-2.0
// The steps of the descent with the scaled projection (10).
#pragma once

#include "kith/optim/metric/problem.hpp"

namespace kith::metric {

/// v -> B B'v for the rows of B, by B itself or by the lower triangle of BB', whichever is shorter
/// to read.
class RowProducts {
 public:
  RowProducts(Matrix B, bool as_square);
  [[nodiscard]] Vector times(const Vector& v) const;
  [[nodiscard]] Vector diagonal() const;
  [[nodiscard]] bool is_square() const { return is_square_; }
  /// Of a square: BB' becomes factor (BB' + EF' + FE').
  void update(const MatrixRef& E, const MatrixRef& F, double factor);

 private:
  Matrix table_;
  bool is_square_;
};

inline constexpr int kMostHalvings = 120;  // shorter steps move nothing

/// A point inside the ball, moved step by step.
class ScaledDescent {
 public:
  ScaledDescent(const linear::SignedSamples& samples, Point start);

  [[nodiscard]] double objective() const { return f_; }
  /// To the first point of the arc that passes Armijo's rule; false where none does.
  [[nodiscard]] bool step();
  /// The point itself. O(r (n + d)) for each step since the last call.
  [[nodiscard]] const Point& point();

 private:
  struct Slope;
  [[nodiscard]] Slope slope() const;
  [[nodiscard]] bool move(const Slope& g, double alpha);
  void remember(const Slope& g, double alpha, double R);
  void catch_up();

  const linear::SignedSamples& samples_;
  Point x_;            // as of the last catch_up; b is always that of now
  RowProducts inner_;  // X X'
  RowProducts outer_;  // (X L')(X L')' as of the last catch_up
  Vector p_, norms_;   // w'L x_i and |L x_i|^2 now
  double ww_ = 0, f_ = 0;

  // Steps since the last catch_up: L is now scale_ times what rank-one terms make of the L there.
  Index pending_ = 0;
  int caught_up_ = 0;
  double scale_ = 1;
  Matrix betas_, E_, F_;
  Vector alphas_, radii_;
};

}  // namespace kith::metric
