// SPDX-License-Identifier: Apache-2.0
// What the generative methods share: who represents a class, which similarities of a query are
// looked at, and how densities become a prediction.
#pragma once

#include <functional>
#include <span>

#include "kith/data/views.hpp"
#include "kith/learn/learner.hpp"

namespace kith {

/// The position in `members` of the sample with the largest sum of similarities to all of them.
/// Sums that agree to rounding are equal: the first of them is taken. `members` not empty.
using PairFunction = std::function<double(Index i, Index j)>;
[[nodiscard]] std::size_t centroid(std::span<const Index> members, const PairFunction& pair);

/// queries x columns: the mean of both directions where both are known ([TR] 6.2). The queries have
/// these columns alone.
[[nodiscard]] Matrix query_statistics(const QueryBlock& queries, std::span<const Index> columns);

/// log(sum of exp) without overflow; minus infinity of nothing.
[[nodiscard]] double log_sum_exp(const VectorRef& logs);

/// log of the share of each class; minus infinity for a class without samples.
[[nodiscard]] Vector log_shares(std::span<const Index> counts);

/// Log posteriors as scores: an impossible class has a number far below all others in place of
/// minus infinity.
[[nodiscard]] Vector finite_scores(const VectorRef& log_posteriors);

/// Posteriors from log p(T | g) + log P(g), queries x classes. Among equal classes the one with the
/// most similar representative wins, then the larger one, then the first. `T`: queries x
/// representatives, `represents`: the class each of them is of.
[[nodiscard]] Prediction predict_by_joint(const Matrix& log_joint, const Matrix& T,
                                          std::span<const Index> represents,
                                          std::span<const Index> counts);

}  // namespace kith
