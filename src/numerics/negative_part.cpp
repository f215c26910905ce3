// SPDX-License-Identifier: Apache-2.0
// The k negative pairs of S, k known by the inertia of S + tau I = P L D L' P', D of its pivots.
//
//   start    X = P L^-T E over the negative pivots: a space of dimension k on which S is negative.
//   space    Q holds X; each round adds T R and F R, orthogonalised, R the residuals of the pairs
//   that
//            are not yet exact. T = (P L |D| L' P')^-1 brings the pairs next to 0, F those far out:
//            (S - sigma I)^-1 with a sigma below the least Ritz value of the first rounds.
//   pairs    the k lowest Ritz pairs of S in Q, until ||R||_F is 1e-11 of ||S||_F.
//   verify   S - U diag(theta) U' + tau I has a Cholesky factor: nothing was missed.
//
// The loop stands alone: its steps grow a space, and it ends by residuals or by the size of Q.
#include "kith/numerics/negative_part.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kith/core/positions.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "numerics/cholesky.hpp"
#include "numerics/indefinite_factor.hpp"
#include "numerics/lapack.hpp"

namespace kith {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
/// Below, a full decomposition takes a few milliseconds.
constexpr Index kSmall = 500;
/// With more than n / kShare negative eigenvalues the full decomposition is about as fast.
constexpr Index kShare = 40;
/// Of ||S||_F: the residual of all pairs together.
constexpr double kResidual = 2e-11;
/// Columns of Q at most, as a multiple of k and at least. A search that would not end within them
/// at the rate of its last rounds is given up.
constexpr Index kWidest = 20;
constexpr Index kLeastWidth = 320;
constexpr int kFarFrom = 1;     // the round whose least Ritz value sigma goes by
constexpr int kJudgedFrom = 5;  // before, residuals do not tell the rate
/// A sample for a look at what to expect: a 64th of the work of a factor.
constexpr Index kSample = 4;
/// Directions whose part outside Q is smaller than this are lost to rounding.
constexpr double kInside = 1e-10;

Matrix shifted(const MatrixRef& S, double tau) {
  Matrix A = S;
  A.diagonal().array() += tau;
  return A;
}

/// An orthonormal basis of the columns of W outside the orthonormal Q: by the eigenvectors of their
/// products, twice, so that columns that nearly depend on each other are left out.
Matrix outside(const MatrixRef& Q, Matrix W) {
  for (int pass = 0; pass < 2; ++pass) {
    for (Index j = 0; j < W.cols(); ++j) {
      const double norm = W.col(j).norm();
      if (norm > 0) W.col(j) /= norm;
    }
    if (Q.cols() > 0) {
      const Matrix inside = Q.transpose() * W;
      W.noalias() -= Q * inside;
    }
    const SymmetricEigen products = symmetric_eigen(Matrix(W.transpose() * W));
    std::vector<Index> kept;
    for (Index j = 0; j < products.lambda.size(); ++j) {
      if (products.lambda[j] > kInside * kInside) kept.push_back(j);
    }
    Matrix basis = products.U(Eigen::all, kept);
    for (std::size_t j = 0; j < kept.size(); ++j) {
      basis.col(static_cast<Index>(j)) /= std::sqrt(products.lambda[kept[j]]);
    }
    W = Matrix(W * basis);
  }
  return W;
}

/// The space and what S makes of it.
class Space {
 public:
  Space(const MatrixRef& S, Index most) : S_(S), Q_(S.rows(), most), SQ_(S.rows(), most) {
    H_ = Matrix::Zero(most, most);
  }
  [[nodiscard]] Index width() const { return width_; }
  [[nodiscard]] bool has_room(Index columns) const { return width_ + columns <= Q_.cols(); }
  [[nodiscard]] MatrixRef Q() const { return Q_.leftCols(width_); }
  [[nodiscard]] MatrixRef SQ() const { return SQ_.leftCols(width_); }

  void add(const MatrixRef& W) {
    const Index more = W.cols();
    Q_.middleCols(width_, more) = W;
    SQ_.middleCols(width_, more).noalias() = S_ * W;
    const Index all = width_ + more;
    H_.block(0, width_, all, more).noalias() =
        Q_.leftCols(all).transpose() * SQ_.middleCols(width_, more);
    H_.block(width_, 0, more, width_) = H_.block(0, width_, width_, more).transpose();
    width_ = all;
  }
  [[nodiscard]] SymmetricEigen ritz() const {
    return symmetric_eigen(Matrix(H_.topLeftCorner(width_, width_)));
  }

 private:
  const MatrixRef& S_;
  Matrix Q_;
  Matrix SQ_;
  Matrix H_;  // Q'SQ
  Index width_ = 0;
};

/// (S - sigma I)^-1 for a sigma below `theta` that makes it positive definite, times any number. It
/// only points out directions: single precision serves, in half of the time, where the eigenvalues
/// wanted are not so near to 0 that it needs a sigma much further out.
class FarSolver {
 public:
  FarSolver(const MatrixRef& S, double norm, double theta) {
    constexpr double kBeyond = 1.5;
    double sigma = kBeyond * theta;
    if (factor_narrow(S, norm, sigma) || factor_narrow(S, norm, 2 * sigma)) return;
    narrow_.resize(0, 0);
    do {
      wide_ = shifted(S, -sigma);
      sigma *= 2;
    } while (!cholesky(wide_));
  }
  /// For columns of norm 1.
  [[nodiscard]] Matrix solve(const MatrixRef& X) const {
    if (narrow_.size() == 0) return back_solve(wide_, Matrix(X));
    Eigen::MatrixXf Y = X.cast<float>();
    narrow_.triangularView<Eigen::Lower>().solveInPlace(Y);
    narrow_.triangularView<Eigen::Lower>().transpose().solveInPlace(Y);
    return Y.cast<double>();
  }

 private:
  /// Of the lower triangle of (S - sigma I) / norm, whose entries are in the range of floats.
  [[nodiscard]] bool factor_narrow(const MatrixRef& S, double norm, double sigma) {
    const Index n = S.rows();
    narrow_.resize(n, n);
    for (Index j = 0; j < n; ++j) {
      narrow_.col(j).tail(n - j) = (S.col(j).tail(n - j) / norm).cast<float>();
      narrow_(j, j) = static_cast<float>((S(j, j) - sigma) / norm);
    }
    const auto size = static_cast<int>(n);
    int info = 0;
    spotrf_("L", &size, narrow_.data(), &size, &info);
    return info == 0 && narrow_.diagonal().allFinite();
  }

  Matrix wide_;
  Eigen::MatrixXf narrow_;
};

/// Whether residuals that fell from `before` to `now` in one round fall to `enough` in time.
bool in_reach(double before, double now, double enough, Index rounds_left) {
  if (!(now < before)) return false;
  return std::log(now / enough) <= static_cast<double>(rounds_left) * std::log(before / now);
}

/// False where Q is full before the pairs are exact, or would be.
bool find_pairs(const MatrixRef& S, const IndefiniteFactor& factor, Accuracy accuracy,
                NegativePart& part, const RunContext& ctx) {
  const Index k = factor.negative_count();
  const Index most = std::min(S.rows(), std::max(kLeastWidth, kWidest * k));
  Space space(S, most);
  space.add(outside(Matrix(S.rows(), 0), factor.negative_directions()));
  const double norm = S.norm();
  std::optional<FarSolver> far;
  double before = std::numeric_limits<double>::infinity();
  for (int round = 0;; ++round) {
    ctx.check_stop();
    const SymmetricEigen ritz = space.ritz();
    const Index found = std::min(k, ritz.lambda.size());
    part.lambda = ritz.lambda.head(found);
    part.U.noalias() = space.Q() * ritz.U.leftCols(found);
    Matrix R = space.SQ() * ritz.U.leftCols(found);
    R -= part.U * part.lambda.asDiagonal();
    part.residual = R.norm();
    const double enough = kResidual * (accuracy == Accuracy::kOfWhole ? norm : part.lambda.norm());
    if (found == k && part.residual <= enough) return true;
    std::vector<Index> open;
    for (Index j = 0; j < found; ++j) {
      if (R.col(j).norm() > enough / std::sqrt(static_cast<double>(k))) open.push_back(j);
    }
    const auto more = std::ssize(open);
    if (!space.has_room(2 * more)) return false;
    if (round >= kJudgedFrom &&
        !in_reach(before, part.residual, enough, (most - space.width()) / (2 * more))) {
      return false;
    }
    before = part.residual;
    if (round == kFarFrom) far.emplace(S, norm, part.lambda[0]);
    Matrix W(S.rows(), 2 * more);
    W.leftCols(more) = R(Eigen::all, open).colwise().normalized();
    W.rightCols(more) = far ? far->solve(W.leftCols(more)) : Matrix(W.leftCols(more));
    factor.solve_absolute(W.leftCols(more));
    const Matrix fresh = outside(space.Q(), std::move(W));
    if (fresh.cols() == 0) return false;
    space.add(fresh);
  }
}

/// Whether S less its part has a Cholesky factor with the margin on its diagonal.
bool is_whole(const MatrixRef& S, const NegativePart& part, double margin) {
  Matrix rest = shifted(S, margin);
  const Matrix roots = part.U * (-part.lambda).cwiseSqrt().asDiagonal();
  rest.selfadjointView<Eigen::Lower>().rankUpdate(roots);
  return cholesky(rest);
}

/// What a block of every kSample-th sample tells: S has at least as many negative eigenvalues.
Index sampled_negative(const MatrixRef& S, double margin) {
  std::vector<Index> chosen;
  for (Index i = 0; i < S.rows(); i += kSample) chosen.push_back(i);
  return IndefiniteFactor(shifted(Matrix(S(chosen, chosen)), margin)).negative_count();
}

}  // namespace

double definiteness_margin(const MatrixRef& S) {
  return static_cast<double>(S.rows()) * kEps * S.diagonal().cwiseAbs().sum();
}

bool proved_semidefinite(const MatrixRef& S, const RunContext& ctx) {
  ctx.check_stop();
  if (S.size() == 0) return true;
  if (S.diagonal().minCoeff() < 0) return false;
  const double margin = definiteness_margin(S);
  if (margin == 0) return S.cwiseAbs().maxCoeff() == 0;
  Matrix A = shifted(S, margin);
  return cholesky(A);
}

Index count_negative(const MatrixRef& S, const RunContext& ctx) {
  if (proved_semidefinite(S, ctx)) return 0;
  ctx.check_stop();
  return IndefiniteFactor(shifted(S, definiteness_margin(S))).negative_count();
}

bool too_many_negative(Index n, Index negative) { return n < kSmall || negative * kShare > n; }

double NegativePart::error() const {
  return 2 * std::sqrt(2.0) * residual + floor * std::sqrt(static_cast<double>(U.rows()));
}

std::optional<NegativePart> negative_part(const MatrixRef& S, const RunContext& ctx,
                                          Accuracy accuracy) {
  ctx.check_stop();
  const Index n = S.rows();
  const double margin = definiteness_margin(S);
  NegativePart part{.lambda = Vector(0), .U = Matrix(n, 0), .residual = 0, .floor = 2 * margin};
  if (n < kSmall) {
    if (proved_semidefinite(S, ctx)) return part;
    return std::nullopt;
  }
  // The more likely factor first: each is a waste where the other one answers.
  const Index sampled = sampled_negative(S, margin);
  if (sampled == 0 && proved_semidefinite(S, ctx)) return part;
  if (sampled * kShare > 2 * n / kSample) return std::nullopt;
  ctx.check_stop();
  {
    const IndefiniteFactor factor(shifted(S, margin));
    const Index k = factor.negative_count();
    if (k == 0 || too_many_negative(n, k)) return std::nullopt;
    if (!find_pairs(S, factor, accuracy, part, ctx)) return std::nullopt;
  }
  ctx.check_stop();
  if (part.lambda.maxCoeff() >= 0 || !is_whole(S, part, margin)) return std::nullopt;
  return part;
}

}  // namespace kith
