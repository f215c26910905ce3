// SPDX-License-Identifier: Apache-2.0
// A primal-dual interior point on the saddle point of
//
//   1'a - 1/2 sum_i u'K_i u / gamma_i + sum_i c_i |K_i - V_i|^2,    u = Y a,
//
// least in K, largest in (a, gamma). optim/trace/newton projects K away, which leaves a kink in the
// slope of D where an eigenvalue of K_i leaves 0. A kernel of low rank whose features the machine
// satisfies without effort has its gamma just beyond such a kink, along a narrow and bent ridge
// |u|^2 / gamma_i = constant, where Newton's method stalls. Here K has a barrier of its own, as mu
// has in optim/trace/spectral. Notation: s = cost - a; z, v and X_i the multipliers of a >= 0, a <=
// cost and K_i >= 0; t the target of all products; G_i = u u' / (2 gamma_i). With Nesterov and
// Todd's scaling W = Q diag(omega) Q', W X W = K, and E_jk = 1 / (2c + 1 / (omega_j omega_k)), in
// the basis Q
//
//   dK = E .* (r + dG - theta I),    r = t inv(K) - 2c (K - V) + G,    tr dK = trace - tr K,
//   dX = t inv(K) - X - dK / (omega omega'),
//
// and the step in (a, gamma) has the matrix of the machine for fixed K and that of dG -> <dG, dK>.
//
// Bounds: from above the primal of the machine at (a, gamma, b) on the present K; from below D(a,
// gamma), whose kernel is the projection P of M = V + u u' / (4 c gamma). The losses of the two
// differ by c |K - P|^2 + 2c <K, (theta I - M)_+>, without cancellation. Cost per step and kernel:
// two decompositions, four spectra and some products of n x n matrices.
#include "optim/trace/barrier.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/numerics/psd.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/trace/dual_interior.hpp"

namespace kith::trace {
namespace {

/// The machine on the kernels of an iterate.
struct Machine {
  Vector u;
  Matrix Ku;     // columns K_i u
  Vector f;      // sum_i K_i u / gamma_i
  Vector ratio;  // u'K_i u / gamma_i^2
};

Machine evaluate(const Dual& dual, const Vector& a, const Vector& gamma,
                 const std::vector<Matrix>& K) {
  Machine machine;
  machine.u = dual.y.cwiseProduct(a);
  machine.Ku.resize(a.size(), gamma.size());
  machine.ratio.resize(gamma.size());
  for (Index i = 0; i < gamma.size(); ++i) {
    machine.Ku.col(i).noalias() = K[static_cast<std::size_t>(i)] * machine.u;
    machine.ratio(i) = machine.u.dot(machine.Ku.col(i)) / (gamma(i) * gamma(i));
  }
  machine.f = machine.Ku * gamma.cwiseInverse();
  return machine;
}

Matrix symmetric_part(const Matrix& A) { return 0.5 * (A + A.transpose()); }

/// Nesterov and Todd's scaling of one pair of matrices, and what the step lengths need.
struct ConeScaling {
  Matrix Q;
  Vector omega;
  Matrix E;
  Matrix inverse;  // of K
  Matrix K, X;     // Cholesky factors
  bool ok = false;
};

ConeScaling scaling_of(const Matrix& K, const Matrix& X, double c) {
  ConeScaling scaling;
  const Index n = K.rows();
  scaling.K = K;
  scaling.X = X;
  if (!cholesky(scaling.K) || !cholesky(scaling.X)) return scaling;
  const Matrix L = scaling.K.triangularView<Eigen::Lower>();
  Matrix XL = X * L;
  const SymmetricEigen inner = symmetric_eigen(symmetric_part(L.transpose() * XL));
  if (!(inner.lambda.minCoeff() > 0)) return scaling;
  // W = L (L'X L)^(-1/2) L'.
  Matrix LQ = L * inner.U;
  const Vector roots = inner.lambda.cwiseSqrt().cwiseInverse();
  SymmetricEigen W = symmetric_eigen(reconstruct(LQ, roots));
  if (!(W.lambda.minCoeff() > 0)) return scaling;
  scaling.Q = std::move(W.U);
  scaling.omega = std::move(W.lambda);
  const Vector inverses = scaling.omega.cwiseInverse();
  scaling.E = (2 * c + (inverses * inverses.transpose()).array()).inverse();
  scaling.inverse = symmetric_part(back_solve(scaling.K, Matrix(Matrix::Identity(n, n))));
  scaling.ok = true;
  return scaling;
}

/// The largest t with A + t dA >= 0, by the factor L of A.
double largest_step(const Matrix& L, const Matrix& dA) {
  const Matrix B = solve_lower(L, solve_lower(L, dA).transpose());
  if (!B.allFinite()) return 0;
  const double least = symmetric_eigenvalues(symmetric_part(B)).minCoeff();
  return least < 0 ? -1 / least : std::numeric_limits<double>::infinity();
}

/// The kernel in the form of a projected one.
BlockPoint point_of(const Block& block, const Matrix& K) {
  SymmetricEigen eigen = symmetric_eigen(K);
  BlockPoint point;
  point.k = eigen.lambda.cwiseMax(0.0);
  point.k *= block.trace() / point.k.sum();
  point.M.W.noalias() = block.V().U.transpose() * eigen.U;
  return point;
}

class Barrier {
 public:
  struct Step {
    engine::BoxStep box;
    Vector gamma;
    std::vector<Matrix> K, X;
    double b = 0;  // the new b, not a difference
  };

  explicit Barrier(const Dual& dual) : dual_(dual), n_(dual.y.size()), m_(dual.c.size()) {
    at_.gamma = Vector::Constant(m_, 1.0 / static_cast<double>(m_));
    for (const Block& block : dual.blocks) {
      V_.push_back(reconstruct(block.V().U, block.V().lambda));
      at_.K.emplace_back(Matrix::Identity(n_, n_) * (block.trace() / static_cast<double>(n_)));
    }
    Vector a = engine::box_centre(dual.cost, dual.y);
    const auto evaluate_start = [&] { machine_ = evaluate(dual, a, at_.gamma, at_.K); };
    evaluate_start();
    shrink_start(
        dual.y, a, [&] { return machine_.f; }, evaluate_start);
    const double product = engine::start_product(a, gradient());
    at_.box = engine::BoxPoint(dual.cost, a, product);
    at_.box.balance(gradient());
    for (Index i = 0; i < m_; ++i) {
      Matrix X = slope(i);
      const double k = at_.K[static_cast<std::size_t>(i)](0, 0);
      X.diagonal().array() += product / k - symmetric_eigenvalues(X).minCoeff();
      at_.X.push_back(std::move(X));
    }
  }

  double merit() {
    now_ = {.alpha = at_.box.a, .gamma = at_.gamma, .b = at_.b};
    std::vector<Matrix> K;
    for (std::size_t i = 0; i < at_.K.size(); ++i) {
      K.emplace_back(at_.K[i] * (dual_.blocks[i].trace() / at_.K[i].trace()));
      now_.points.push_back(point_of(dual_.blocks[i], at_.K[i]));
    }
    const Machine machine = evaluate(dual_, at_.box.a, at_.gamma, K);
    now_.machine = at_.box.a.sum() - 0.5 * machine.ratio.dot(at_.gamma);
    now_.difference =
        machine_primal(dual_.y, dual_.cost, machine.ratio, machine.f, at_.b) - now_.machine;
    for (std::size_t i = 0; i < K.size(); ++i) {
      const double c = dual_.c(static_cast<Index>(i));
      const Block& block = dual_.blocks[i];
      const Vector w = machine.u / std::sqrt(at_.gamma(static_cast<Index>(i)));
      const BlockPoint best = block.at(w, c);
      const Matrix U = block.V().U * best.M.W;
      const Matrix P = reconstruct(U, best.k);
      const Matrix below = reconstruct(U, (-best.excess).cwiseMax(0.0));
      now_.difference +=
          c * ((K[i] - P).squaredNorm() + 2 * std::max(0.0, K[i].cwiseProduct(below).sum()));
      now_.penalty += c * (K[i] - V_[i]).squaredNorm();
    }
    const double merit = merit_of(now_);
    difference_ = now_.difference;
    return merit;
  }
  void keep() { best_ = std::move(now_); }
  [[nodiscard]] DualSolution& best() { return best_; }

  [[nodiscard]] double complementarity() const {
    double sum = at_.box.products();
    for (std::size_t i = 0; i < at_.K.size(); ++i) sum += at_.K[i].cwiseProduct(at_.X[i]).sum();
    return sum / products();
  }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    double sum = at_.box.products(d.box, length);
    for (std::size_t i = 0; i < at_.K.size(); ++i) {
      const Matrix K = at_.K[i] + length * d.K[i];
      sum += K.cwiseProduct(at_.X[i] + length * d.X[i]).sum();
    }
    return sum / products();
  }
  [[nodiscard]] double least_target(double mu) const {
    return least_product(difference_, mu, products());
  }

  bool factor() {
    Matrix A = Matrix::Zero(n_ + m_, n_ + m_);
    scalings_.clear();
    slopes_.clear();
    for (Index i = 0; i < m_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      scalings_.push_back(scaling_of(at_.K[k], at_.X[k], dual_.c(i)));
      if (!scalings_.back().ok) return false;
      slopes_.push_back(slope(i));
      add_matrix(i, A);
    }
    A.diagonal().head(n_) += engine::BoxEquations(at_.box).diagonal();
    return kkt_.factor(std::move(A), border(dual_.y, m_));
  }

  /// Without the second-order terms: those of the cones would need the scaling's own product.
  [[nodiscard]] Step direction(double target, const Step* /*before*/) const {
    const engine::BoxEquations box(at_.box);
    const auto products = box.right_side(target, nullptr);
    Vector right(n_ + m_);
    right.head(n_) = gradient() + products.pull();
    right.tail(m_) = 0.5 * machine_.ratio;
    Step step;
    for (Index i = 0; i < m_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      // dK for d(a, gamma) = 0, in the basis Q.
      const Matrix r = turned(i, target * scalings_[k].inverse - slopes_[k]);
      step.K.push_back(respond(i, r, dual_.blocks[k].trace() - at_.K[k].trace()));
      subtract_pull(i, step.K[k], right);
    }
    const engine::BorderedSystem::Answer found = kkt_.solve(right);
    step.b = found.m(0);
    step.box.a = found.d.head(n_);
    engine::restore_balance(dual_.y, step.box.a);
    step.gamma = found.d.tail(m_);
    box.complete(products, step.box);
    for (Index i = 0; i < m_; ++i) finish_kernel(i, target, step);
    return step;
  }

  [[nodiscard]] double reach(const Step& d, double fraction) const {
    double longest = at_.box.largest_step(d.box);
    for (std::size_t i = 0; i < scalings_.size(); ++i) {
      longest = std::min(
          {longest, largest_step(scalings_[i].K, d.K[i]), largest_step(scalings_[i].X, d.X[i])});
    }
    return std::min(
        {1.0, fraction * longest, kGammaFraction * engine::largest_step(at_.gamma, d.gamma)});
  }

  bool advance(const Step& d, double length) {
    at_.box.advance(d.box, length);
    for (std::size_t i = 0; i < at_.K.size(); ++i) {
      at_.K[i] += length * d.K[i];
      at_.X[i] += length * d.X[i];
      if (!at_.K[i].allFinite()) return false;
    }
    at_.b += length * (d.b - at_.b);
    at_.gamma += length * d.gamma;
    at_.gamma /= at_.gamma.sum();
    if (!at_.box.a.allFinite() || !at_.gamma.allFinite()) return false;
    machine_ = evaluate(dual_, at_.box.a, at_.gamma, at_.K);
    return true;
  }

 private:
  struct Iterate {
    engine::BoxPoint box;
    Vector gamma;
    std::vector<Matrix> K, X;
    double b = 0;
  };

  [[nodiscard]] double products() const { return at_.box.count() + static_cast<double>(n_ * m_); }
  [[nodiscard]] Vector gradient() const { return 1 - dual_.y.cwiseProduct(machine_.f).array(); }
  /// 2c (K - V) - G, the slope in K_i of everything but its barrier.
  [[nodiscard]] Matrix slope(Index i) const {
    const auto k = static_cast<std::size_t>(i);
    Matrix g = 2 * dual_.c(i) * (at_.K[k] - V_[k]);
    g.noalias() -= machine_.u * (machine_.u / (2 * at_.gamma(i))).transpose();
    return g;
  }
  [[nodiscard]] Matrix turned(Index i, const Matrix& A) const {
    const Matrix& Q = scalings_[static_cast<std::size_t>(i)].Q;
    Matrix AQ = A * Q;
    return Q.transpose() * AQ;
  }
  /// E .* (r - theta I) with trace `missing`.
  [[nodiscard]] Matrix respond(Index i, Matrix r, double missing) const {
    const Matrix& E = scalings_[static_cast<std::size_t>(i)].E;
    const double theta = (E.diagonal().dot(r.diagonal()) - missing) / E.diagonal().sum();
    r.diagonal().array() -= theta;
    return r.cwiseProduct(E);
  }
  /// right -= the slope of <dG, dK> in (a, gamma).
  void subtract_pull(Index i, const Matrix& dK, Vector& right) const {
    const ConeScaling& scaling = scalings_[static_cast<std::size_t>(i)];
    const double gamma = at_.gamma(i);
    const Vector p = scaling.Q.transpose() * machine_.u;
    const Vector dKp = dK * p;
    right.head(n_) -= dual_.y.cwiseProduct(scaling.Q * dKp) / gamma;
    right(n_ + i) += p.dot(dKp) / (2 * gamma * gamma);
  }
  /// The part of dK that follows d(a, gamma), dX, and both back in the basis of the samples.
  void finish_kernel(Index i, double target, Step& step) const {
    const auto k = static_cast<std::size_t>(i);
    const ConeScaling& scaling = scalings_[k];
    const double gamma = at_.gamma(i);
    const Vector p = scaling.Q.transpose() * machine_.u;
    const Vector q = scaling.Q.transpose() * dual_.y.cwiseProduct(step.box.a);
    Matrix dG = p * (q / (2 * gamma)).transpose();
    dG += dG.transpose().eval();
    dG.noalias() -= p * (p * (step.gamma(i) / (2 * gamma * gamma))).transpose();
    const Matrix dK = step.K[k] + respond(i, dG, 0);
    const Vector inverses = scaling.omega.cwiseInverse();
    const Matrix scaled = inverses.asDiagonal() * dK * inverses.asDiagonal();
    step.K[k] = symmetric_part(scaling.Q * dK * scaling.Q.transpose());
    step.X.emplace_back(target * scaling.inverse - at_.X[k] -
                        symmetric_part(scaling.Q * scaled * scaling.Q.transpose()));
  }

  /// The machine for fixed K, and <dG, C dG> of one kernel.
  void add_matrix(Index i, Matrix& A) const {
    const auto k = static_cast<std::size_t>(i);
    const ConeScaling& scaling = scalings_[k];
    const double gamma = at_.gamma(i);
    const Vector p = scaling.Q.transpose() * machine_.u;
    const Vector squares = p.cwiseAbs2();
    const Vector Es = scaling.E * squares;
    const Vector e = scaling.E.diagonal();
    const double sum = e.sum();
    const Vector ep = e.cwiseProduct(p) / gamma;
    // In the basis Q, then turned by Y Q.
    Matrix B = p.asDiagonal() * scaling.E * p.asDiagonal();
    B.diagonal() += Es;
    B /= 2 * gamma * gamma;
    B.noalias() -= ep * (ep / sum).transpose();
    const Matrix YQ = dual_.y.asDiagonal() * scaling.Q;
    Matrix YQB = YQ * B;
    A.topLeftCorner(n_, n_).noalias() += YQB * YQ.transpose();
    A.topLeftCorner(n_, n_) += dual_.y.asDiagonal() * (at_.K[k] / gamma) * dual_.y.asDiagonal();
    const double mean = e.dot(squares) / sum;
    const Vector side = (ep * mean - p.cwiseProduct(Es) / gamma) / (2 * gamma * gamma);
    const Vector cross = YQ * side - dual_.y.cwiseProduct(machine_.Ku.col(i)) / (gamma * gamma);
    A.row(n_ + i).head(n_) = cross.transpose();
    A(n_ + i, n_ + i) = machine_.ratio(i) / gamma +
                        (squares.dot(Es) - sum * mean * mean) / (4 * gamma * gamma * gamma * gamma);
  }

  const Dual& dual_;
  Index n_, m_;
  std::vector<Matrix> V_;
  Iterate at_;
  Machine machine_;
  std::vector<ConeScaling> scalings_;
  std::vector<Matrix> slopes_;
  engine::BorderedSystem kkt_;
  double difference_ = std::numeric_limits<double>::infinity();
  DualSolution now_, best_;
};

}  // namespace

DualSolution barrier(const Dual& dual, double tolerance, const RunContext& ctx) {
  constexpr double kStepFraction = 0.95;
  Barrier problem(dual);
  return run_dual(problem, tolerance, kStepFraction, ctx);
}

}  // namespace kith::trace
