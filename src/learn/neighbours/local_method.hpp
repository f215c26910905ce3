// SPDX-License-Identifier: Apache-2.0
// The frame of the methods that keep their training samples and do all of their work on the k x k
// block of a query's neighbours: kri, krr and svm-knn. Their models are {voters, pairs, settings},
// their settings have neighbours, spectrum, test_treatment and ties.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"
#include "kith/learn/neighbours/local_kernel.hpp"

namespace kith {

/// Nothing is learnt before a query comes.
template <class Settings, class Model = typename MethodTraits<Settings>::Model>
[[nodiscard]] FittedPath<Model> keep_training_samples(SharedWork& work, Path<Settings> path,
                                                      const RunContext& ctx) {
  FittedPath<Model> fitted;
  for (const Settings& settings : path) {
    fitted.push_back({{{make_voters(work.train(), settings.ties, ctx),
                        {work.train().matrices.front().block},
                        settings}},
                      {}});
  }
  return fitted;
}

/// One neighbourhood of one query with the models that asked for it, models[s] for s in `steps`,
/// and where their answers go: row `query` of predictions[s].
template <class Model>
struct LocalTask {
  std::span<const Model> models;
  std::span<const std::size_t> steps;
  Index query;
  Neighbours chosen;
  const Matrix& among;  ///< all neighbours of the query, nearest first; those chosen are its corner
  std::vector<Prediction>& predictions;

  [[nodiscard]] const Voters& voters() const { return models.front().voters; }
  [[nodiscard]] Index size() const { return std::ssize(chosen.samples); }
  [[nodiscard]] LocalKernel kernel() const {
    return local_kernel(among.topLeftCorner(size(), size()), chosen);
  }
  void answer(std::size_t step, int label, const VectorRef& scores) const {
    predictions[step].labels[static_cast<std::size_t>(query)] = label;
    predictions[step].scores.row(query) = scores.transpose();
  }
};

/// Queries that one thread takes at a time: each costs a decomposition.
inline constexpr std::size_t kLocalQueriesPerUnit = 8;

/// One search per query for every model with the same ties. `solve` takes the LocalTasks of a
/// query, one per number of neighbours, the fewest first; queries run in parallel.
template <class Model, class Solve>
[[nodiscard]] std::vector<Prediction> predict_neighbourhoods(std::span<const Model> models,
                                                             const QueryBlock& queries,
                                                             const Solve& solve,
                                                             const RunContext& ctx) {
  return predict_in_runs(models, [&](std::span<const Model> run) {
    const Model& any = run.front();
    std::vector<Prediction> predictions(
        run.size(), blank_prediction(queries.size(), any.voters.classes, false));
    std::map<Index, std::vector<std::size_t>> steps_of;  // by the number of neighbours
    for (std::size_t m = 0; m < run.size(); ++m) {
      steps_of[run[m].settings.neighbours].push_back(m);
    }
    const auto answer = [&](Index query, const Neighbours& all) {
      // Nearest first: the block of fewer neighbours is a corner of this one.
      const Matrix among = any.pairs.among(all.samples);
      std::vector<LocalTask<Model>> tasks;
      tasks.reserve(steps_of.size());
      for (const auto& [count, steps] : steps_of) {
        tasks.push_back({run, steps, query, first(all, count), among, predictions});
      }
      solve(std::span<const LocalTask<Model>>(tasks));
    };
    for_each_query(any.voters, queries, steps_of.rbegin()->first, kLocalQueriesPerUnit, answer,
                   ctx);
    return predictions;
  });
}

/// The weights of each query's neighbours, which `weigh(kernel)` gives.
template <class Model, class Weigh>
[[nodiscard]] std::vector<Explanation> explain_neighbourhoods(const Model& model,
                                                              const QueryBlock& queries,
                                                              const Weigh& weigh,
                                                              const RunContext& ctx) {
  std::vector<Explanation> explanations(static_cast<std::size_t>(queries.size()));
  const auto answer = [&](Index query, const Neighbours& chosen) {
    Explanation& own = explanations[static_cast<std::size_t>(query)];
    own.by = ExplainedBy::kVotes;
    if (chosen.samples.empty()) return;
    const Vector w = weigh(local_kernel(model.pairs.among(chosen.samples), chosen));
    own = explain_votes(chosen.samples, {w.data(), static_cast<std::size_t>(w.size())});
  };
  for_each_query(model.voters, queries, model.settings.neighbours, kLocalQueriesPerUnit, answer,
                 ctx);
  return explanations;
}

/// The settings that all of them have after their own.
template <class Settings>
void describe_treatment_and_ties(Settings& settings, FieldVisitor& field) {
  field("test-treatment", settings.test_treatment, {Treatment::kLinear, Treatment::kNone},
        "what is done to the query's similarities: as the block's spectrum, or nothing");
  field("ties", settings.ties, kTiesHelp);
}

}  // namespace kith
