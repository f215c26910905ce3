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

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/numerics/psd.hpp"
#include "optim/engine/interior.hpp"
#include "optim/trace/loop.hpp"

namespace kith::trace {
namespace {

struct Iterate {
  Vector a, s, z, v, gamma;
  std::vector<Matrix> K, X;
  double b = 0;
  [[nodiscard]] double products() const {
    return static_cast<double>(2 * a.size() + std::ssize(K) * a.size());
  }
  [[nodiscard]] double complementarity() const {
    double sum = a.dot(z) + s.dot(v);
    for (std::size_t i = 0; i < K.size(); ++i) sum += K[i].cwiseProduct(X[i]).sum();
    return sum / products();
  }
};

struct Step {
  Vector a, z, v, gamma;
  std::vector<Matrix> K, X;
  double b = 0;  // the new b, not a difference
};

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

/// 2c (K - V) - G, the slope in K_i of everything but its barrier.
Matrix slope(const Dual& dual, const std::vector<Matrix>& V, const Iterate& at, Index i) {
  const auto k = static_cast<std::size_t>(i);
  const Vector u = dual.y.cwiseProduct(at.a);
  Matrix g = 2 * dual.c(i) * (at.K[k] - V[k]);
  g.noalias() -= u * (u / (2 * at.gamma(i))).transpose();
  return g;
}

Iterate start_iterate(const Dual& dual, const std::vector<Matrix>& V) {
  const Index n = dual.y.size();
  const Index m = dual.c.size();
  Iterate at;
  at.a = engine::box_centre(dual.cost, dual.y);
  at.gamma = Vector::Constant(m, 1.0 / static_cast<double>(m));
  for (const Block& block : dual.blocks) {
    at.K.emplace_back(Matrix::Identity(n, n) * (block.trace() / static_cast<double>(n)));
  }
  // Where the box is much larger than the answer, its middle is far outside.
  while (at.a.sum() < dual.y.cwiseProduct(at.a).dot(evaluate(dual, at.a, at.gamma, at.K).f)) {
    at.a *= 0.3;
  }
  at.s = dual.cost - at.a;
  const Machine machine = evaluate(dual, at.a, at.gamma, at.K);
  const Vector gradient = 1 - dual.y.cwiseProduct(machine.f).array();
  const double mean =
      std::max(at.a.dot(gradient.cwiseAbs()) / static_cast<double>(n), 1e-8 * at.a.mean());
  at.z = (-gradient).cwiseMax(0.0).array() + mean / at.a.array();
  at.v = gradient.cwiseMax(0.0).array() + mean / at.s.array();
  for (Index i = 0; i < m; ++i) {
    Matrix X = slope(dual, V, at, i);
    const double k = at.K[static_cast<std::size_t>(i)](0, 0);
    X.diagonal().array() += mean / k - symmetric_eigenvalues(X).minCoeff();
    at.X.push_back(std::move(X));
  }
  return at;
}

/// Nesterov and Todd's scaling of one pair of matrices, and what the step lengths need.
struct ConeScaling {
  Matrix Q;
  Vector omega;
  Matrix E;
  Matrix inverse;  // of K
  Eigen::LLT<Matrix> K, X;
  bool ok = false;
};

ConeScaling scaling_of(const Matrix& K, const Matrix& X, double c) {
  ConeScaling scaling;
  const Index n = K.rows();
  scaling.K.compute(K);
  scaling.X.compute(X);
  if (scaling.K.info() != Eigen::Success || scaling.X.info() != Eigen::Success) return scaling;
  const Matrix L = scaling.K.matrixL();
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
  scaling.inverse = symmetric_part(scaling.K.solve(Matrix::Identity(n, n)));
  scaling.ok = true;
  return scaling;
}

/// The largest t with A + t dA >= 0, by the factor of A.
double largest_step(const Eigen::LLT<Matrix>& A, const Matrix& dA) {
  Matrix B = A.matrixL().solve(dA);
  B = A.matrixL().solve(Matrix(B.transpose()));
  if (!B.allFinite()) return 0;
  const double least = symmetric_eigenvalues(symmetric_part(B)).minCoeff();
  return least < 0 ? -1 / least : std::numeric_limits<double>::infinity();
}

/// The Newton system at one iterate, factored.
class KktSystem {
 public:
  KktSystem(const Dual& dual, const std::vector<Matrix>& V, const Iterate& at)
      : dual_(dual),
        at_(at),
        machine_(evaluate(dual, at.a, at.gamma, at.K)),
        n_(at.a.size()),
        m_(at.gamma.size()) {
    A_ = Matrix::Zero(n_ + m_, n_ + m_);
    for (Index i = 0; i < m_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      scalings_.push_back(scaling_of(at.K[k], at.X[k], dual.c(i)));
      if (!scalings_.back().ok) return;
      slopes_.push_back(slope(dual, V, at, i));
      add_matrix(i);
    }
    A_.diagonal().head(n_) += at.z.cwiseQuotient(at.a) + at.v.cwiseQuotient(at.s);
    E_ = Matrix::Zero(n_ + m_, 2);
    E_.col(0).head(n_) = dual.y;
    E_.col(1).tail(m_).setOnes();
    factor_.compute(A_);
    if (factor_.info() != Eigen::Success) return;
    AE_ = factor_.solve(E_);
    corner_.compute(E_.transpose() * AE_);
    ok_ = true;
  }
  [[nodiscard]] bool ok() const { return ok_; }

  /// Towards the products `target`.
  [[nodiscard]] Step solve(double target) const {
    const Vector t1 = target / at_.a.array();
    const Vector t2 = target / at_.s.array();
    Vector right(n_ + m_);
    right.head(n_) = 1 - dual_.y.cwiseProduct(machine_.f).array();
    right.head(n_) += t1 - t2;
    right.tail(m_) = 0.5 * machine_.ratio;
    Step step;
    for (Index i = 0; i < m_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      // dK for d(a, gamma) = 0, in the basis Q.
      const Matrix r = turned(i, target * scalings_[k].inverse - slopes_[k]);
      step.K.push_back(respond(i, r, dual_.blocks[k].trace() - at_.K[k].trace()));
      subtract_pull(i, step.K[k], right);
    }
    const Vector Ar = factor_.solve(right);
    const Vector multipliers = corner_.solve(E_.transpose() * Ar);
    const Vector d = Ar - AE_ * multipliers;
    step.b = multipliers(0);
    step.a = d.head(n_);
    step.a -= dual_.y * (dual_.y.dot(step.a) / static_cast<double>(n_));  // rounding of y'a
    step.gamma = d.tail(m_);
    step.z = t1 - at_.z - at_.z.cwiseQuotient(at_.a).cwiseProduct(step.a);
    step.v = t2 - at_.v + at_.v.cwiseQuotient(at_.s).cwiseProduct(step.a);
    for (Index i = 0; i < m_; ++i) finish_kernel(i, target, step);
    return step;
  }

  [[nodiscard]] double length(const Step& d, double fraction) const {
    constexpr double kGammaFraction = 0.7;  // 1 / gamma is far from its quadratic model near 0
    double longest = std::min({engine::largest_step(at_.a, d.a), engine::largest_step(at_.s, -d.a),
                               engine::largest_step(at_.z, d.z), engine::largest_step(at_.v, d.v)});
    for (std::size_t i = 0; i < scalings_.size(); ++i) {
      longest = std::min(
          {longest, largest_step(scalings_[i].K, d.K[i]), largest_step(scalings_[i].X, d.X[i])});
    }
    return std::min(
        {1.0, fraction * longest, kGammaFraction * engine::largest_step(at_.gamma, d.gamma)});
  }

 private:
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
    const Vector q = scaling.Q.transpose() * dual_.y.cwiseProduct(step.a);
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
  void add_matrix(Index i) {
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
    A_.topLeftCorner(n_, n_).noalias() += YQB * YQ.transpose();
    A_.topLeftCorner(n_, n_) += dual_.y.asDiagonal() * (at_.K[k] / gamma) * dual_.y.asDiagonal();
    const double mean = e.dot(squares) / sum;
    const Vector side = (ep * mean - p.cwiseProduct(Es) / gamma) / (2 * gamma * gamma);
    const Vector cross = YQ * side - dual_.y.cwiseProduct(machine_.Ku.col(i)) / (gamma * gamma);
    A_.col(n_ + i).head(n_) = cross;
    A_.row(n_ + i).head(n_) = cross.transpose();
    A_(n_ + i, n_ + i) = machine_.ratio(i) / gamma + (squares.dot(Es) - sum * mean * mean) /
                                                         (4 * gamma * gamma * gamma * gamma);
  }

  const Dual& dual_;
  const Iterate& at_;
  Machine machine_;
  Index n_, m_;
  std::vector<ConeScaling> scalings_;
  std::vector<Matrix> slopes_;
  Matrix A_, E_, AE_;
  Eigen::LLT<Matrix> factor_;
  Eigen::FullPivLU<Matrix> corner_;
  bool ok_ = false;
};

Iterate moved(const Dual& dual, Iterate at, const Step& d, double length) {
  at.a += length * d.a;
  at.s = dual.cost - at.a;
  at.z += length * d.z;
  at.v += length * d.v;
  for (std::size_t i = 0; i < at.K.size(); ++i) {
    at.K[i] += length * d.K[i];
    at.X[i] += length * d.X[i];
  }
  at.b += length * (d.b - at.b);
  at.gamma += length * d.gamma;
  at.gamma /= at.gamma.sum();
  return at;
}

/// Mehrotra's rule for the target, but for products far below their share of `difference`, the
/// distance of the bounds: what is left then is a residual of the equations, and smaller products
/// would only block the steps that remove it.
Iterate next_iterate(const Dual& dual, const KktSystem& kkt, double difference, const Iterate& at) {
  constexpr double kShare = 0.02;
  constexpr double kStepFraction = 0.95;
  const Step affine = kkt.solve(0);
  const Iterate ahead = moved(dual, at, affine, kkt.length(affine, 1));
  const double now = at.complementarity();
  const double ratio = std::clamp(ahead.complementarity() / now, 0.0, 1.0);
  double target = ratio * ratio * ratio * now;
  if (std::isfinite(difference)) {
    target = std::max(target, std::min(now, kShare * difference / at.products()));
  }
  const Step step = kkt.solve(target);
  return moved(dual, at, step, kkt.length(step, kStepFraction));
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

DualSolution describe(const Dual& dual, const std::vector<Matrix>& V, const Iterate& at) {
  DualSolution now;
  now.alpha = at.a;
  now.gamma = at.gamma;
  now.b = at.b;
  std::vector<Matrix> K;
  for (std::size_t i = 0; i < at.K.size(); ++i) {
    K.emplace_back(at.K[i] * (dual.blocks[i].trace() / at.K[i].trace()));
  }
  const Machine machine = evaluate(dual, at.a, at.gamma, K);
  now.machine = at.a.sum() - 0.5 * machine.ratio.dot(at.gamma);
  const Vector margins = dual.y.array() * (machine.f.array() + at.b);
  now.difference = 0.5 * machine.ratio.maxCoeff() - now.machine +
                   dual.cost.dot((1 - margins.array()).cwiseMax(0.0).matrix());
  for (std::size_t i = 0; i < K.size(); ++i) {
    const double c = dual.c(static_cast<Index>(i));
    const Block& block = dual.blocks[i];
    const Vector w = machine.u / std::sqrt(at.gamma(static_cast<Index>(i)));
    const BlockPoint best = block.at(w, c);
    const Matrix U = block.V().U * best.M.W;
    const Matrix P = reconstruct(U, best.k);
    const Matrix below = reconstruct(U, (-best.excess).cwiseMax(0.0));
    now.difference +=
        c * ((K[i] - P).squaredNorm() + 2 * std::max(0.0, K[i].cwiseProduct(below).sum()));
    now.penalty += c * (K[i] - V[i]).squaredNorm();
  }
  // The optimum of the machine is above 0: a point that is not is far from it.
  if (!(now.machine > 0)) now.difference = std::numeric_limits<double>::infinity();
  return now;
}

class Method {
 public:
  explicit Method(const Dual& dual)
      : dual_(dual), V_(matrices_of(dual)), at_(start_iterate(dual, V_)) {}

  [[nodiscard]] double complementarity() const { return at_.complementarity(); }
  [[nodiscard]] DualSolution describe() const {
    DualSolution now = trace::describe(dual_, V_, at_);
    for (std::size_t i = 0; i < at_.K.size(); ++i) {
      now.points.push_back(point_of(dual_.blocks[i], at_.K[i]));
    }
    return now;
  }

  bool advance(double difference) {
    const KktSystem kkt(dual_, V_, at_);
    if (!kkt.ok()) return false;
    Iterate next = next_iterate(dual_, kkt, difference, at_);
    bool finite = next.a.allFinite() && next.gamma.allFinite();
    for (const Matrix& K : next.K) finite = finite && K.allFinite();
    if (finite) at_ = std::move(next);
    return finite;
  }

 private:
  static std::vector<Matrix> matrices_of(const Dual& dual) {
    std::vector<Matrix> V;
    for (const Block& block : dual.blocks) {
      V.push_back(reconstruct(block.V().U, block.V().lambda));
    }
    return V;
  }

  const Dual& dual_;
  std::vector<Matrix> V_;
  Iterate at_;
};

}  // namespace

DualSolution barrier(const Dual& dual, double tolerance, const RunContext& ctx) {
  Method method(dual);
  return run_to_difference(method, tolerance, ctx);
}

}  // namespace kith::trace
