// SPDX-License-Identifier: Apache-2.0
#include "optim/trace/block.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optim/robust/dual.hpp"

namespace kith::trace {

Block::Block(SymmetricEigen V, double trace)
    : V_(std::move(V)), trace_(trace), updater_(V_.lambda) {}

BlockPoint Block::at(const VectorRef& w, double c) const {
  BlockPoint point;
  point.c = c;
  point.p.noalias() = V_.U.transpose() * w;
  const double scale = 2 * std::sqrt(c);  // w = scale Q z
  point.M = updater_.update(point.p / scale);
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
  const robust::InnerCurvature inner = robust::inner_curvature(point.excess, point.p, point.c);
  const double share = 1 - 2 / static_cast<double>(inner.positive.size());
  return robust::outer_curvature(V_.U, point.M.W, inner, point.p, point.c, share);
}

SymmetricEigen Block::kernel(const BlockPoint& point) const {
  return robust::pairs_above(V_.U, point.M.W, point.k, 0);
}

}  // namespace kith::trace
