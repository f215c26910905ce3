// SPDX-License-Identifier: Apache-2.0
// The k negative pairs of S, k known by the inertia of S + tau I = P L D L' P', D of its pivots.
//
//   start    X = P L^-T E over the negative pivots: a space of dimension k on which S is negative.
//   space    Q holds X; each round adds T R and R, orthogonalised, R the residuals of the pairs
//   that
//            are not yet exact and T = (P L |D| L' P')^-1. T brings the pairs next to 0 within a
//            few rounds, R those far out.
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

namespace kith {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
/// Below, a full decomposition takes a few milliseconds.
constexpr Index kSmall = 500;
/// With more than n / kShare negative eigenvalues the full decomposition is about as fast.
constexpr Index kShare = 20;
/// Of ||S||_F: the residual of all pairs together.
constexpr double kResidual = 1e-11;
/// Columns of Q at most, as a multiple of k and at least.
constexpr Index kWidest = 24;
constexpr Index kLeastWidth = 64;
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

/// False where Q is full before the pairs are exact.
bool find_pairs(const MatrixRef& S, const IndefiniteFactor& factor, double norm, NegativePart& part,
                const RunContext& ctx) {
  const Index k = factor.negative_count();
  Space space(S, std::min(S.rows(), std::max(kLeastWidth, kWidest * k)));
  space.add(outside(Matrix(S.rows(), 0), factor.negative_directions()));
  const double enough = kResidual * norm;
  while (true) {
    ctx.check_stop();
    const SymmetricEigen ritz = space.ritz();
    const Index found = std::min(k, ritz.lambda.size());
    part.lambda = ritz.lambda.head(found);
    part.U.noalias() = space.Q() * ritz.U.leftCols(found);
    Matrix R = space.SQ() * ritz.U.leftCols(found);
    R -= part.U * part.lambda.asDiagonal();
    part.residual = R.norm();
    if (found == k && part.residual <= enough) return true;
    std::vector<Index> open;
    for (Index j = 0; j < found; ++j) {
      if (R.col(j).norm() > enough / std::sqrt(static_cast<double>(k))) open.push_back(j);
    }
    const auto more = std::ssize(open);
    if (!space.has_room(2 * more)) return false;
    Matrix W(S.rows(), 2 * more);
    W.rightCols(more) = R(Eigen::all, open);
    W.leftCols(more) = W.rightCols(more);
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

/// Eigenvalues that a block of evenly spread samples has below 0 are a sample of those of S.
bool looks_hopeless(const MatrixRef& S, double margin) {
  constexpr Index kSample = 8;
  const Index count = S.rows() / kSample;
  std::vector<Index> chosen;
  for (Index i = 0; i < count; ++i) chosen.push_back(i * kSample);
  const IndefiniteFactor factor(shifted(Matrix(S(chosen, chosen)), margin));
  return factor.negative_count() * kShare > 2 * count;
}

}  // namespace

double definiteness_margin(const MatrixRef& S) {
  return static_cast<double>(S.rows()) * kEps * S.diagonal().cwiseAbs().sum();
}

bool proved_semidefinite(const MatrixRef& S, const RunContext& ctx) {
  ctx.check_stop();
  if (S.rows() > 0 && S.diagonal().minCoeff() < 0) return false;
  Matrix A = shifted(S, definiteness_margin(S));
  return cholesky(A);
}

double NegativePart::error() const {
  return 2 * std::sqrt(2.0) * residual + floor * std::sqrt(static_cast<double>(U.rows()));
}

std::optional<NegativePart> negative_part(const MatrixRef& S, const RunContext& ctx) {
  const Index n = S.rows();
  const double margin = definiteness_margin(S);
  NegativePart part{.lambda = Vector(0), .U = Matrix(n, 0), .residual = 0, .floor = 2 * margin};
  if (proved_semidefinite(S, ctx)) return part;
  if (n < kSmall || looks_hopeless(S, margin)) return std::nullopt;
  ctx.check_stop();
  {
    const IndefiniteFactor factor(shifted(S, margin));
    const Index k = factor.negative_count();
    if (k == 0 || k * kShare > n) return std::nullopt;
    if (!find_pairs(S, factor, S.norm(), part, ctx)) return std::nullopt;
  }
  ctx.check_stop();
  if (part.lambda.maxCoeff() >= 0 || !is_whole(S, part, margin)) return std::nullopt;
  return part;
}

}  // namespace kith
