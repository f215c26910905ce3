// SPDX-License-Identifier: Apache-2.0
// Weights of the k nearest neighbours x_1 ... x_k of x, [TR] 4:
//
//   knn           w_i = 1 / k
//   affinity-knn  w_i = a psi(x, x_i), normalised
//
// A similarity below zero says "unlike": its weight is 0, not negative, so that the weights remain
// posteriors. Where no neighbour has a positive similarity the weights are equal, as in knn.
// Cost: one partial sort of n similarities per query for all k.
#include "kith/learn/neighbours/knn.hpp"

#include <algorithm>
#include <numeric>

namespace kith {
namespace {

std::vector<double> equal_weights(const Neighbours& neighbours) {
  return std::vector<double>(neighbours.samples.size(), 1.0);
}

std::vector<double> affinity_weights(const Neighbours& neighbours) {
  std::vector<double> weights;
  for (const double s : neighbours.similarities) weights.push_back(std::max(s, 0.0));
  const bool none = std::none_of(weights.begin(), weights.end(), [](double w) { return w > 0; });
  return none ? equal_weights(neighbours) : weights;
}

template <class Settings>
void describe_neighbours(Settings& settings, FieldVisitor& field) {
  field.as(FieldRole::kNeighbours)("neighbours", settings.neighbours, at_least(1),
                                   "how many neighbours vote");
  field("ties", settings.ties, kTiesHelp);
}

template <class Model, class Settings>
FittedPath<Model> remember(SharedWork& work, Path<Settings> path, const RunContext& ctx) {
  FittedPath<Model> fitted;
  for (const Settings& settings : path) {
    Fitted<Model> one;
    one.model.voters = make_voters(work.train(), settings.ties, ctx);
    one.model.neighbours = std::min(settings.neighbours, work.train().size());
    fitted.push_back(std::move(one));
  }
  return fitted;
}

template <class Model>
std::vector<Prediction> vote_along(std::span<const Model> models, const QueryBlock& queries,
                                   std::vector<double> (*weights)(const Neighbours&),
                                   const RunContext& ctx) {
  return predict_in_runs(models, [&](std::span<const Model> run) {
    std::vector<Index> counts;
    for (const Model& model : run) counts.push_back(model.neighbours);
    return predict_by_weights(run.front().voters, counts, queries, weights, ctx);
  });
}

/// The weights as the scores have them: they sum to 1.
std::vector<Explanation> explain_by(const NearestVoters& model, const QueryBlock& queries,
                                    std::vector<double> (*weights)(const Neighbours&)) {
  const NeighbourRows rows(queries.matrices.front());
  check_columns(rows.samples(), model.voters.size());
  std::vector<Explanation> explanations;
  for (Index q = 0; q < rows.queries(); ++q) {
    const Neighbours chosen = rows.nearest(q, model.neighbours, model.voters.ties);
    std::vector<double> own = weights(chosen);
    const double sum = std::accumulate(own.begin(), own.end(), 0.0);
    for (double& weight : own) weight /= sum;
    explanations.push_back(explain_votes(chosen.samples, own));
  }
  return explanations;
}

}  // namespace

void describe(KnnSettings& settings, FieldVisitor& field) { describe_neighbours(settings, field); }

void describe(AffinityKnnSettings& settings, FieldVisitor& field) {
  describe_neighbours(settings, field);
}

FittedPath<KnnModel> fit_path(SharedWork& work, Path<KnnSettings> path, RunContext& ctx) {
  return remember<KnnModel>(work, path, ctx);
}

std::vector<Prediction> predict_path(std::span<const KnnModel> models, const QueryBlock& queries,
                                     RunContext& ctx) {
  return vote_along(models, queries, equal_weights, ctx);
}

FittedPath<AffinityKnnModel> fit_path(SharedWork& work, Path<AffinityKnnSettings> path,
                                      RunContext& ctx) {
  return remember<AffinityKnnModel>(work, path, ctx);
}

std::vector<Prediction> predict_path(std::span<const AffinityKnnModel> models,
                                     const QueryBlock& queries, RunContext& ctx) {
  return vote_along(models, queries, affinity_weights, ctx);
}

std::vector<Explanation> explain(const KnnModel& model, const QueryBlock& queries,
                                 std::span<const int> /*labels*/, RunContext& /*ctx*/) {
  return explain_by(model, queries, equal_weights);
}

std::vector<Explanation> explain(const AffinityKnnModel& model, const QueryBlock& queries,
                                 std::span<const int> /*labels*/, RunContext& /*ctx*/) {
  return explain_by(model, queries, affinity_weights);
}

}  // namespace kith
