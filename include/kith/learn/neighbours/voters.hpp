// SPDX-License-Identifier: Apache-2.0
// What every neighbour method keeps of its training samples, and how weights become a label.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"
#include "kith/learn/neighbours/nearest.hpp"

namespace kith {

struct Voters {
  int classes = 0;
  std::vector<int> labels;  ///< of each training sample
  TieOrder ties;

  [[nodiscard]] Index size() const { return static_cast<Index>(labels.size()); }
};
[[nodiscard]] Voters make_voters(const TrainingSet& train, TieRule rule, const RunContext& ctx);
template <class A>
void archive(Archived<A, Voters>& voters, A& archiver) {
  Index classes = voters.classes;
  archiver("classes", classes);
  archiver("labels", voters.labels);
  archiver("tie_places", voters.ties.place);
  if constexpr (A::kLoading) {
    voters.classes = static_cast<int>(classes);
    voters.ties = tie_order(std::move(voters.ties.place));
  }
}

/// The sum of the weights of each class among `neighbours`.
[[nodiscard]] Vector class_sums(const Voters& voters, std::span<const Index> neighbours,
                                std::span<const double> weights);

/// The class of the largest sum among those with neighbours; among equal sums the one with the
/// nearest member.
[[nodiscard]] int heaviest(const Voters& voters, std::span<const Index> neighbours,
                           const VectorRef& sums);
/// The same of weights that may be negative, [TR] (8): a class without neighbours has the sum 0 and
/// wins where all others are below it; of several such classes the one that training has most of.
[[nodiscard]] int largest_sum(const Voters& voters, std::span<const Index> neighbours,
                              const VectorRef& sums);

/// A query without a single known neighbour says nothing: the shares of the classes in training.
[[nodiscard]] Vector training_shares(const Voters& voters);

/// Calls `body` with the `most` nearest of each query. Queries run in parallel, `grain` at a time:
/// `body` writes to slots of its query alone.
using NeighbourFunction = std::function<void(Index query, const Neighbours& nearest)>;
void for_each_query(const Voters& voters, const QueryBlock& queries, Index most, std::size_t grain,
                    const NeighbourFunction& body, const RunContext& ctx);

/// Nonnegative weights of the k nearest for each k in `counts` (none needs more than the largest,
/// which the one search is made for): fills one prediction per count, probabilities being the
/// normalised sums.
using WeightFunction = std::function<std::vector<double>(const Neighbours& first_k)>;
[[nodiscard]] std::vector<Prediction> predict_by_weights(const Voters& voters,
                                                         std::span<const Index> counts,
                                                         const QueryBlock& queries,
                                                         const WeightFunction& weights,
                                                         const RunContext& ctx);

/// A vote for each neighbour.
[[nodiscard]] Explanation explain_votes(std::span<const Index> neighbours,
                                        std::span<const double> weights);

/// {1 ... 16, 32, 64, 128}, the grid of every neighbour method.
[[nodiscard]] GridAxis neighbour_grid();

/// Predicts along a path of models, cut where the tie order changes: within a run one search serves
/// all. `predict_run` takes a span of models and returns one prediction for each.
template <class Model, class PredictRun>
[[nodiscard]] std::vector<Prediction> predict_in_runs(std::span<const Model> models,
                                                      const PredictRun& predict_run) {
  std::vector<Prediction> all;
  for (std::size_t begin = 0; begin < models.size();) {
    std::size_t end = begin + 1;
    while (end < models.size() &&
           models[end].voters.ties.place == models[begin].voters.ties.place) {
      ++end;
    }
    for (Prediction& one : predict_run(models.subspan(begin, end - begin))) {
      all.push_back(std::move(one));
    }
    begin = end;
  }
  return all;
}

/// The first `count` of them.
[[nodiscard]] Neighbours first(const Neighbours& neighbours, Index count);

}  // namespace kith
