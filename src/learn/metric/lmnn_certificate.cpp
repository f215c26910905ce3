// SPDX-License-Identifier: Apache-2.0
// The dual of the program (neighbour_maps.hpp) in multipliers t of its triples (i, j, l), with
// C_ij = (x_i - x_j)(x_i - x_j)':
//
//   max sum t,   0 <= t <= push,   G(t) = P + sum t (C_ij - C_il) >= 0,   P = (1 - push) sum C_ij.
//
// Multipliers for a given M come from its proximal step,
//
//   min_t  -sum t + |[M - rho G(t)]_+|^2 / (2 rho)   over the box,
//
// by accelerated gradient steps; where M is optimal, the minimiser solves the dual. Whatever t they
// end with, s t is feasible for the largest s <= 1 with (1 - s) P + s G(t) >= 0, and s sum t is a
// lower bound.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/learn/metric/neighbour_maps.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "learn/metric/pair_scatter.hpp"

namespace kith {
namespace {

constexpr Index kMostTriples = 20'000'000;  // several numbers are held for each
constexpr int kBoundEvery = 20;             // steps
constexpr int kPowerSteps = 30;             // for the norm of t -> sum t (C_ij - C_il)
constexpr double kSafety = 1.05;            // of that norm
constexpr double kSmallestPull = 1e-12;     // of the largest eigenvalue: P holds the direction

/// The triples of a program, in a fixed order.
class Triples {
 public:
  explicit Triples(const LmnnProblem& problem) : problem_(problem) {
    const Index n = problem.X.rows();
    for (Index i = 0; i < n; ++i) {
      starts_.push_back(count_);
      Index others = 0;
      for (Index l = 0; l < n; ++l) others += class_of(l) != class_of(i);
      count_ += others * std::ssize(targets(i));
    }
  }

  [[nodiscard]] Index count() const { return count_; }

  /// Calls visit(triple, i, j, l) for each.
  template <class Visit>
  void each(const Visit& visit) const {
    for (Index i = 0; i < problem_.X.rows(); ++i) {
      Index at = starts_[static_cast<std::size_t>(i)];
      for (const Index j : targets(i)) {
        for (Index l = 0; l < problem_.X.rows(); ++l) {
          if (class_of(l) != class_of(i)) visit(at++, i, j, l);
        }
      }
    }
  }

  /// d(i, j) - d(i, l) of each triple.
  [[nodiscard]] Vector differences(const Matrix& D) const {
    Vector v(count_);
    each([&](Index at, Index i, Index j, Index l) { v(at) = D(i, j) - D(i, l); });
    return v;
  }

  /// sum t (C_ij - C_il) + pull sum C_ij.
  [[nodiscard]] Matrix sum(const Vector& t, double pull) const {
    const Index n = problem_.X.rows();
    Matrix W = Matrix::Zero(n, n);
    for (Index i = 0; i < n; ++i) {
      for (const Index j : targets(i)) W(i, j) += pull;
    }
    each([&](Index at, Index i, Index j, Index l) {
      W(i, j) += t(at);
      W(i, l) -= t(at);
    });
    return detail::pair_scatter(problem_.X, W);
  }

  /// (x_i - x_j)'S(x_i - x_j) of all pairs.
  [[nodiscard]] Matrix forms(const Matrix& S) const {
    const Matrix P = problem_.X * S * problem_.X.transpose();
    Matrix D = -2 * P;
    D.colwise() += P.diagonal();
    D.rowwise() += P.diagonal().transpose();
    return D;
  }

 private:
  [[nodiscard]] int class_of(Index i) const {
    return problem_.classes[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const std::vector<Index>& targets(Index i) const {
    return problem_.targets[static_cast<std::size_t>(i)];
  }

  const LmnnProblem& problem_;
  std::vector<Index> starts_;
  Index count_ = 0;
};

/// By its definition.
double primal_value(const LmnnProblem& problem, const Triples& triples, const MatrixRef& L) {
  const Matrix images = problem.X * L.transpose();
  const auto distance = [&](Index i, Index j) {
    return (images.row(i) - images.row(j)).squaredNorm();
  };
  double pulled = 0;
  for (Index i = 0; i < images.rows(); ++i) {
    for (const Index j : problem.targets[static_cast<std::size_t>(i)]) pulled += distance(i, j);
  }
  double pushed = 0;
  triples.each([&](Index /*at*/, Index i, Index j, Index l) {
    pushed += std::max(0.0, 1 + distance(i, j) - distance(i, l));
  });
  return (1 - problem.push) * pulled + problem.push * pushed;
}

/// s sum t, as the head of the file has it.
double dual_bound(const Matrix& P, const Matrix& G, const Vector& t) {
  if (P.rows() == 0) return t.sum();
  const SymmetricEigen pull = symmetric_eigen(P);
  const Index r = P.rows();
  const double largest = pull.lambda(r - 1);
  if (!(pull.lambda(0) > kSmallestPull * largest)) {
    return symmetric_eigen(G).lambda(0) >= 0 ? t.sum() : 0;
  }
  const Matrix root = pull.U * pull.lambda.cwiseSqrt().cwiseInverse().asDiagonal();
  const double least = symmetric_eigen(root.transpose() * G * root).lambda(0);
  return t.sum() / (1 + std::max(0.0, -least));
}

/// The largest singular value, squared, of t -> sum t (C_ij - C_il).
double squared_norm(const Triples& triples) {
  Vector t = Vector::Ones(triples.count());
  double square = 0;
  for (int step = 0; step < kPowerSteps; ++step) {
    const double size = t.norm();
    if (!(size > 0)) return 0;
    t = triples.differences(triples.forms(triples.sum(t / size, 0)));
    square = t.norm();
  }
  return kSafety * square;
}

}  // namespace

LmnnCertificate certify_lmnn(const LmnnProblem& problem, const MatrixRef& L, long steps,
                             const RunContext& ctx) {
  const Triples triples(problem);
  const Matrix M = L.transpose() * L;
  LmnnCertificate found;
  found.primal = primal_value(problem, triples, L);
  if (triples.count() == 0) {
    found.gap = found.primal;  // the optimum is M = 0
    found.gap /= std::max(1.0, found.primal);
    found.moved = Matrix::Zero(M.rows(), M.cols());
    return found;
  }
  if (triples.count() > kMostTriples) {
    found.gap = found.kkt_residual = std::numeric_limits<double>::quiet_NaN();
    return found;
  }
  const double pull = 1 - problem.push;
  const Matrix P = triples.sum(Vector::Zero(triples.count()), pull);
  const double rho = P.norm() > 0 && M.norm() > 0 ? M.norm() / P.norm() : 1;
  const double lipschitz = rho * squared_norm(triples);
  const Vector slack = triples.differences(triples.forms(M)).array() + 1;
  Vector t = (slack.array() > 0).select(Vector::Constant(slack.size(), problem.push), 0.0);
  Vector ahead = t;
  double inertia = 1;
  for (long step = 0; step <= steps; ++step) {
    ctx.check_stop();
    if (step % kBoundEvery == 0) {
      const Matrix G = triples.sum(t, pull);
      found.moved = positive_part(M - rho * G);
      found.bound = std::max(found.bound, dual_bound(P, G, t));
      const double size = std::max(M.norm(), found.moved.norm());
      found.kkt_residual = size > 0 ? (M - found.moved).norm() / size : 0;
      if (!(found.primal - found.bound > kLmnnTolerance * std::max(1.0, found.primal))) break;
    }
    const Matrix moved = positive_part(M - rho * triples.sum(ahead, pull));
    const Vector violation = triples.differences(triples.forms(moved)).array() + 1;
    Vector next = (ahead + violation / lipschitz).cwiseMax(0.0).cwiseMin(problem.push);
    const double before = inertia;
    inertia = (1 + std::sqrt(1 + 4 * inertia * inertia)) / 2;
    if ((next - ahead).dot(next - t) < 0) inertia = 1;  // it has swung past: begin anew
    ahead = next + (inertia > 1 ? (before - 1) / inertia : 0) * (next - t);
    ahead = ahead.cwiseMax(0.0).cwiseMin(problem.push);
    t = std::move(next);
  }
  found.gap = (found.primal - found.bound) / std::max(1.0, found.primal);
  return found;
}

}  // namespace kith
