// SPDX-License-Identifier: Apache-2.0
#include "optim/robust/point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kith/numerics/psd.hpp"
#include "kith/optim/dual/smo.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"

namespace kith::robust {
namespace {

/// The eigenpairs above the size at which an eigenvalue counts as zero.
SymmetricEigen positive_pairs(const SymmetricEigen& eigen) {
  const double zero = zero_threshold(eigen.lambda);
  const Index count = (eigen.lambda.array() > zero).count();
  return {eigen.lambda.tail(count), eigen.U.rightCols(count)};
}

SymmetricEigen negative_pairs(const SymmetricEigen& eigen) {
  const double zero = zero_threshold(eigen.lambda);
  const Index count = (eigen.lambda.array() < -zero).count();
  return {-eigen.lambda.head(count), eigen.U.leftCols(count)};
}

}  // namespace

SplitMatrix::SplitMatrix(const Problem& problem) {
  SymmetricEigen own;
  if (problem.eigen == nullptr) own = symmetric_eigen(problem.S);
  const SymmetricEigen& eigen = problem.eigen == nullptr ? own : *problem.eigen;
  const SymmetricEigen above = positive_pairs(eigen);
  const SymmetricEigen below = negative_pairs(eigen);
  positive = reconstruct(above.U, above.lambda);
  negative = reconstruct(below.U, below.lambda);
  negative_squares = below.lambda.squaredNorm();
  const double lost = 4 * std::numeric_limits<double>::epsilon() * above.lambda.norm();
  rounding = lost * below.lambda.norm() + lost * lost;
}

double SplitMatrix::excess(const MatrixRef& K) const {
  return (K - positive).squaredNorm() + 2 * K.cwiseProduct(negative).sum();
}

Point point_at(const Problem& problem, const SplitMatrix& split, const VectorRef& alpha) {
  const Vector u = problem.y.cwiseProduct(alpha);
  Matrix M = problem.S;
  M.noalias() += u * (u / (4 * problem.rho)).transpose();
  Point point;
  const SymmetricEigen eigen = symmetric_eigen(std::move(M));
  point.kernel = positive_pairs(eigen);
  point.removed = negative_pairs(eigen);
  point.K = reconstruct(point.kernel.U, point.kernel.lambda);
  point.Ku = point.K * u;
  // K is at least as hard as S_+: the penalty is at most what it gains over it. Where S is so large
  // that the excess is all rounding, that is what is known of it.
  const double gained = 0.5 * (u.dot(point.Ku) - u.dot(split.positive * u));
  point.penalty = std::clamp(problem.rho * split.excess(point.K), 0.0, std::max(0.0, gained));
  point.value = alpha.sum() - 0.5 * u.dot(point.Ku) + point.penalty;
  return point;
}

dual::SvmDual machine_on(const Problem& problem, const MatrixRef& K) {
  return {dual::SymmetricView::dense(K), problem.y, problem.cost, {}};
}

namespace {

/// A machine on K = F F', F = U diag(lambda)^1/2, in the space of F: of decision values K u a large
/// u leaves few digits, of F w with w = F'u it does not.
class FactoredMachine {
 public:
  FactoredMachine(const Problem& problem, const SymmetricEigen& kernel)
      : problem_(problem), F_(kernel.U * kernel.lambda.cwiseSqrt().asDiagonal()) {}

  /// The primal value of w = F'Y alpha, the margins that it misses or exceeds by little met by the
  /// shortest change of w.
  [[nodiscard]] double primal(const VectorRef& alpha) const {
    constexpr int kRounds = 3;
    constexpr double kLittle = 1e-5;
    constexpr double kRidge = 1e-13;  // what it leaves of a margin the next round takes
    Vector w = F_.transpose() * problem_.y.cwiseProduct(alpha);
    Vector f = F_ * w;
    double b = dual::least_loss_intercept(f, problem_.y, problem_.cost);
    double best = value(w, f, b);
    std::vector<Index> near;
    for (Index i = 0; i < f.size(); ++i) {
      if (std::abs(problem_.y(i) - f(i) - b) <= kLittle) near.push_back(i);
    }
    if (near.empty()) return best;
    const Matrix rows = F_(near, Eigen::all);
    Matrix G = rows * rows.transpose();
    const double unit = G.diagonal().mean();  // of b
    G.array() += unit;
    G.diagonal().array() += kRidge * G.trace();
    if (!cholesky(G)) return best;
    for (int round = 0; round < kRounds; ++round) {
      const Vector missing = (problem_.y - f)(near).array() - b;
      const Vector change = back_solve(G, missing);
      w += rows.transpose() * change;
      b += unit * change.sum();
      f.noalias() = F_ * w;
      const double now = value(w, f, b);
      if (now < best) best = now;
    }
    return best;
  }

 private:
  [[nodiscard]] double value(const Vector& w, const Vector& f, double b) const {
    const Vector margins = problem_.y.array() * (f.array() + b);
    return engine::best_primal(problem_.cost, w.squaredNorm(), margins);
  }

  const Problem& problem_;
  Matrix F_;
};

/// 1'a - 1/2 u'Ku on a kernel given by its eigenpairs.
double factored_dual(const Problem& problem, const SymmetricEigen& kernel, const VectorRef& alpha) {
  const Vector turned = kernel.U.transpose() * problem.y.cwiseProduct(alpha);
  return alpha.sum() - 0.5 * kernel.lambda.dot(turned.cwiseAbs2());
}

}  // namespace

MachineBound machine_bound(const Problem& problem, const Point& point, const VectorRef& alpha,
                           const RunContext& ctx) {
  const dual::SvmDual machine = machine_on(problem, point.K);
  const dual::SmoSolution best =
      dual::smo(machine, {.tolerance = 1e-9, .gap_tolerance = 1e-10}, ctx, Vector(alpha));
  double primal = certify(machine, best.alpha, best.b).primal;
  if (point.kernel.lambda.size() > 0) {
    const FactoredMachine factored(problem, point.kernel);
    for (const double other : {factored.primal(alpha), factored.primal(best.alpha)}) {
      if (other < primal) primal = other;
    }
  }
  return {best.b, primal + point.penalty};
}

Vector costs_in_ball(const Vector& cost, double radius, double nearest) {
  constexpr double kClear = 4;  // no bound is near
  if (!(radius > nearest)) return cost;
  const double most = std::sqrt(static_cast<double>(cost.size())) / (radius - nearest);
  return cost.cwiseMin(kClear * most);
}

double norm_bound_loss(double sum, double uKu, double rho, double distance, double weight) {
  // Z = r 2 rho (K - S) has Z - t^2 u u' / 2 = r 2 rho M_- + (r - t^2) u u' / 2 >= 0 for r >= t^2:
  // for |Z| <= weight it bounds the inner minimum at t alpha by -<Z, S> = r (pull distance -
  // uKu/2).
  const double pull = 2 * rho * distance;
  const double most = weight / pull;
  const double quadratic = 0.5 * uKu - pull * distance;
  double t = std::min(1.0, std::sqrt(most));
  if (quadratic <= 0) return (1 - t) * sum - 0.5 * (1 - most) * uKu;  // r = most
  t = std::min(t, sum / (2 * quadratic));
  return (1 - t) * sum - 0.5 * (1 - t * t) * uKu + distance * (weight - t * t * pull);
}

Evidence evidence_at(const Problem& problem, const SplitMatrix& split, const VectorRef& alpha,
                     const Matrix& witness, const RunContext& ctx) {
  Evidence e{.point = point_at(problem, split, alpha)};
  const MachineBound bound = machine_bound(problem, e.point, alpha, ctx);
  e.b = bound.b;
  e.primal = bound.upper - e.point.penalty;
  const dual::SvmCertificate machine = certify(machine_on(problem, e.point.K), alpha, e.b);
  e.kkt_residual = machine.kkt_residual;
  e.feasibility = machine.feasibility;
  // The machine's own difference has no part of the penalty in it, whose digits may be lost.
  e.difference = e.primal - factored_dual(problem, e.point.kernel, alpha);
  if (witness.size() > 0) {
    Point other;
    other.K = positive_part(witness);
    other.penalty = problem.rho * std::max(0.0, split.excess(other.K));
    const double upper = machine_bound(problem, other, alpha, ctx).upper;
    const double lost = problem.rho * split.rounding;
    e.difference = std::min(e.difference, std::max(0.0, upper - e.point.value) + lost);
  }
  constexpr double kDigits = 64 * std::numeric_limits<double>::epsilon();
  e.rounding = kDigits * (alpha.cwiseAbs().sum() + std::abs(machine.quadratic) + e.primal);
  return e;
}

double proved_gap(double value, double difference, double rounding) {
  if (difference < 0 && difference >= -rounding) return 0.0;
  const double size = std::max(std::abs(value), std::abs(value + difference));
  return size > 0 ? difference / size : 0.0;
}

Solution finish(const Problem& problem, const SplitMatrix& split, const VectorRef& alpha,
                Matrix witness, const RunContext& ctx) {
  Evidence e = evidence_at(problem, split, alpha, witness, ctx);
  Solution solution;
  solution.alpha = alpha;
  solution.b = e.b;
  solution.rho = problem.rho;
  solution.distance = (e.point.K - problem.S).norm();
  solution.offset = problem.rho * split.negative_squares;
  solution.info.objective = e.point.value + solution.offset;
  solution.info.gap = proved_gap(e.point.value, e.difference, e.rounding);
  solution.info.kkt_residual = e.kkt_residual;
  solution.kernel = std::move(e.point.kernel);
  solution.witness = std::move(witness);
  return solution;
}

SolveStatus proved_status(const SolveInfo& info, double tolerance, SolveStatus status) {
  constexpr double kHair = 1 + 1e-6;      // a solver that stops at its tolerance is at it
  constexpr double kContradiction = 0.1;  // of the margin: a gap of 1e-5 leaves a tenth of that
  return measured_status(
      status, std::abs(info.gap) <= kHair * tolerance && info.kkt_residual <= kContradiction);
}

}  // namespace kith::robust
