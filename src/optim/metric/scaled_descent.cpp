// SPDX-License-Identifier: Apache-2.0
// In the notation of metric/descent.cpp. With G = XX', A = X L'L X' and p = X L'w everything that a
// step needs is a sum over samples,
//
//   X q = G beta,   X L'g_w = p - A beta,   w'g_w = |w|^2 - p'beta,
//   |g_w|^2 = |w|^2 - 2 p'beta + beta'A beta,   |q|^2 = beta'G beta,
//
// and the step changes A by two ranks, A+ = (A + e u' + u e') / R^2 with e = X q and
// u = alpha p + alpha^2 |w|^2 e / 2. So L and w themselves wait: a block of steps is remembered by
// its beta, alpha and R, and carried out on L and w by a few products of matrices. A step reads two
// tables, of n^2 / 2 numbers each or of n r and n d, and writes vectors.
#include "optim/metric/scaled_descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optim/engine/line_search.hpp"

namespace kith::metric {
namespace {

constexpr Index kShortestBlock = 4, kLongestBlock = 64;  // steps before they are carried out
constexpr int kRefreshEvery = 16;    // blocks after which a square of images is computed anew
constexpr double kMostScale = 1e60;  // of the rank-one terms: no overflow of their squares

/// How many steps to remember: a step reads four vectors of length n for each one before it.
Index block_of(Index coordinates) {
  return std::clamp(coordinates / 2, kShortestBlock, kLongestBlock);
}

/// A step reads n^2 / 2 numbers for each of two squares, or n r and n d twice.
bool squares_are_shorter(const linear::SignedSamples& samples, const Matrix& L) {
  return samples.X.rows() < 2 * (L.rows() + L.cols());
}

}  // namespace

RowProducts::RowProducts(Matrix B, bool as_square) : is_square_(as_square) {
  if (!as_square) {
    table_ = std::move(B);
    return;
  }
  table_ = Matrix::Zero(B.rows(), B.rows());
  table_.selfadjointView<Eigen::Lower>().rankUpdate(B);
}

Vector RowProducts::times(const Vector& v) const {
  if (is_square_) return table_.selfadjointView<Eigen::Lower>() * v;
  const Vector across = table_.transpose() * v;
  return table_ * across;
}

Vector RowProducts::diagonal() const {
  return is_square_ ? Vector(table_.diagonal()) : Vector(table_.rowwise().squaredNorm());
}

void RowProducts::update(const MatrixRef& E, const MatrixRef& F, double factor) {
  auto lower = table_.triangularView<Eigen::Lower>();
  lower += E * F.transpose();
  lower += F * E.transpose();
  lower *= factor;
}

/// The gradient (7) as seen from the samples.
struct ScaledDescent::Slope {
  Vector beta;
  Vector e;                                    // x_i'q
  Vector across;                               // (L x_i)'g_w
  double b = 0;                                // g_b
  double wg = 0, gg = 0, qq = 0, along_L = 0;  // w'g_w, |g_w|^2, |q|^2, <g_L, L>
};

ScaledDescent::ScaledDescent(const linear::SignedSamples& samples, Point start)
    : samples_(samples),
      x_(std::move(start)),
      inner_(samples.X, squares_are_shorter(samples, x_.L)),
      outer_(samples.X * x_.L.transpose(), inner_.is_square()),
      p_(samples.X * (x_.L.transpose() * x_.w)),
      norms_(outer_.diagonal()),
      ww_(x_.w.squaredNorm()) {
  f_ = 0.5 * ww_ + linear::squared_hinge_loss(samples, Vector(p_.array() + x_.b));
  const Index block = block_of(samples.X.cols());
  betas_.resize(samples.X.rows(), block);
  E_.resize(samples.X.rows(), block);
  F_.resize(samples.X.rows(), block);
  alphas_.resize(block);
  radii_.resize(block);
}

ScaledDescent::Slope ScaledDescent::slope() const {
  Slope g;
  const Vector slack = (1 - samples_.y.array() * (p_.array() + x_.b)).max(0);
  g.beta = 2 * samples_.cost.cwiseProduct(samples_.y).cwiseProduct(slack);
  g.e = inner_.times(g.beta);
  Vector images = outer_.times(g.beta);  // A beta
  const auto E = E_.leftCols(pending_);
  const auto F = F_.leftCols(pending_);
  images += E * Vector(F.transpose() * g.beta) + F * Vector(E.transpose() * g.beta);
  images *= scale_ * scale_;
  const double pulled = p_.dot(g.beta);
  g.across = p_ - images;
  g.b = -g.beta.sum();
  g.wg = ww_ - pulled;
  g.gg = std::max(0.0, ww_ - 2 * pulled + g.beta.dot(images));
  g.qq = g.beta.dot(g.e);
  g.along_L = -pulled;
  return g;
}

bool ScaledDescent::move(const Slope& g, double alpha) {
  const Vector squares = norms_.array() + 2 * alpha * g.e.array() * p_.array() +
                         alpha * alpha * ww_ * g.e.array().square();
  const double R = std::sqrt(squares.maxCoeff());
  if (!(R > 0) || !std::isfinite(R)) return false;
  Vector p = (p_ - alpha * g.across + alpha * (ww_ - alpha * g.wg) * g.e) / R;
  const double b = x_.b - alpha * g.b;
  const double ww = std::max(0.0, ww_ - 2 * alpha * g.wg + alpha * alpha * g.gg);
  const double f = 0.5 * ww + linear::squared_hinge_loss(samples_, Vector(p.array() + b));
  const double promised =
      g.along_L - (g.along_L - alpha * ww_ * g.qq) / R + alpha * (g.gg + g.b * g.b);
  if (!engine::passes_armijo(f_, f, promised)) return false;
  remember(g, alpha, R);
  p_ = std::move(p);
  norms_ = squares / (R * R);
  ww_ = ww;
  f_ = f;
  x_.b = b;
  return true;
}

/// Called with p and |w|^2 of before the step.
void ScaledDescent::remember(const Slope& g, double alpha, double R) {
  betas_.col(pending_) = g.beta;
  E_.col(pending_) = g.e;
  F_.col(pending_) = (alpha * p_ + (0.5 * alpha * alpha * ww_) * g.e) / (scale_ * scale_);
  alphas_(pending_) = alpha;
  radii_(pending_) = R;
  scale_ /= R;
  ++pending_;
}

bool ScaledDescent::step() {
  if (pending_ == betas_.cols() || scale_ > kMostScale || scale_ < 1 / kMostScale) catch_up();
  const Slope g = slope();
  return engine::backtrack(1, kMostHalvings, [&](double alpha) { return move(g, alpha); }) > 0;
}

const Point& ScaledDescent::point() {
  catch_up();
  return x_;
}

/// L_k = s_k (L + sum_{j<k} a_j w_j q_j'), s_{k+1} = s_k / R_k, a_k = alpha_k / s_k.
void ScaledDescent::catch_up() {
  if (pending_ == 0) return;
  const Matrix Q = samples_.X.transpose() * betas_.leftCols(pending_);
  const Matrix LQ = x_.L * Q;
  const Matrix QQ = Q.transpose() * Q;
  Matrix W(x_.w.size(), pending_);
  Vector a(pending_);
  double s = 1;
  for (Index k = 0; k < pending_; ++k) {
    W.col(k) = x_.w;
    a(k) = alphas_(k) / s;
    const Vector weights = a.head(k).cwiseProduct(QQ.col(k).head(k));
    const Vector Lq = s * (LQ.col(k) + W.leftCols(k) * weights);
    x_.w += alphas_(k) * (Lq - x_.w);
    s /= radii_(k);
  }
  x_.L.noalias() += W * (Q * a.asDiagonal()).transpose();
  x_.L *= s;
  if (outer_.is_square() && ++caught_up_ % kRefreshEvery != 0) {
    outer_.update(E_.leftCols(pending_), F_.leftCols(pending_), s * s);
  } else {
    outer_ = RowProducts(samples_.X * x_.L.transpose(), outer_.is_square());
  }
  pending_ = 0;
  scale_ = 1;
  p_ = samples_.X * (x_.L.transpose() * x_.w);
  norms_ = outer_.diagonal();
  ww_ = x_.w.squaredNorm();
}

}  // namespace kith::metric
