// SPDX-License-Identifier: Apache-2.0
#include "evaluate/unit.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

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

constexpr std::size_t kSubproblemsKept = 6;
constexpr std::size_t kPointsKept = 120;

/// At most kPointsKept positions out of `size`, evenly spread, the first and the last among them.
std::vector<std::size_t> thinned(std::size_t size) {
  std::vector<std::size_t> kept;
  const std::size_t count = std::min(size, kPointsKept);
  for (std::size_t i = 0; i < count; ++i) {
    kept.push_back(count < 2 ? 0 : i * (size - 1) / (count - 1));
  }
  return kept;
}

Json bounds_json(const std::vector<BoundsStep>& trace) {
  Json bounds = Json::array();
  for (const std::size_t i : thinned(trace.size())) {
    bounds.push_back({i + 1, trace[i].lower, trace[i].upper});
  }
  return bounds;
}

Json thinned_json(const Json& list) {
  Json kept = Json::array();
  for (const std::size_t i : thinned(list.size())) kept.push_back(list[i]);
  return kept;
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
  const QueryBlock queries = over_needed(fitted.model, part.queries);
  Refit result{.prediction = predict(fitted.model, queries, ctx), .info = std::move(fitted.info)};
  if (!rule.empty()) apply(rule, result.prediction);
  return result;
}

Json learned_excerpt(const FitInfo& info) {
  Json excerpt = Json::array();
  for (std::size_t i = 0; i < std::min(info.subproblems.size(), kSubproblemsKept); ++i) {
    const Subproblem& part = info.subproblems[i];
    Json one = Json::object();
    if (!part.kernel_weights.empty()) {
      for (const KernelWeight& weight : part.kernel_weights) {
        one["kernel_weights"].push_back({{"matrix", weight.matrix}, {"weight", weight.weight}});
      }
    }
    if (!part.trace.empty()) one["bounds"] = bounds_json(part.trace);
    if (info.learned.is_array() && i < info.learned.size() &&
        info.learned[i].contains("multipliers")) {
      one["eigenvalues"] = thinned_json(info.learned[i].at("eigenvalues"));
      one["multipliers"] = thinned_json(info.learned[i].at("multipliers"));
    }
    if (one.empty()) continue;
    one["name"] = part.name;
    excerpt.push_back(std::move(one));
  }
  return excerpt;
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
