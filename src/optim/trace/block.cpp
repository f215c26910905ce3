// SPDX-License-Identifier: Apache-2.0
#include "optim/trace/block.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "kith/numerics/psd.hpp"

namespace kith::trace {
namespace {

/// The bracket of H in the basis of K, but for its last term.
Matrix full_bracket(const BlockPoint& at) {
  const Index n = at.k.size();
  const Vector& e = at.excess;
  const Vector q = at.p.cwiseAbs2();
  const Vector scaled = at.p / (4 * at.c);
  Matrix B(n, n);
  Vector gamma(n);
  for (Index j = 0; j < n; ++j) {
    if (e(j) > 0) {
      for (Index i = 0; i < n; ++i) gamma(i) = e(i) > 0 ? 1 : e(j) / (e(j) - e(i));
    } else {
      for (Index i = 0; i < n; ++i) gamma(i) = e(i) > 0 ? e(i) / (e(i) - e(j)) : 0;
    }
    B.col(j) = scaled(j) * at.p.cwiseProduct(gamma);
    B(j, j) += at.k(j) + gamma.dot(q) / (4 * at.c);
  }
  return B;
}

}  // namespace

Block::Block(Kind kind, SymmetricEigen V, double trace)
    : kind_(kind), V_(std::move(V)), trace_(trace) {
  if (kind_ == Kind::kFull) updater_.emplace(V_.lambda);
}

BlockPoint Block::at(const VectorRef& w, double c) const {
  BlockPoint point;
  point.c = c;
  point.p.noalias() = V_.U.transpose() * w;
  if (kind_ == Kind::kFixed) {
    point.k = V_.lambda;
    const Vector kp = point.k.cwiseProduct(point.p);
    point.Kw.noalias() = V_.U * kp;
    point.wKw = point.p.dot(kp);
    return point;
  }
  const double scale = 2 * std::sqrt(c);  // w = scale Q z
  point.M = updater_->update(point.p / scale);
  point.p = point.M.product * scale;
  const Vector& d = point.M.value;
  SimplexPoint projected = project_to_simplex(d, trace_);
  point.k = std::move(projected.k);
  point.excess = d.array() - projected.theta;
  const Vector kp = point.k.cwiseProduct(point.p);
  point.wKw = point.p.dot(kp);
  point.Kw.noalias() = V_.U * (point.M.W * kp);
  // K - V = (K - M) + w w' / (4 c).
  const Vector moved = point.k - d;
  const double outer = w.squaredNorm() / (4 * c);
  point.squares =
      std::max(0.0, moved.squaredNorm() + moved.dot(point.p.cwiseAbs2()) / (2 * c) + outer * outer);
  return point;
}

Matrix Block::curvature(const BlockPoint& point) const {
  if (kind_ == Kind::kFixed) return reconstruct(V_.U, V_.lambda);
  Matrix B = full_bracket(point);
  const Vector pa = (point.excess.array() > 0).select(point.p, 0.0);
  const auto count = static_cast<double>((point.excess.array() > 0).count());
  B.noalias() -= pa * (pa / (2 * point.c * count)).transpose();
  Matrix U(V_.U.rows(), V_.U.cols());
  U.noalias() = V_.U * point.M.W;
  Matrix UB(U.rows(), U.cols());
  UB.noalias() = U * B;
  Matrix H(U.rows(), U.rows());
  H.noalias() = UB * U.transpose();
  return H;
}

SymmetricEigen Block::kernel(const BlockPoint& point) const {
  std::vector<Index> positive;
  for (Index i = 0; i < point.k.size(); ++i) {
    if (point.k(i) > 0) positive.push_back(i);
  }
  std::stable_sort(positive.begin(), positive.end(),
                   [&](Index a, Index b) { return point.k(a) < point.k(b); });
  SymmetricEigen kernel;
  kernel.lambda = point.k(positive);
  const Matrix W = point.M.W(Eigen::all, positive);
  kernel.U.noalias() = V_.U * W;
  fix_signs(kernel.U);
  return kernel;
}

}  // namespace kith::trace
