// SPDX-License-Identifier: Apache-2.0
// Weights of the k nearest neighbours, [TR] (12):
//
//   w = (K + ridge I)^-1 k,    K the mended k x k block of S, k the query's treated similarities.
//
// Notation: S = U diag(lambda) U' the block as it is, s the query's similarities to the neighbours.
// pinv keeps S and inverts S + ridge I on the eigenvalues that are not zero. Every ridge and every
// spectrum rule comes from one decomposition of S. The label is the class of the largest sum of
// weights, (8); they may be negative, so the sums are scores and no probabilities, and a class
// without neighbours, whose sum of no weights is 0, wins where all others are below 0.
// Cost per query: one partial sort, and k^3 for each number of neighbours.
#include "kith/learn/neighbours/krr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "learn/neighbours/local_method.hpp"

namespace kith {
namespace {

/// The sums of the classes. A class without a training sample cannot be the answer and stays below
/// all others.
Vector krr_scores(const Voters& voters, const Neighbours& chosen, const Vector& weights) {
  const std::span<const double> each(weights.data(), static_cast<std::size_t>(weights.size()));
  Vector sums = class_sums(voters, chosen.samples, each);
  if (sums.minCoeff() >= 0) return sums;
  const Vector shares = training_shares(voters);
  const double below = 2 * sums.minCoeff();
  for (Index c = 0; c < sums.size(); ++c) {
    if (shares(c) == 0) sums(c) = below;
  }
  return sums;
}

/// Those that the label goes by.
Vector weights_of(const LocalKernel& kernel, const KrrSettings& own) {
  Vector w = krr_weights(kernel, own.ridge, own.spectrum, own.test_treatment);
  return own.normalised ? normalised_weights(std::move(w)) : w;
}

void regress(const LocalTask<KrrModel>& task) {
  const LocalKernel kernel = task.kernel();
  for (const std::size_t step : task.steps) {
    const KrrSettings& own = task.models[step].settings;
    const Vector w = weights_of(kernel, own);
    const Vector sums = krr_scores(task.voters(), task.chosen, w);
    task.answer(step, largest_sum(task.voters(), task.chosen.samples, sums), sums);
  }
}

}  // namespace

Vector krr_weights(const LocalKernel& kernel, double ridge, Spectrum spectrum,
                   Treatment treatment) {
  const Vector shifted = kernel.eigenvalues(spectrum).array() + ridge;
  const Vector target = kernel.treated(spectrum, treatment);
  const double largest = shifted.size() > 0 ? shifted.cwiseAbs().maxCoeff() : 0;
  const double zero =
      static_cast<double>(shifted.size()) * std::numeric_limits<double>::epsilon() * largest;
  Vector rotated = Vector::Zero(shifted.size());
  for (Index i = 0; i < shifted.size(); ++i) {
    if (std::abs(shifted(i)) > zero) rotated(i) = target(i) / shifted(i);
  }
  if (rotated.size() == 0) return rotated;  // BLAS complains of empty products on standard output
  return kernel.U * rotated;
}

Vector normalised_weights(Vector w) {
  if (w.size() > 0) w.array() += (1 - w.sum()) / static_cast<double>(w.size());
  return w;
}

void describe(KrrSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kNeighbours)("neighbours", settings.neighbours, at_least(1),
                                   "how many neighbours take part");
  field("ridge", settings.ridge, above(0.0), "added to the diagonal of the neighbours' block");
  field("spectrum", settings.spectrum,
        {{Spectrum::kNone, "pinv"}, Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift},
        "what is done to a block that is not positive semidefinite: pseudo-inverse, or modified");
  field(
      "normalised", settings.normalised,
      "shift all weights of a query's neighbours by one constant, so that they sum to 1 (footnote "
      "3 of [TR])");
  describe_treatment_and_ties(settings, field);
}

FittedPath<KrrModel> fit_path(SharedWork& work, Path<KrrSettings> path, RunContext& ctx) {
  return keep_training_samples(work, path, ctx);
}

std::vector<Prediction> predict_path(std::span<const KrrModel> models, const QueryBlock& queries,
                                     RunContext& ctx) {
  const auto regress_all = [](std::span<const LocalTask<KrrModel>> tasks) {
    for (const LocalTask<KrrModel>& task : tasks) regress(task);
  };
  return predict_neighbourhoods(models, queries, regress_all, ctx);
}

std::vector<Explanation> explain(const KrrModel& model, const QueryBlock& queries,
                                 std::span<const int> /*labels*/, RunContext& ctx) {
  return explain_neighbourhoods(
      model, queries, [&](const LocalKernel& kernel) { return weights_of(kernel, model.settings); },
      ctx);
}

}  // namespace kith
