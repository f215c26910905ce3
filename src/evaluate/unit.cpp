// SPDX-License-Identifier: Apache-2.0
#include "evaluate/unit.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kith/core/error.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/learn/decision.hpp"
#include "kith/pipeline/committee.hpp"

namespace kith::detail {
namespace {

/// The mean error of a guess among the classes whose scores are equal to that of the label. A rule
/// that breaks ties by something else than the scores, such as the nearest of many neighbours,
/// would be rated by that, and not by the setting that is to be rated.
double error_of(const Prediction& prediction, Index query, int truth) {
  const int said = prediction.labels[static_cast<std::size_t>(query)];
  if (prediction.scores.rows() <= query) return said != truth ? 1 : 0;
  const auto scores = prediction.scores.row(query);
  const double top = scores(said);
  const auto tied = static_cast<double>((scores.array() == top).count());
  if (!(tied > 1)) return said != truth ? 1 : 0;
  return scores(truth) == top ? 1 - 1 / tied : 1;
}

/// Over the held-out samples.
struct Loss {
  double sum = 0;
  double squares = 0;
};

Loss loss_of(const Prediction& prediction, const std::vector<int>& truth,
             const DecisionRule& rule) {
  Loss loss;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    double own = prediction.labels[i] != truth[i] ? 1 : 0;
    if (rule.costs.size() > 0) {
      own = rule.costs(truth[i], prediction.labels[i]);
    } else if (rule.empty()) {
      own = error_of(prediction, static_cast<Index>(i), truth[i]);
    }
    loss.sum += own;
    loss.squares += own * own;
  }
  return loss;
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

namespace {

std::vector<Loss> grid_losses(const FoldPart& part, SharedWork& work, const Candidate& candidate,
                              const GridPoints& grid, RunContext& ctx) {
  const DecisionRule rule = make_decision_rule(candidate.choice.decision, part.training.set.labels);
  std::vector<AnySettings> settings = grid.settings;
  for (AnySettings& one : settings) leave_out_proof(one);
  std::vector<AnyModel> models;
  for (Fitted<AnyModel>& fitted : fit_path(work, settings, ctx)) {
    models.push_back(std::move(fitted.model));
  }
  std::vector<Loss> losses;
  for (Prediction& prediction : predict_path(models, part.queries, ctx)) {
    if (!rule.empty()) apply(rule, prediction);
    losses.push_back(loss_of(prediction, part.truth, rule));
  }
  return losses;
}

}  // namespace

double standard_error_of(const DecisionSettings& decision, double sum, double squares,
                         Index samples) {
  if (!decision.costs.empty()) return standard_error_of_losses(sum, squares, samples);
  return standard_error(sum / static_cast<double>(std::max<Index>(samples, 1)), samples);
}

std::vector<InputVariant> inputs_of(const Candidate& part, const ExperimentData& data) {
  if (!part.inputs.empty()) return part.inputs;
  return {{.settings = settled(data.input, part.choice.settings)}};
}

bool is_validated(const Candidate& candidate, const ExperimentData& data, Index samples) {
  return candidate.is_committee() || !tunes_itself(candidate.choice.settings) ||
         inputs_of(candidate, data).size() * grid_points(candidate, samples).settings.size() > 1;
}

bool same_work(const Candidate& a, const Candidate& b, const ExperimentData& data) {
  CandidateRecord first = candidate_record(a, data);
  CandidateRecord second = candidate_record(b, data);
  first.name = second.name;
  return first == second && inputs_of(a, data) == inputs_of(b, data);
}

std::vector<PartLosses> losses_of(
    const ExperimentData& data, const Division& division, std::span<const Candidate* const> parts,
    Index samples, MissingPairs missing, RunContext& ctx,
    const std::function<void(const Candidate&)>& begin,
    const std::function<void(std::size_t, const PartLosses&)>& ended) {
  struct Plan {
    std::vector<InputVariant> inputs;
    GridPoints grid;
    std::size_t left = 0;  // inputs
  };
  std::vector<Plan> plans;
  std::vector<PartLosses> found(parts.size());
  std::vector<InputVariant> variants;
  for (std::size_t c = 0; c < parts.size(); ++c) {
    plans.push_back({inputs_of(*parts[c], data), grid_points(*parts[c], samples)});
    plans[c].left = plans[c].inputs.size();
    found[c].losses.resize(plans[c].inputs.size() * plans[c].grid.settings.size());
    found[c].squares.resize(found[c].losses.size());
    for (const InputVariant& one : plans[c].inputs) {
      if (std::find(variants.begin(), variants.end(), one) == variants.end())
        variants.push_back(one);
    }
  }
  for (const InputVariant& variant : variants) {
    const FoldPart part(data, variant, division.train, division.held_out, missing, ctx);
    SharedWork work(part.training.set);
    for (std::size_t c = 0; c < parts.size(); ++c) {
      const auto& inputs = plans[c].inputs;
      const auto at = std::find(inputs.begin(), inputs.end(), variant);
      if (at == inputs.end() || found[c].failure) continue;
      begin(*parts[c]);
      const Stopwatch clock;
      try {
        const std::vector<Loss> losses = grid_losses(part, work, *parts[c], plans[c].grid, ctx);
        auto place = static_cast<std::size_t>(at - inputs.begin()) * losses.size();
        for (const Loss& loss : losses) {
          found[c].losses[place] = loss.sum;
          found[c].squares[place++] = loss.squares;
        }
      } catch (const Error& error) {
        if (!is_about_the_data(error)) throw;
        found[c].failure = error.what();
      }
      found[c].seconds += clock.seconds();
      if (ended && (--plans[c].left == 0 || found[c].failure)) ended(c, found[c]);
    }
  }
  return found;
}

bool is_about_the_data(const Error& error) {
  return error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kBadInput;
}

Refit refit(const FoldPart& part, SharedWork& work, const DecisionSettings& decision,
            AnySettings settings, RunContext& ctx) {
  leave_out_proof(settings);
  const DecisionRule rule = make_decision_rule(decision, part.training.set.labels);
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
    const std::span<const Candidate> parts = parts_of(one);
    return std::all_of(parts.begin(), parts.end(), [](const Candidate& part) {
      return takes_missing_pairs(part.choice.settings);
    });
  });
  return all ? MissingPairs::kKept : MissingPairs::kRefused;
}

}  // namespace kith::detail
