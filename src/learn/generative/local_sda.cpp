// SPDX-License-Identifier: Apache-2.0
// [TR] 5.1. The rule of sda over the neighbourhood of one query: local centroids, local averages,
// local priors. If any class present has fewer than three neighbours every lambda is zero, and the
// label is that of the most similar local centroid.
//
// Notation: `near` the neighbours of a query, nearest first; T_m the similarity to the m-th of
// those that serve as statistics; c classes present, k neighbours.
// Cost per query: one partial sort, the k_g^2 similarities within each class, c^2 scalar roots
// (k c with statistics=samples).
#include "kith/learn/generative/local_sda.hpp"

#include <algorithm>
#include <cmath>

#include "kith/learn/generative/statistics.hpp"

namespace kith {
namespace {

constexpr std::size_t kQueriesPerUnit = 8;
constexpr Index kFewestToFit = 3;

struct LocalDecision {
  int label = 0;
  Vector log_probabilities;
};

/// One neighbourhood, by class.
struct Local {
  const Neighbours& near;
  std::vector<std::vector<Index>> members;  ///< positions in `near`, per class
  std::vector<Index> counts;
  std::vector<Index> centroids;  ///< position in `near`, per class; -1 where there is none
};

double pair_of(const LocalSdaModel& model, Index i, Index j) {
  const auto& block = std::get<DenseBlock>(model.pairs.block);
  return 0.5 * (block(i, j) + block(j, i));
}

Neighbours neighbourhood_of(const LocalSdaModel& model, const Neighbours& sorted) {
  if (model.settings.neighbourhood == Neighbourhood::kOverall) {
    return first(sorted, model.settings.neighbours);
  }
  std::vector<Index> taken(static_cast<std::size_t>(model.voters.classes), 0);
  Neighbours near;
  for (std::size_t i = 0; i < sorted.samples.size(); ++i) {
    const auto sample = static_cast<std::size_t>(sorted.samples[i]);
    if (taken[static_cast<std::size_t>(model.voters.labels[sample])]++ >=
        model.settings.neighbours) {
      continue;
    }
    near.samples.push_back(sorted.samples[i]);
    near.similarities.push_back(sorted.similarities[i]);
  }
  return near;
}

Local by_class(const LocalSdaModel& model, const Neighbours& near) {
  Local local{.near = near, .members = {}, .counts = {}, .centroids = {}};
  local.members.resize(static_cast<std::size_t>(model.voters.classes));
  for (std::size_t i = 0; i < near.samples.size(); ++i) {
    const auto sample = static_cast<std::size_t>(near.samples[i]);
    local.members[static_cast<std::size_t>(model.voters.labels[sample])].push_back(
        static_cast<Index>(i));
  }
  const auto sample_at = [&](Index position) {
    return near.samples[static_cast<std::size_t>(position)];
  };
  for (const std::vector<Index>& own : local.members) {
    local.counts.push_back(static_cast<Index>(own.size()));
    local.centroids.push_back(own.empty() ? -1 : own[centroid(own, [&](Index a, Index b) {
      return pair_of(model, sample_at(a), sample_at(b));
    })]);
  }
  return local;
}

bool enough_to_fit(const Local& local) {
  return std::none_of(local.counts.begin(), local.counts.end(),
                      [](Index count) { return count > 0 && count < kFewestToFit; });
}

/// How common the classes present are: in the neighbourhood, or, where every class was given the
/// same number of places in it, in training.
Vector log_priors(const LocalSdaModel& model, const Local& local) {
  if (model.settings.neighbourhood == Neighbourhood::kOverall) return log_shares(local.counts);
  std::vector<Index> counts(local.counts.size(), 0);
  for (const int label : model.voters.labels) {
    const auto g = static_cast<std::size_t>(label);
    if (local.counts[g] > 0) ++counts[g];
  }
  return log_shares(counts);
}

/// The centroid rule gives no density. Its decision counts for as much as the priors do, so that
/// the label is the most probable class and no class present is impossible.
LocalDecision nearest_centroid(const LocalSdaModel& model, const Local& local) {
  Index nearest = -1;  // position in `near`, which is sorted: the least is the most similar
  LocalDecision decision;
  for (std::size_t g = 0; g < local.centroids.size(); ++g) {
    const Index own = local.centroids[g];
    if (own < 0 || (nearest >= 0 && own > nearest)) continue;
    nearest = own;
    decision.label = static_cast<int>(g);
  }
  Vector shares = log_priors(model, local).unaryExpr([](double x) { return 0.5 * std::exp(x); });
  shares(decision.label) += 0.5;
  decision.log_probabilities = shares.array().log();
  return decision;
}

std::vector<Index> statistics_of(const LocalSdaModel& model, const Local& local) {
  if (model.settings.statistics == SdaStatistics::kSamples) {
    return all_positions(std::ssize(local.near.samples));
  }
  std::vector<Index> positions;
  for (const Index position : local.centroids) {
    if (position >= 0) positions.push_back(position);
  }
  return positions;
}

/// log p(T(x) | g), the densities fitted to the neighbours of class g.
double log_likelihood(const LocalSdaModel& model, const Local& local, std::size_t g,
                      std::span<const Index> statistics) {
  const std::vector<Index>& own = local.members[g];
  const auto count = static_cast<double>(own.size());
  double sum = 0;
  for (const Index m : statistics) {
    const auto position = static_cast<std::size_t>(m);
    double mean = 0;
    for (const Index z : own) {
      mean += model.support.unit(pair_of(model, local.near.samples[static_cast<std::size_t>(z)],
                                         local.near.samples[position]));
    }
    const Exponential density = with_mean(model.support, off_the_ends(mean / count, count));
    sum += density.log_density(model.support.unit(local.near.similarities[position]));
  }
  return sum;
}

LocalDecision classify(const LocalSdaModel& model, const Neighbours& near) {
  const Local local = by_class(model, near);
  if (near.samples.empty()) {
    const Vector shares = training_shares(model.voters);
    return {.label = heaviest(model.voters, near.samples, shares),
            .log_probabilities = shares.array().log()};
  }
  if (!enough_to_fit(local)) return nearest_centroid(model, local);
  const std::vector<Index> statistics = statistics_of(model, local);
  Vector joint = log_priors(model, local);
  for (std::size_t g = 0; g < local.counts.size(); ++g) {
    if (local.counts[g] > 0) {
      joint(static_cast<Index>(g)) += log_likelihood(model, local, g, statistics);
    }
  }
  return {.label = heaviest(model.voters, near.samples, joint),
          .log_probabilities = joint.array() - log_sum_exp(joint)};
}

void write(const LocalDecision& decision, Index query, Prediction& prediction) {
  // Eigen's own exp of minus infinity is not quite 0.
  const Vector shares = decision.log_probabilities.unaryExpr([](double x) { return std::exp(x); });
  prediction.labels[static_cast<std::size_t>(query)] = decision.label;
  prediction.probabilities.row(query) = (shares / shares.sum()).transpose();
  prediction.scores.row(query) = finite_scores(decision.log_probabilities).transpose();
}

/// Models over the same tie order.
std::vector<Prediction> predict_run(std::span<const LocalSdaModel> models,
                                    const QueryBlock& queries, const RunContext& ctx) {
  const Voters& voters = models.front().voters;
  Index most = 0;
  for (const LocalSdaModel& model : models) {
    const bool overall = model.settings.neighbourhood == Neighbourhood::kOverall;
    most = std::max(most, overall ? model.settings.neighbours : voters.size());
  }
  std::vector<Prediction> predictions(models.size(),
                                      blank_prediction(queries.size(), voters.classes, true));
  const auto answer = [&](Index query, const Neighbours& sorted) {
    for (std::size_t m = 0; m < models.size(); ++m) {
      write(classify(models[m], neighbourhood_of(models[m], sorted)), query, predictions[m]);
    }
  };
  for_each_query(voters, queries, most, kQueriesPerUnit, answer, ctx);
  return predictions;
}

}  // namespace

void describe(LocalSdaSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kNeighbours)("neighbours", settings.neighbours, at_least(1),
                                   "how many neighbours take part");
  field("statistics", settings.statistics,
        "which similarities describe a sample: to the local class centroids, or to all neighbours");
  field("support", settings.support, kSupportHelp);
  field("neighbourhood", settings.neighbourhood,
        "the nearest of all training samples, or as many of each class");
  field("ties", settings.ties, kTiesHelp);
}

FittedPath<LocalSdaModel> fit_path(SharedWork& work, Path<LocalSdaSettings> path, RunContext& ctx) {
  Supports supports(work.symmetric());
  FittedPath<LocalSdaModel> fitted;
  for (const LocalSdaSettings& settings : path) {
    fitted.push_back({{.voters = make_voters(work.train(), settings.ties, ctx),
                       .pairs = {.block = work.dense()},
                       .support = supports.of(settings.support),
                       .settings = settings},
                      {}});
  }
  return fitted;
}

std::vector<Prediction> predict_path(std::span<const LocalSdaModel> models,
                                     const QueryBlock& queries, RunContext& ctx) {
  return predict_in_runs(
      models, [&](std::span<const LocalSdaModel> run) { return predict_run(run, queries, ctx); });
}

}  // namespace kith
