// SPDX-License-Identifier: Apache-2.0
// S = U diag(lambda) U' embeds the samples as rows of X = U |Lambda|^(1/2) with inner product x'Jy,
// J the signs of lambda; a new sample with row s lies at x = J |Lambda|^(-1/2) U' s. In Fisher's
// discriminant J cancels between the covariance X'X J and the inner product, so it is the ordinary
// one in these coordinates. With the regularised rule of embedding/discriminant its scores are
// linear in s:
//
//   W_raw = U |Lambda|^(-1/2) J W.
//
// Kept are the `dimensions` of largest |lambda|, never those that count as zero.
// Cost: one n x n decomposition, and one of size d for each number of dimensions d.
#include "kith/learn/embedding/pe_fisher.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "kith/learn/embedding/discriminant.hpp"

namespace kith {
namespace {

/// Positions of the eigenvalues that are kept, largest magnitude first.
std::vector<Index> kept_axes(const Vector& lambda, const std::optional<Index>& dimensions) {
  std::vector<Index> order = all_positions(lambda.size());
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return std::abs(lambda(a)) > std::abs(lambda(b)); });
  const double zero = zero_threshold(lambda);
  std::erase_if(order, [&](Index i) { return std::abs(lambda(i)) <= zero; });
  if (dimensions && static_cast<std::size_t>(*dimensions) < order.size()) {
    order.resize(static_cast<std::size_t>(*dimensions));
  }
  return order;
}

}  // namespace

GridAxis dimension_grid() {
  return {.field = "dimensions",
          .values = {"2", "5", "10", "20", "50", "all"},
          .simpler = Simpler::kSmaller};
}

void describe(PeFisherSettings& settings, FieldVisitor& field) {
  field("dimensions", settings.dimensions, at_least(1), "all",
        "how many axes of largest |lambda| are kept");
  field("ridge", settings.ridge, above(0.0),
        "identity added to the covariance, in units of its mean eigenvalue");
}

FittedPath<PeFisherModel> fit_path(SharedWork& work, Path<PeFisherSettings> path, RunContext& ctx) {
  const SymmetricEigen& eigen = *work.eigen(ctx);
  struct Space {
    Matrix to_raw;  // coefficients over coordinates -> over raw rows
    PooledCovariance covariance;
  };
  std::map<std::optional<Index>, Space> spaces;
  FittedPath<PeFisherModel> fitted;
  for (const PeFisherSettings& settings : path) {
    ctx.check_stop();
    auto at = spaces.find(settings.dimensions);
    if (at == spaces.end()) {
      std::vector<Index> axes = kept_axes(eigen.lambda, settings.dimensions);
      if (axes.empty())
        axes.push_back(0);  // the zero matrix: one axis on which all samples coincide
      const Vector lambda = eigen.lambda(axes);
      const Matrix U = eigen.U(Eigen::all, axes);
      const Vector root = lambda.cwiseAbs().cwiseSqrt();
      const Vector inverse = lambda.unaryExpr(
          [](double x) { return x == 0 ? 0 : (x > 0 ? 1 : -1) / std::sqrt(std::abs(x)); });
      at = spaces
               .emplace(settings.dimensions,
                        Space{U * inverse.asDiagonal(),
                              PooledCovariance(U * root.asDiagonal(), work.train().labels)})
               .first;
    }
    PooledCovariance::Rule rule = at->second.covariance.rule(settings.ridge);
    const LinearScores scores{.rows = RowKind::kMean,
                              .posteriors = true,
                              .W = at->second.to_raw * rule.W,
                              .b = std::move(rule.b)};
    fitted.push_back({{scores}, {}});
  }
  return fitted;
}

}  // namespace kith
