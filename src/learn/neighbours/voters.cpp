// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/neighbours/voters.hpp"

#include <algorithm>
#include <optional>

#include "kith/core/parallel.hpp"

namespace kith {
namespace {

constexpr std::size_t kQueriesPerUnit = 64;

void fill(const Voters& voters, const Neighbours& neighbours, std::span<const double> weights,
          Index query, Prediction& prediction) {
  Vector sums = class_sums(voters, neighbours.samples, weights);
  const int label = heaviest(voters, neighbours.samples, sums);
  if (neighbours.samples.empty()) {
    sums = training_shares(voters);
  } else {
    sums /= sums.sum();
  }
  prediction.labels[static_cast<std::size_t>(query)] = label;
  prediction.scores.row(query) = sums.transpose();
  prediction.probabilities.row(query) = sums.transpose();
}

/// The class that training has most of among those without a member in `neighbours`; of equals the
/// one with the first sample in the order of ties. None where all classes have one.
std::optional<int> of_no_neighbour(const Voters& voters, std::span<const Index> neighbours) {
  Vector shares = training_shares(voters);
  for (const Index sample : neighbours) shares(voters.labels[static_cast<std::size_t>(sample)]) = 0;
  const double most = shares.maxCoeff();
  if (!(most > 0)) return std::nullopt;
  for (const Index sample : voters.ties.sample_at) {
    const int c = voters.labels[static_cast<std::size_t>(sample)];
    if (shares(c) == most) return c;
  }
  return std::nullopt;
}

}  // namespace

Voters make_voters(const TrainingSet& train, TieRule rule, const RunContext& ctx) {
  return {.classes = train.labels.class_count(),
          .labels = train.labels.ids,
          .ties = tie_order(train.size(), rule, ctx)};
}

Explanation explain_votes(std::span<const Index> neighbours, std::span<const double> weights) {
  Explanation explanation{.by = ExplainedBy::kVotes, .samples = {}};
  for (std::size_t k = 0; k < neighbours.size(); ++k) {
    explanation.samples.push_back({neighbours[k], weights[k]});
  }
  return explanation;
}

GridAxis neighbour_grid() {
  GridAxis axis{.field = "neighbours", .values = {}, .simpler = Simpler::kLarger};
  for (int k = 1; k <= 16; ++k) axis.values.push_back(std::to_string(k));
  for (const int k : {32, 64, 128}) axis.values.push_back(std::to_string(k));
  return axis;
}

Vector class_sums(const Voters& voters, std::span<const Index> neighbours,
                  std::span<const double> weights) {
  Vector sums = Vector::Zero(voters.classes);
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    sums(voters.labels[static_cast<std::size_t>(neighbours[i])]) += weights[i];
  }
  return sums;
}

int heaviest(const Voters& voters, std::span<const Index> neighbours, const VectorRef& sums) {
  if (neighbours.empty()) {
    Index largest = 0;
    training_shares(voters).maxCoeff(&largest);
    return static_cast<int>(largest);
  }
  int best = voters.labels[static_cast<std::size_t>(neighbours.front())];
  for (const Index neighbour : neighbours) {
    const int c = voters.labels[static_cast<std::size_t>(neighbour)];
    if (sums(c) > sums(best)) best = c;
  }
  return best;
}

int largest_sum(const Voters& voters, std::span<const Index> neighbours, const VectorRef& sums) {
  const int best = heaviest(voters, neighbours, sums);
  const bool negative = !neighbours.empty() && sums(best) < 0;
  return negative ? of_no_neighbour(voters, neighbours).value_or(best) : best;
}

Vector training_shares(const Voters& voters) {
  Vector shares = Vector::Zero(voters.classes);
  for (const int label : voters.labels) shares(label) += 1;
  return shares / std::max<double>(1, static_cast<double>(voters.size()));
}

Neighbours first(const Neighbours& neighbours, Index count) {
  const auto kept = std::min(static_cast<std::size_t>(count), neighbours.samples.size());
  return {.samples = {neighbours.samples.begin(),
                      neighbours.samples.begin() + static_cast<std::ptrdiff_t>(kept)},
          .similarities = {neighbours.similarities.begin(),
                           neighbours.similarities.begin() + static_cast<std::ptrdiff_t>(kept)}};
}

void for_each_query(const Voters& voters, const QueryBlock& queries, Index most, std::size_t grain,
                    const NeighbourFunction& body, const RunContext& ctx) {
  const NeighbourRows rows(queries.matrices.front());
  check_columns(rows.samples(), voters.size());
  const auto count = static_cast<std::size_t>(rows.queries());
  parallel_chunks(count, grain, ctx.threads, [&](std::size_t begin, std::size_t end) {
    ctx.check_stop();
    for (std::size_t q = begin; q < end; ++q) {
      const auto query = static_cast<Index>(q);
      body(query, rows.nearest(query, most, voters.ties));
    }
  });
}

std::vector<Prediction> predict_by_weights(const Voters& voters, std::span<const Index> counts,
                                           const QueryBlock& queries, const WeightFunction& weights,
                                           const RunContext& ctx) {
  std::vector<Prediction> predictions(counts.size(),
                                      blank_prediction(queries.size(), voters.classes, true));
  const Index most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  const auto vote = [&](Index query, const Neighbours& all) {
    for (std::size_t step = 0; step < counts.size(); ++step) {
      const Neighbours chosen = first(all, counts[step]);
      fill(voters, chosen, weights(chosen), query, predictions[step]);
    }
  };
  for_each_query(voters, queries, most, kQueriesPerUnit, vote, ctx);
  return predictions;
}

}  // namespace kith
