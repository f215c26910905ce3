// SPDX-License-Identifier: Apache-2.0
// The optimum of the program (neighbour_maps.hpp), and the bound of its dual: in multipliers t of
// the triples (i, j, l), with C_ij = (x_i - x_j)(x_i - x_j)',
//
//   max sum t,   0 <= t <= push,   G(t) = P + sum t (C_ij - C_il) >= 0,   P = (1 - push) sum C_ij.
//
// The hinge of a triple with violation z is rounded over a width h: z^2 / (2h) for 0 < z < h, and
// z - h/2 above. The rounded program has the gradient G(t) with t = push min(1, max(0, z / h)), and
// is solved by accelerated projected gradient steps (Beck, Teboulle 2009) that begin anew where
// they swing past; h falls as the gap does. Whatever t a step has, s t is feasible for the largest
// s <= 1 with (1 - s) P + s G(t) >= 0, and s sum t is a lower bound.
//
// All of it happens in coordinates where P is the identity. The cone of metrics is the same in all
// coordinates, and in these the pull is as strong in every direction.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kith/core/parallel.hpp"
#include "kith/learn/metric/neighbour_maps.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "learn/metric/pair_scatter.hpp"

namespace kith {
namespace {

constexpr double kFirstWidth = 1;  // the margin
constexpr double kNarrower = 1.0 / 3;
constexpr double kRoundingShare = 0.25;  // of the gap: then it is the rounding that keeps it open
constexpr int kBoundEvery = 10;          // steps
constexpr double kFirstStep = 0.1;       // of the metric
constexpr double kStepGrowth = 1.1;
constexpr double kSmallestStep = 1e-300;
constexpr double kRounding = 1e-12;      // of the value, in the test of a step, and of the gap
constexpr double kLeastPull = 1e-10;     // of the largest: coordinates are stretched no further
constexpr double kSmallestPull = 1e-12;  // of the largest: P holds the direction

/// The rounded program at a metric.
struct Rounded {
  double value = 0;
  double exact = 0;        // without the rounding
  double multipliers = 0;  // sum t
  Matrix gradient;         // G(t)
};

class RoundedProgram {
 public:
  RoundedProgram(const LmnnProblem& problem, Matrix X) : problem_(problem), X_(std::move(X)) {}

  [[nodiscard]] Rounded at(const Matrix& M, double width, const RunContext& ctx) const {
    const Index n = X_.rows();
    Matrix D = X_ * M * X_.transpose();
    const Vector squares = D.diagonal();
    D *= -2;
    D.colwise() += squares;
    D.rowwise() += squares.transpose();
    Matrix W = Matrix::Zero(n, n);
    std::vector<Rounded> parts(static_cast<std::size_t>(n));
    parallel_for(parts.size(), ctx.threads, [&](std::size_t i) {
      ctx.check_stop();
      add_sample(static_cast<Index>(i), D, width, parts[i], W);
    });
    Rounded sum;
    for (const Rounded& part : parts) {
      sum.value += part.value;
      sum.exact += part.exact;
      sum.multipliers += part.multipliers;
    }
    sum.gradient = detail::pair_scatter(X_, W);
    return sum;
  }

  /// P.
  [[nodiscard]] Matrix pull() const {
    Matrix W = Matrix::Zero(X_.rows(), X_.rows());
    for (Index i = 0; i < X_.rows(); ++i) {
      for (const Index j : targets(i)) W(j, i) += 1 - problem_.push;
    }
    return detail::pair_scatter(X_, W);
  }

 private:
  [[nodiscard]] const std::vector<Index>& targets(Index i) const {
    return problem_.targets[static_cast<std::size_t>(i)];
  }

  /// The terms of sample i; fills column i of W.
  void add_sample(Index i, const Matrix& D, double width, Rounded& part, Matrix& W) const {
    const auto own = problem_.classes[static_cast<std::size_t>(i)];
    const double push = problem_.push;
    for (const Index j : targets(i)) {
      double rounded = 0;
      double exact = 0;
      double multipliers = 0;
      for (Index l = 0; l < D.rows(); ++l) {
        const double z = 1 + D(j, i) - D(l, i);
        if (problem_.classes[static_cast<std::size_t>(l)] == own || z <= 0) continue;
        const double t = std::min(1.0, z / width);
        rounded += z < width ? 0.5 * z * t : z - 0.5 * width;
        exact += z;
        multipliers += t;
        W(l, i) -= push * t;
      }
      W(j, i) += 1 - push + push * multipliers;
      const double pulled = (1 - push) * D(j, i);
      part.value += pulled + push * rounded;
      part.exact += pulled + push * exact;
      part.multipliers += push * multipliers;
    }
  }

  const LmnnProblem& problem_;
  Matrix X_;
};

/// s sum t, as the head of the file has it.
class DualBound {
 public:
  explicit DualBound(const Matrix& P) {
    if (P.rows() == 0) return;
    const SymmetricEigen pull = symmetric_eigen(P);
    if (!(pull.lambda(0) > kSmallestPull * pull.lambda(P.rows() - 1))) return;
    root_ = pull.U * pull.lambda.cwiseSqrt().cwiseInverse().asDiagonal();
  }

  [[nodiscard]] double at(const Rounded& point) const {
    if (point.gradient.rows() == 0) return point.multipliers;
    if (!root_) {  // nothing holds a direction that the push lets go
      return symmetric_eigenvalues(point.gradient)(0) >= 0 ? point.multipliers : 0;
    }
    const double least = symmetric_eigenvalues(root_->transpose() * point.gradient * *root_)(0);
    return point.multipliers / (1 + std::max(0.0, -least));
  }

 private:
  std::optional<Matrix> root_;
};

/// Rows x become x B, in which the pull is the identity; a metric M becomes B^-1 M B^-T.
struct Coordinates {
  Matrix B, inverse;
};
Coordinates coordinates_of(const Matrix& P) {
  const Index r = P.rows();
  if (r == 0) return {P, P};
  const SymmetricEigen pull = symmetric_eigen(P);
  const double largest = pull.lambda(r - 1);
  if (!(largest > 0)) return {Matrix::Identity(r, r), Matrix::Identity(r, r)};
  const Vector stretch = pull.lambda.cwiseMax(kLeastPull * largest).cwiseSqrt();
  return {pull.U * stretch.cwiseInverse().asDiagonal(), stretch.asDiagonal() * pull.U.transpose()};
}

Matrix root_of(const Matrix& M) {
  const SymmetricEigen eigen = symmetric_eigen(M);
  return eigen.lambda.cwiseMax(0.0).cwiseSqrt().asDiagonal() * eigen.U.transpose();
}

/// Accelerated steps on the program of one width.
class AcceleratedSteps {
 public:
  AcceleratedSteps(const RoundedProgram& program, Matrix M, const RunContext& ctx)
      : program_(program), ctx_(ctx), M_(std::move(M)), ahead_(M_) {
    const Rounded first = program.at(M_, width_, ctx);
    first_value_ = first.exact;
    const double slope = first.gradient.norm();
    const double size = M_.norm() > 0 ? M_.norm() : 1;
    step_ = slope > 0 ? kFirstStep * size / slope : 1;
  }

  [[nodiscard]] const Matrix& metric() const { return M_; }
  /// Of the exact program, where the steps begin.
  [[nodiscard]] double first_value() const { return first_value_; }

  /// The program at the next metric.
  [[nodiscard]] Rounded advance() {
    const Rounded from = program_.at(ahead_, width_, ctx_);
    Matrix next;
    Rounded there;
    for (; step_ > kSmallestStep; step_ /= 2) {
      next = positive_part(ahead_ - step_ * from.gradient);
      there = program_.at(next, width_, ctx_);
      const Matrix move = next - ahead_;
      const double model =
          from.value + from.gradient.cwiseProduct(move).sum() + move.squaredNorm() / (2 * step_);
      if (there.value <= model + kRounding * std::abs(from.value)) break;
    }
    step_ *= kStepGrowth;
    if ((ahead_ - next).cwiseProduct(next - M_).sum() > 0) inertia_ = 1;  // it has swung past
    const double before = inertia_;
    inertia_ = (1 + std::sqrt(1 + 4 * inertia_ * inertia_)) / 2;
    ahead_ = next + (before - 1) / inertia_ * (next - M_);
    M_ = std::move(next);
    return there;
  }

  void narrow() {
    width_ *= kNarrower;
    step_ /= 2;
    inertia_ = 1;
    ahead_ = M_;
  }

 private:
  const RoundedProgram& program_;
  const RunContext& ctx_;
  Matrix M_, ahead_;
  double first_value_ = 0;
  double width_ = kFirstWidth;
  double step_ = 1;
  double inertia_ = 1;
};

}  // namespace

LmnnSolution solve_lmnn(const LmnnProblem& problem, const MatrixRef& start,
                        const LmnnTolerances& settings, const RunContext& ctx) {
  const Coordinates change = coordinates_of(RoundedProgram(problem, problem.X).pull());
  const RoundedProgram program(problem, problem.X * change.B);
  const DualBound bound(program.pull());
  const Matrix root = start * change.inverse.transpose();
  AcceleratedSteps steps(program, root.transpose() * root, ctx);
  LmnnSolution found;
  Matrix best = steps.metric();
  SolveInfo& info = found.info;
  info.status = SolveStatus::kIterationLimit;
  info.objective = steps.first_value();
  while (info.iterations < settings.max_steps) {
    ctx.check_stop();
    const Rounded point = steps.advance();
    ++info.iterations;
    if (point.exact < info.objective) {
      info.objective = std::max(0.0, point.exact);  // less is rounding
      best = steps.metric();
    }
    if (info.iterations % kBoundEvery != 0) continue;
    found.bound = std::max(found.bound, bound.at(point));
    info.gap = (info.objective - found.bound) / std::max(1.0, info.objective);
    if (std::abs(info.gap) <= kRounding) info.gap = 0;
    if (info.gap <= settings.tolerance) {
      info.status = SolveStatus::kSolved;
      break;
    }
    if (point.exact - point.value > kRoundingShare * (info.objective - found.bound)) {
      steps.narrow();
    }
  }
  found.L = root_of(best) * change.B.transpose();
  return found;
}

}  // namespace kith
