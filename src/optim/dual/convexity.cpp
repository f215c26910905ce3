// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/dual/convexity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kith/core/positions.hpp"
#include "numerics/cholesky.hpp"
#include "numerics/lanczos.hpp"

namespace kith::dual {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr Index kShare = 16;  // a block of n / 16 samples
constexpr Index kFewest = 64;
constexpr Index kMost = 512;
constexpr Index kSteps = 12;      // of Lanczos
constexpr double kEntryWork = 5;  // per entry of the block, in ns: read once, then once a step
constexpr Index kWorthwhile = 16;

Matrix block_of(const SymmetricView& K, const std::vector<Index>& rows) {
  const auto m = std::ssize(rows);
  Matrix block(m, m);
  for (Index j = 0; j < m; ++j) {
    K.gather(rows[static_cast<std::size_t>(j)], rows, block.col(j).data());
  }
  return block;
}

/// What rounding may take for a negative eigenvalue.
double rounding(const Matrix& block) {
  return 4 * static_cast<double>(block.rows()) * kEpsilon * block.norm();
}

}  // namespace

bool sample_refutes(const SymmetricView& K) {
  const Index n = K.size();
  if (n == 0 || K.diagonal().minCoeff() < 0) return n > 0;
  const Index wanted = std::min(kMost, std::max(kFewest, n / kShare));
  Matrix block = block_of(K, spread_positions(n, wanted));
  const double margin = rounding(block);
  if (margin == 0) return false;
  block.diagonal().array() += margin;
  return !cholesky(block);
}

bool supports_refute(const SymmetricView& K, const VectorRef& alpha, double work,
                     const RunContext& ctx) {
  std::vector<Index> supports;
  for (Index i = 0; i < alpha.size(); ++i) {
    if (alpha[i] > 0) supports.push_back(i);
  }
  const auto room = static_cast<Index>(std::sqrt(std::max(0.0, work / kEntryWork)));
  const std::vector<Index> chosen = spread_positions(std::ssize(supports), room);
  if (std::ssize(chosen) < kWorthwhile) return false;
  std::vector<Index> rows;
  rows.reserve(chosen.size());
  for (const Index at : chosen) rows.push_back(supports[static_cast<std::size_t>(at)]);
  const Matrix block = block_of(K, rows);
  if (!block.allFinite()) return false;
  // A start that belongs to the block alone: the answer does not depend on the seed of a run.
  Vector start(block.rows());
  for (Index i = 0; i < start.size(); ++i) start[i] = i % 2 == 0 ? 1 : -1;
  const auto multiply = [&](const VectorRef& x, Eigen::Ref<Vector> y) { y.noalias() = block * x; };
  const detail::LanczosResult found =
      detail::lanczos(multiply, start, Matrix(block.rows(), 0),
                      {.count = 1, .norm = block.norm(), .max_basis = kSteps}, ctx);
  return found.theta.size() > 0 && found.theta[0] < -rounding(block);
}

}  // namespace kith::dual
