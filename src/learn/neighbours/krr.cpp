// SPDX-License-Identifier: Apache-2.0
// Weights of the k nearest neighbours, [TR] (12):
//
//   w = (K + ridge I)^-1 k,    K the mended k x k block of S, k the query's treated similarities.
//
// Notation: S = U diag(lambda) U' the block as it is, s the query's similarities to the neighbours.
// pinv keeps S and inverts S + ridge I on the eigenvalues that are not zero. Every ridge and every
// spectrum rule comes from one decomposition of S. The label is the class of the largest sum of
// weights; they may be negative, so the sums are scores and no probabilities.
// Cost per query: one partial sort, and k^3 for each number of neighbours.
#include "kith/learn/neighbours/krr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kith/core/error.hpp"

namespace kith {
namespace {

LocalSpectrum block_rule(KrrSpectrum spectrum) {
  switch (spectrum) {
    case KrrSpectrum::kPinv:
      return LocalSpectrum::kAsIs;
    case KrrSpectrum::kClip:
      return LocalSpectrum::kClip;
    case KrrSpectrum::kFlip:
      return LocalSpectrum::kFlip;
    case KrrSpectrum::kShift:
      return LocalSpectrum::kShift;
  }
  throw Error(ErrorCode::kInternal, "a krr spectrum without a rule");
}

/// The sums of the classes that have neighbours; the others get the least of them, since weights
/// may be negative and 0 would then look like a recommendation.
Vector krr_scores(const Voters& voters, const Neighbours& chosen, const Vector& weights) {
  const std::span<const double> each(weights.data(), static_cast<std::size_t>(weights.size()));
  Vector sums = class_sums(voters, chosen.samples, each);
  std::vector<bool> present(static_cast<std::size_t>(voters.classes), false);
  double least = std::numeric_limits<double>::infinity();
  for (const Index sample : chosen.samples) {
    const int c = voters.labels[static_cast<std::size_t>(sample)];
    present[static_cast<std::size_t>(c)] = true;
    least = std::min(least, sums(c));
  }
  for (Index c = 0; c < sums.size() && !chosen.samples.empty(); ++c) {
    if (!present[static_cast<std::size_t>(c)]) sums(c) = least;
  }
  return sums;
}

/// Models over the same neighbours.
std::vector<Prediction> predict_run(std::span<const KrrModel> models, const QueryBlock& queries,
                                    const RunContext& ctx) {
  std::vector<Prediction> predictions(models.size());
  std::vector<Index> counts;
  for (std::size_t m = 0; m < models.size(); ++m) {
    counts.push_back(models[m].settings.neighbours);
    predictions[m].labels.resize(static_cast<std::size_t>(queries.size()));
    predictions[m].scores = Matrix::Zero(queries.size(), models[m].voters.classes);
  }
  const Voters& voters = models.front().voters;
  const auto weigh = [&](Index query, const Neighbours& chosen, const LocalKernel& kernel,
                         std::span<const std::size_t> steps) {
    for (const std::size_t step : steps) {
      const KrrSettings& own = models[step].settings;
      const Vector w = krr_weights(kernel, own.ridge, own.spectrum, own.test_treatment);
      const Vector sums = krr_scores(voters, chosen, w);
      predictions[step].scores.row(query) = sums.transpose();
      predictions[step].labels[static_cast<std::size_t>(query)] =
          heaviest(voters, chosen.samples, sums);
    }
  };
  for_each_neighbourhood(voters, models.front().pairs, counts, queries, weigh, ctx);
  return predictions;
}

}  // namespace

Vector krr_weights(const LocalKernel& kernel, double ridge, KrrSpectrum spectrum,
                   LocalTreatment treatment) {
  const LocalSpectrum rule = block_rule(spectrum);
  const Vector shifted = kernel.eigenvalues(rule).array() + ridge;
  const Vector target = kernel.treated(rule, treatment);
  const double largest = shifted.size() > 0 ? shifted.cwiseAbs().maxCoeff() : 0;
  const double zero =
      static_cast<double>(shifted.size()) * std::numeric_limits<double>::epsilon() * largest;
  Vector rotated = Vector::Zero(shifted.size());
  for (Index i = 0; i < shifted.size(); ++i) {
    if (std::abs(shifted(i)) > zero) rotated(i) = target(i) / shifted(i);
  }
  return kernel.U * rotated;
}

std::vector<GridAxis> MethodTraits<KrrSettings>::grid(const KrrSettings& /*settings*/) {
  return {neighbour_grid(),
          {.field = "ridge", .values = powers_of_ten(-3, 1), .simpler = Simpler::kLarger}};
}

void describe(KrrSettings& settings, FieldVisitor& field) {
  field("neighbours", settings.neighbours, at_least(1), "how many neighbours take part");
  field("ridge", settings.ridge, above(0.0), "added to the diagonal of the neighbours' block");
  field("spectrum", settings.spectrum,
        "what is done to a block that is not positive semidefinite: pseudo-inverse, or modified");
  field("test-treatment", settings.test_treatment,
        "what is done to the query's similarities: as the block's spectrum, or nothing");
  field("ties", settings.ties,
        "who comes first among equally similar samples: drawn by seed, or as read");
}

std::vector<Fitted<KrrModel>> fit_path(SharedWork& work, std::span<const KrrSettings> path,
                                       RunContext& ctx) {
  std::vector<Fitted<KrrModel>> fitted;
  for (const KrrSettings& settings : path) {
    validate(settings, "krr");
    Fitted<KrrModel> one;
    one.model = {.voters = make_voters(work.train(), settings.ties, ctx),
                 .pairs = training_pairs(work),
                 .settings = settings};
    fitted.push_back(std::move(one));
  }
  return fitted;
}

Fitted<KrrModel> fit(SharedWork& work, const KrrSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

std::vector<Prediction> predict_path(std::span<const KrrModel> models, const QueryBlock& queries,
                                     RunContext& ctx) {
  std::vector<Prediction> all;
  for (const std::span<const KrrModel> run : runs_with_same_ties(models)) {
    for (Prediction& one : predict_run(run, queries, ctx)) all.push_back(std::move(one));
  }
  return all;
}

Prediction predict(const KrrModel& model, const QueryBlock& queries, RunContext& ctx) {
  return std::move(predict_path(std::span(&model, 1), queries, ctx).front());
}

std::vector<Index> needed_columns(const KrrModel& model) {
  return all_positions(model.voters.size());
}

void archive(KrrModel& model, Archive& archiver) {
  archive(model.voters, archiver);
  archive(model.pairs, archiver);
  archiver("neighbours", model.settings.neighbours);
  archiver("ridge", model.settings.ridge);
  archiver("spectrum", model.settings.spectrum);
  archiver("test_treatment", model.settings.test_treatment);
}

}  // namespace kith
