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

#include "learn/neighbours/local_method.hpp"

namespace kith {
namespace {

/// The sums of the classes. One without neighbours has 0, the sum of no weights, unless a sum is
/// negative: 0 would then look like a recommendation, so it stays below all of them.
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
    if (!present[static_cast<std::size_t>(c)]) sums(c) = std::min(0.0, 2 * least);
  }
  return sums;
}

void regress(const LocalTask<KrrModel>& task) {
  const LocalKernel kernel = task.kernel();
  for (const std::size_t step : task.steps) {
    const KrrSettings& own = task.models[step].settings;
    const Vector w = krr_weights(kernel, own.ridge, own.spectrum, own.test_treatment);
    const Vector sums = krr_scores(task.voters(), task.chosen, w);
    task.answer(step, heaviest(task.voters(), task.chosen.samples, sums), sums);
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

void describe(KrrSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kNeighbours)("neighbours", settings.neighbours, at_least(1),
                                   "how many neighbours take part");
  field("ridge", settings.ridge, above(0.0), "added to the diagonal of the neighbours' block");
  field("spectrum", settings.spectrum,
        {{Spectrum::kNone, "pinv"}, Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift},
        "what is done to a block that is not positive semidefinite: pseudo-inverse, or modified");
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
  const KrrSettings& own = model.settings;
  return explain_neighbourhoods(
      model, queries,
      [&](const LocalKernel& kernel) {
        return krr_weights(kernel, own.ridge, own.spectrum, own.test_treatment);
      },
      ctx);
}

}  // namespace kith
