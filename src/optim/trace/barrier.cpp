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
// two decompositions, four spectra and some products of n x n matrices; next to kernels of low rank
// also singular values.
//
// The engine's patience does not see when a scaling is at rounding: the products still fall there,
// and only the bounds no longer do. So this problem counts its steps without a better bound itself.
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/numerics/psd.hpp"
#include "numerics/cholesky.hpp"
#include "optim/trace/dual_interior.hpp"

namespace kith::trace {
namespace {

Matrix symmetric_part(const Matrix& A) { return 0.5 * (A + A.transpose()); }

/// Nesterov and Todd's scaling of one pair of matrices, and what the step lengths need.
struct ConeScaling {
  Matrix Q;
  Vector omega;
  Matrix E;
  Matrix inverse;            // of K
  Matrix K, X;               // Cholesky factors
  bool at_rounding = false;  // K or X has eigenvalues that its entries do not know
  bool ok = false;
};

ConeScaling scaling_of(const Matrix& K, const Matrix& X, double c) {
  ConeScaling scaling;
  const Index n = K.rows();
  scaling.K = K;
  scaling.X = X;
  if (!cholesky_with_ridge(scaling.K) || !cholesky_with_ridge(scaling.X)) return scaling;
  const Matrix L = scaling.K.triangularView<Eigen::Lower>();
  // W = L (L'X L)^(-1/2) L' with X = R R'. Where the products K X are 1e-16 of |K| |X|, L'(X L) is
  // rounding; R'L is their root and keeps its digits.
  Matrix RL = scaling.X.triangularView<Eigen::Lower>().transpose() * L;
  const SymmetricEigen inner = symmetric_eigen(symmetric_part(RL.transpose() * RL));
  if (!(inner.lambda.minCoeff() > 0)) return scaling;
  const Matrix root = L * inner.U * inner.lambda.array().pow(-0.25).matrix().asDiagonal();
  SymmetricEigen W = symmetric_eigen(symmetric_part(root * root.transpose()));
  constexpr double kDigits = 1e-10;  // of W, beyond which only its root knows the eigenvalues
  if (!(W.lambda.minCoeff() > kDigits * W.lambda.maxCoeff())) {
    const Eigen::BDCSVD<Matrix> svd(root, Eigen::ComputeFullU);
    W = {svd.singularValues().cwiseAbs2(), svd.matrixU()};
    if (!(W.lambda.minCoeff() > 0)) return scaling;
    scaling.at_rounding = true;
  }
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

class Barrier : public DualInterior {
 public:
  struct Step : MachineStep {
    std::vector<Matrix> K, X;
  };

  explicit Barrier(const Dual& dual)
      : DualInterior(dual.y, dual.cost, dual.c.size(), dual.c.size(), nullptr),
        dual_(dual),
        m_(dual.c.size()) {
    for (const Block& block : dual.blocks) {
      V_.push_back(reconstruct(block.V().U, block.V().lambda));
      K_.emplace_back(Matrix::Identity(n_, n_) * (block.trace() / static_cast<double>(n_)));
    }
    const double product = begin(nullptr, [&](const Vector& a) { machine_ = evaluate(a, K_); });
    for (Index i = 0; i < m_; ++i) {
      Matrix X = slope(i);
      const double k = K_[static_cast<std::size_t>(i)](0, 0);
      X.diagonal().array() += product / k - symmetric_eigenvalues(X).minCoeff();
      X_.push_back(std::move(X));
    }
  }

  double merit() {
    // Norms as those who take the kernels will find them: next to a gamma_i of 1e-7 the matrix
    // leaves u'K_i u / gamma_i^2 three digits, its eigenpairs nearly all.
    std::vector<Matrix> K;
    std::vector<BlockPoint> points;
    for (std::size_t i = 0; i < K_.size(); ++i) {
      K.emplace_back(K_[i] * (dual_.blocks[i].trace() / K_[i].trace()));
      points.push_back(point_of(dual_.blocks[i], K_[i]));
    }
    Machine machine = evaluate(box_.a, K);
    for (std::size_t i = 0; i < K.size(); ++i) {
      const Vector own = dual_.blocks[i].V().U.transpose() * u();
      const Vector p = points[i].M.W.transpose() * own / gamma_(static_cast<Index>(i));
      machine.ratio(static_cast<Index>(i)) = points[i].k.dot(p.cwiseAbs2());
    }
    measure(machine);
    now_.points = std::move(points);
    for (std::size_t i = 0; i < K.size(); ++i) {
      const double c = dual_.c(static_cast<Index>(i));
      const Block& block = dual_.blocks[i];
      const Vector w = u() / std::sqrt(gamma_(static_cast<Index>(i)));
      const BlockPoint best = block.at(w, c);
      const Matrix U = block.V().U * best.M.W;
      const Matrix P = reconstruct(U, best.k);
      const Matrix below = reconstruct(U, (-best.excess).cwiseMax(0.0));
      now_.difference +=
          c * ((K[i] - P).squaredNorm() + 2 * std::max(0.0, K[i].cwiseProduct(below).sum()));
      now_.penalty += c * (K[i] - V_[i]).squaredNorm();
    }
    return merit_of_now();
  }

  [[nodiscard]] double complementarity() const {
    double sum = box_.products();
    for (std::size_t i = 0; i < K_.size(); ++i) sum += K_[i].cwiseProduct(X_[i]).sum();
    return sum / products();
  }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    double sum = box_.products(d.box, length);
    for (std::size_t i = 0; i < K_.size(); ++i) {
      const Matrix K = K_[i] + length * d.K[i];
      sum += K.cwiseProduct(X_[i] + length * d.X[i]).sum();
    }
    return sum / products();
  }
  [[nodiscard]] double least_target(double mu) const { return least_product(mu, products()); }

  bool factor() {
    Matrix A = Matrix::Zero(n_ + m_, n_ + m_);
    scalings_.clear();
    slopes_.clear();
    for (Index i = 0; i < m_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      scalings_.push_back(scaling_of(K_[k], X_[k], dual_.c(i)));
      if (!scalings_.back().ok) return false;
      slopes_.push_back(slope(i));
      add_matrix(i, A);
    }
    return factor_equations(std::move(A));
  }

  /// Without the second-order terms: those of the cones would need the scaling's own product.
  [[nodiscard]] Step direction(double target, const Step* /*before*/) const {
    RightSide right = right_side(target, nullptr);
    Step step;
    for (Index i = 0; i < m_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      // dK for d(a, gamma) = 0, in the basis Q.
      const Matrix r = turned(i, target * scalings_[k].inverse - slopes_[k]);
      step.K.push_back(respond(i, r, dual_.blocks[k].trace() - K_[k].trace()));
      subtract_pull(i, step.K[k], right.all);
    }
    solve(right, step);
    for (Index i = 0; i < m_; ++i) finish_kernel(i, target, step);
    return step;
  }

  [[nodiscard]] double reach(const Step& d, double fraction) const {
    double longest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < scalings_.size(); ++i) {
      longest = std::min(
          {longest, largest_step(scalings_[i].K, d.K[i]), largest_step(scalings_[i].X, d.X[i])});
    }
    return reach_of(d, fraction, longest);
  }

  void keep() {
    DualInterior::keep();
    since_best_ = 0;
  }
  /// At rounding products may still fall where the bounds no longer do.
  [[nodiscard]] bool exhausted() const {
    constexpr int kPatience = 10;
    return since_best_ > kPatience &&
           std::ranges::any_of(scalings_, [](const ConeScaling& s) { return s.at_rounding; });
  }

  bool advance(const Step& d, double length) {
    ++since_best_;
    for (std::size_t i = 0; i < K_.size(); ++i) {
      K_[i] += length * d.K[i];
      X_[i] += length * d.X[i];
      if (!K_[i].allFinite()) return false;
    }
    if (!move(d, length)) return false;
    machine_ = evaluate(box_.a, K_);
    return true;
  }

 private:
  [[nodiscard]] Machine evaluate(const Vector& a, const std::vector<Matrix>& K) const {
    const Vector own = dual_.y.cwiseProduct(a);
    Machine machine{Vector::Zero(n_), Vector(m_)};
    for (Index i = 0; i < m_; ++i) {
      const Vector Ku = K[static_cast<std::size_t>(i)] * own;
      machine.f += Ku / gamma_(i);
      machine.ratio(i) = own.dot(Ku) / (gamma_(i) * gamma_(i));
    }
    return machine;
  }
  [[nodiscard]] Vector u() const { return dual_.y.cwiseProduct(box_.a); }
  [[nodiscard]] double products() const { return box_.count() + static_cast<double>(n_ * m_); }
  /// 2c (K - V) - G, the slope in K_i of everything but its barrier.
  [[nodiscard]] Matrix slope(Index i) const {
    const auto k = static_cast<std::size_t>(i);
    Matrix g = 2 * dual_.c(i) * (K_[k] - V_[k]);
    g.noalias() -= u() * (u() / (2 * gamma_(i))).transpose();
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
    const double gamma = gamma_(i);
    const Vector p = scaling.Q.transpose() * u();
    const Vector dKp = dK * p;
    right.head(n_) -= dual_.y.cwiseProduct(scaling.Q * dKp) / gamma;
    right(n_ + i) += p.dot(dKp) / (2 * gamma * gamma);
  }
  /// The part of dK that follows d(a, gamma), dX, and both back in the basis of the samples.
  void finish_kernel(Index i, double target, Step& step) const {
    const auto k = static_cast<std::size_t>(i);
    const ConeScaling& scaling = scalings_[k];
    const double gamma = gamma_(i);
    const Vector p = scaling.Q.transpose() * u();
    const Vector q = scaling.Q.transpose() * dual_.y.cwiseProduct(step.box.a);
    Matrix dG = p * (q / (2 * gamma)).transpose();
    dG += dG.transpose().eval();
    dG.noalias() -= p * (p * (step.gamma(i) / (2 * gamma * gamma))).transpose();
    const Matrix dK = step.K[k] + respond(i, dG, 0);
    const Vector inverses = scaling.omega.cwiseInverse();
    const Matrix scaled = inverses.asDiagonal() * dK * inverses.asDiagonal();
    step.K[k] = symmetric_part(scaling.Q * dK * scaling.Q.transpose());
    step.X.emplace_back(target * scaling.inverse - X_[k] -
                        symmetric_part(scaling.Q * scaled * scaling.Q.transpose()));
  }

  /// The machine for fixed K, and <dG, C dG> of one kernel.
  void add_matrix(Index i, Matrix& A) const {
    const auto k = static_cast<std::size_t>(i);
    const ConeScaling& scaling = scalings_[k];
    const double gamma = gamma_(i);
    const Vector p = scaling.Q.transpose() * u();
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
    A.topLeftCorner(n_, n_) += dual_.y.asDiagonal() * (K_[k] / gamma) * dual_.y.asDiagonal();
    const double mean = e.dot(squares) / sum;
    const Vector side = (ep * mean - p.cwiseProduct(Es) / gamma) / (2 * gamma * gamma);
    const Vector cross = YQ * side - dual_.y.cwiseProduct(K_[k] * u()) / (gamma * gamma);
    A.row(n_ + i).head(n_) = cross.transpose();
    A(n_ + i, n_ + i) = machine_.ratio(i) / gamma +
                        (squares.dot(Es) - sum * mean * mean) / (4 * gamma * gamma * gamma * gamma);
  }

  const Dual& dual_;
  Index m_;
  std::vector<Matrix> V_;
  std::vector<Matrix> K_, X_;
  std::vector<ConeScaling> scalings_;
  std::vector<Matrix> slopes_;
  int since_best_ = 0;
};

}  // namespace

DualSolution barrier(const Dual& dual, double tolerance, const RunContext& ctx) {
  constexpr double kStepFraction = 0.95;
  return run_dual(Barrier(dual), tolerance, kStepFraction, ctx);
}

}  // namespace kith::trace
