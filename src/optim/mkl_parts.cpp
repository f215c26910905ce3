// SPDX-License-Identifier: Apache-2.0
#include "optim/mkl_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kith/core/error.hpp"

namespace kith::detail {
namespace {

using Eigen::ArrayXd;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

double primal(const Vector& cost, double squares, const Vector& margins, double scale) {
  return 0.5 * scale * scale * squares +
         (cost.array() * (1 - scale * margins.array()).max(0.0)).sum();
}

}  // namespace

void check_machine(std::span<const Matrix> kernels, const Vector& y, const Vector& cost) {
  const Index n = y.size();
  if (kernels.empty()) refuse("a combination of kernels needs at least one kernel");
  if (cost.size() != n) refuse(fmt::format("{} costs for {} labels", cost.size(), n));
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Matrix& K = kernels[i];
    if (K.rows() != n || K.cols() != n) {
      refuse(fmt::format("kernel {} is {} x {}; there are {} labels", i, K.rows(), K.cols(), n));
    }
    if (!K.allFinite()) refuse(fmt::format("kernel {} is not finite", i));
  }
  for (Index j = 0; j < n; ++j) {
    if (y[j] != 1 && y[j] != -1) {
      refuse(fmt::format("y[{}] = {}; a label is +1 or -1", j, y[j]));
    }
    if (!(cost[j] > 0) || !std::isfinite(cost[j])) {
      refuse(fmt::format("cost[{}] = {}; a cost is finite and above 0", j, cost[j]));
    }
  }
  if (n == 0 || y.minCoeff() == y.maxCoeff()) refuse("the labels must have both classes");
}

Vector balanced_costs(const Vector& y, const Vector& cost) {
  const double positive = (y.array() > 0).select(cost.array(), 0.0).sum();
  const double negative = cost.sum() - positive;
  const ArrayXd share = (y.array() > 0)
                            .select(ArrayXd::Constant(y.size(), std::min(1.0, negative / positive)),
                                    std::min(1.0, positive / negative));
  return cost.array() * share;
}

double best_primal(const Vector& cost, double squares, const Vector& margins) {
  constexpr double kRounding = 1e-6;
  const ArrayXd short_of = 1 - margins.array();
  const double worst = (short_of < kRounding).select(short_of, 0.0).maxCoeff();
  return std::min(primal(cost, squares, margins, 1),
                  primal(cost, squares, margins, 1 / (1 - worst)));
}

double relative_gap(double lower, double upper) {
  const double size = std::max(std::abs(lower), std::abs(upper));
  return size > 0 ? (upper - lower) / size : 0.0;
}

double infeasibility(const Vector& y, const Vector& cost, const VectorRef& alpha) {
  const double outside =
      std::max({std::abs(y.dot(alpha)), -alpha.minCoeff(), (alpha - cost).maxCoeff()});
  return outside / cost.maxCoeff();
}

Vector at_bounds(const Vector& y, const Vector& cost, Vector alpha) {
  constexpr double kNear = 1e-10;
  const double largest = alpha.maxCoeff();
  ArrayXd room(alpha.size());  // to the nearer bound, 0 at a bound
  for (Index j = 0; j < alpha.size(); ++j) {
    if (alpha[j] <= kNear * largest) alpha[j] = 0;
    if (cost[j] - alpha[j] <= kNear * largest) alpha[j] = cost[j];
    room[j] = std::min(alpha[j], cost[j] - alpha[j]);
  }
  if (room.sum() > 0) alpha.array() -= y.array() * room * (y.dot(alpha) / room.sum());
  return alpha;
}

double reach(const VectorRef& v, const VectorRef& dv) {
  double step = 1;
  for (Index i = 0; i < v.size(); ++i) {
    if (dv[i] < 0) step = std::min(step, -v[i] / dv[i]);
  }
  return step;
}

}  // namespace kith::detail
