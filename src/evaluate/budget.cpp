// SPDX-License-Identifier: Apache-2.0
#include "evaluate/budget.hpp"

#include <algorithm>
#include <cmath>

#include "kith/core/stopwatch.hpp"
#include "kith/data/folds.hpp"

namespace kith::detail {
namespace {

/// The time of a method on all samples is estimated on a few: on kFirst of all methods, then on
/// kSampled of those that take a small share of the budget there, the cheapest first. So few
/// samples cost more to set up than to learn from, and their times hardly grow yet.
constexpr Index kFirst = 50;
constexpr Index kSampled = 150;
constexpr double kShareForEstimates = 0.2;
constexpr double kFirstGrowth = 1.5;
/// Decompositions cost n^3, products and sorts n^2.
constexpr double kGrowth = 2.6;

double growth(Index from, Index to, double power) {
  return std::pow(static_cast<double>(to) / static_cast<double>(from), power);
}

}  // namespace

std::vector<std::size_t> cheapest_first(const std::vector<double>& seconds) {
  std::vector<std::size_t> order(seconds.size());
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return seconds[a] < seconds[b]; });
  return order;
}

namespace {

/// Seconds of one fold over all samples for each method, by one fold of about `count` of them; 0
/// where these are too few to tell.
std::vector<double> seconds_of_a_fold(const ExperimentData& data,
                                      std::span<const Candidate* const> methods, Index count,
                                      Index folds, MissingPairs missing, RunContext& ctx) {
  const Index parts = std::max<Index>(2, data.samples() / count);
  // How long a method takes does not hang on who stands together.
  const Labels alone{.ids = data.labels.ids, .names = data.labels.names};
  const std::vector<int> part_of =
      draw_folds(alone, std::min(parts, data.samples()), Stratify::kYes, ctx.rng, 1);
  std::vector<Index> few;
  for (std::size_t i = 0; i < part_of.size(); ++i) {
    if (part_of[i] == 0 || (parts == 2 && part_of[i] == 1)) few.push_back(static_cast<Index>(i));
  }
  // The last of them are held out.
  const auto held = static_cast<std::ptrdiff_t>(few.size() / static_cast<std::size_t>(folds));
  const std::vector<Index> train(few.begin(), few.end() - held);
  const std::vector<Index> held_out(few.end() - held, few.end());
  if (!select(data.labels, train).has_two_classes() || held_out.empty()) {
    return std::vector<double>(methods.size(), 0);
  }
  RunContext own = ctx;
  own.sink = nullptr;
  const Stopwatch clock;
  const std::vector<PartLosses> found =
      losses_of(data, {train, held_out}, methods, std::ssize(train), missing, own,
                [&](const Candidate&) { ctx.check_stop(); });
  // What they share, such as conditioning, is part of each: a budget is rather kept than used up.
  double shared = clock.seconds();
  for (const PartLosses& one : found) shared -= one.seconds;
  std::vector<double> seconds;
  seconds.reserve(found.size());
  for (const PartLosses& one : found) {
    seconds.push_back((one.seconds + std::max(shared, 0.0)) *
                      growth(std::ssize(few), data.samples(), kGrowth));
  }
  return seconds;
}

}  // namespace

std::vector<double> estimated_seconds(const ExperimentData& data,
                                      std::span<const Candidate* const> methods, double budget,
                                      Index folds, MissingPairs missing, RunContext& ctx) {
  std::vector<double> seconds = seconds_of_a_fold(data, methods, kFirst, folds, missing, ctx);
  std::vector<const Candidate*> again;
  std::vector<std::size_t> places;
  double sum = 0;
  for (const std::size_t c : cheapest_first(seconds)) {
    const double own = seconds[c] / growth(kFirst, data.samples(), kGrowth) *
                       growth(kFirst, kSampled, kFirstGrowth);
    if (data.samples() <= kSampled || sum + own > kShareForEstimates * budget) break;
    sum += own;
    again.push_back(methods[c]);
    places.push_back(c);
  }
  if (!again.empty()) {
    const std::vector<double> better =
        seconds_of_a_fold(data, again, kSampled, folds, missing, ctx);
    for (std::size_t k = 0; k < again.size(); ++k) seconds[places[k]] = better[k];
  }
  for (double& one : seconds) one *= static_cast<double>(folds + 1);  // the last is the final fit
  return seconds;
}

}  // namespace kith::detail
