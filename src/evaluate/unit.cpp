// SPDX-License-Identifier: Apache-2.0
#include "evaluate/unit.hpp"

#include <algorithm>

#include "kith/learn/decision.hpp"

namespace kith::detail {
namespace {

double loss_of(const Prediction& prediction, const std::vector<int>& truth,
               const DecisionRule& rule) {
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const int said = prediction.labels[i];
    if (rule.costs.size() > 0) {
      sum += rule.costs(truth[i], said);
    } else if (said != truth[i]) {
      sum += 1;
    }
  }
  return sum;
}

}  // namespace

std::vector<double> grid_losses(const FoldPart& part, SharedWork& work, const Candidate& candidate,
                                const GridPoints& grid, RunContext& ctx) {
  const DecisionRule rule = make_decision_rule(candidate.choice.decision, part.training.set.labels);
  std::vector<AnyModel> models;
  for (Fitted<AnyModel>& fitted : fit_path(work, grid.settings, ctx)) {
    models.push_back(std::move(fitted.model));
  }
  std::vector<double> losses;
  for (Prediction& prediction : predict_path(models, part.queries, ctx)) {
    if (!rule.empty()) apply(rule, prediction);
    losses.push_back(loss_of(prediction, part.truth, rule));
  }
  return losses;
}

Refit refit(const FoldPart& part, SharedWork& work, const Candidate& candidate,
            const AnySettings& settings, RunContext& ctx) {
  const DecisionRule rule = make_decision_rule(candidate.choice.decision, part.training.set.labels);
  Fitted<AnyModel> fitted = fit(work, settings, ctx);
  Refit result{.prediction = predict(fitted.model, part.queries, ctx),
               .info = std::move(fitted.info)};
  if (!rule.empty()) apply(rule, result.prediction);
  return result;
}

Index smallest_training_part(std::span<const int> fold_of) {
  const int folds = 1 + *std::max_element(fold_of.begin(), fold_of.end());
  Index largest = 0;
  for (int f = 0; f < folds; ++f) {
    largest = std::max<Index>(largest, std::count(fold_of.begin(), fold_of.end(), f));
  }
  return static_cast<Index>(fold_of.size()) - largest;
}

MissingPairs missing_pairs_for(std::span<const Candidate> candidates) {
  const bool all = std::all_of(candidates.begin(), candidates.end(), [](const Candidate& one) {
    return takes_missing_pairs(one.choice.settings);
  });
  return all ? MissingPairs::kKept : MissingPairs::kRefused;
}

}  // namespace kith::detail
