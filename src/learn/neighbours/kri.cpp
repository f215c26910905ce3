// SPDX-License-Identifier: Apache-2.0
// Weights of the k nearest neighbours, [TR] (11):
//
//   min_w 1/2 w'Kw - k'w + ridge/2 w'w   s.t.  w >= 0,  1'w = 1,
//
// K the mended k x k block of S, k the query's treated similarities; with regulariser entropy the
// last term is ridge sum_i w_i log w_i in its place ([TR] (9)). The weights, summed per class, are
// the probabilities. With spectrum none K = S may be indefinite: the least of several local minima
// is taken. Cost per query: one partial sort, k^3 for each number of neighbours, and a few steps of
// the size of the support for each ridge.
#include "kith/learn/neighbours/kri.hpp"

#include <algorithm>
#include <cmath>

#include "kith/core/error.hpp"
#include "kith/numerics/psd.hpp"

namespace kith {
namespace {

/// Local searches for a program that is not convex: from the best vertex, the centre, and the
/// vertices of the nearest neighbours.
constexpr Index kVertexStarts = 4;

LocalSpectrum block_rule(KriSpectrum spectrum) {
  switch (spectrum) {
    case KriSpectrum::kClip:
      return LocalSpectrum::kClip;
    case KriSpectrum::kFlip:
      return LocalSpectrum::kFlip;
    case KriSpectrum::kShift:
      return LocalSpectrum::kShift;
    case KriSpectrum::kNone:
      return LocalSpectrum::kAsIs;
  }
  throw Error(ErrorCode::kInternal, "a kri spectrum without a rule");
}

SimplexQpSolution from_many_starts(const Matrix& H, const Vector& s) {
  const Index k = s.size();
  SimplexQpSolution best = simplex_qp(H, s);
  const auto offer = [&](const Vector& start) {
    SimplexQpSolution other = simplex_qp(H, s, start);
    if (other.info.objective < best.info.objective) best = std::move(other);
  };
  offer(Vector::Constant(k, 1.0 / static_cast<double>(k)));
  for (Index i = 0; i < std::min(k, kVertexStarts); ++i) offer(Vector::Unit(k, i));
  return best;
}

/// Models over the same neighbours.
std::vector<Prediction> predict_run(std::span<const KriModel> models, const QueryBlock& queries,
                                    const RunContext& ctx) {
  std::vector<Prediction> predictions(models.size());
  std::vector<Index> counts;
  for (std::size_t m = 0; m < models.size(); ++m) {
    counts.push_back(models[m].settings.neighbours);
    predictions[m].labels.resize(static_cast<std::size_t>(queries.size()));
    predictions[m].probabilities = Matrix::Zero(queries.size(), models[m].voters.classes);
  }
  const Voters& voters = models.front().voters;
  const auto weigh = [&](Index query, const Neighbours& chosen, const LocalKernel& kernel,
                         std::span<const std::size_t> steps) {
    for (const std::size_t step : steps) {
      Vector sums = training_shares(voters);
      if (!chosen.samples.empty()) {
        const Vector w = kri_weights(kernel, models[step].settings).w;
        sums = class_sums(voters, chosen.samples, {w.data(), static_cast<std::size_t>(w.size())});
      }
      predictions[step].probabilities.row(query) = sums.transpose();
      predictions[step].labels[static_cast<std::size_t>(query)] =
          heaviest(voters, chosen.samples, sums);
    }
  };
  for_each_neighbourhood(voters, models.front().pairs, counts, queries, weigh, ctx);
  for (Prediction& one : predictions) one.scores = one.probabilities;
  return predictions;
}

}  // namespace

SimplexQpSolution kri_weights(const LocalKernel& kernel, const KriSettings& settings) {
  const LocalSpectrum rule = block_rule(settings.spectrum);
  const Vector s = kernel.U * kernel.treated(rule, settings.test_treatment);
  Vector values = kernel.eigenvalues(rule);
  if (settings.regulariser == KriRegulariser::kEntropy) {
    return simplex_entropy(reconstruct(kernel.U, values), s, settings.ridge);
  }
  values.array() += settings.ridge;
  const Matrix H = reconstruct(kernel.U, values);
  return values.minCoeff() > 0 ? simplex_qp(H, s) : from_many_starts(H, s);
}

std::vector<GridAxis> MethodTraits<KriSettings>::grid(const KriSettings& /*settings*/) {
  std::vector<std::string> ridges = powers_of_ten(-6, 1);
  ridges.push_back("1e6");
  return {neighbour_grid(), {.field = "ridge", .values = ridges, .simpler = Simpler::kLarger}};
}

void describe(KriSettings& settings, FieldVisitor& field) {
  field("neighbours", settings.neighbours, at_least(1), "how many neighbours take part");
  field("ridge", settings.ridge, above(0.0), "weight of the regulariser");
  field("spectrum", settings.spectrum,
        "what is done to a block that is not positive semidefinite; none: a local minimum from "
        "several "
        "starts");
  field("regulariser", settings.regulariser, "squared weights, or their negative entropy");
  field("test-treatment", settings.test_treatment,
        "what is done to the query's similarities: as the block's spectrum, or nothing");
  field("ties", settings.ties,
        "who comes first among equally similar samples: drawn by seed, or as read");
}

std::vector<Fitted<KriModel>> fit_path(SharedWork& work, std::span<const KriSettings> path,
                                       RunContext& ctx) {
  std::vector<Fitted<KriModel>> fitted;
  for (const KriSettings& settings : path) {
    validate(settings, "kri");
    if (settings.spectrum == KriSpectrum::kNone &&
        settings.regulariser == KriRegulariser::kEntropy) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "kri: regulariser entropy needs a convex program; give spectrum clip, flip or shift");
    }
    Fitted<KriModel> one;
    one.model = {.voters = make_voters(work.train(), settings.ties, ctx),
                 .pairs = training_pairs(work),
                 .settings = settings};
    if (settings.spectrum == KriSpectrum::kNone) {
      one.info.notes.emplace_back(
          "the program of a query may not be convex: the least of several local minima is taken");
    }
    fitted.push_back(std::move(one));
  }
  return fitted;
}

Fitted<KriModel> fit(SharedWork& work, const KriSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

std::vector<Prediction> predict_path(std::span<const KriModel> models, const QueryBlock& queries,
                                     RunContext& ctx) {
  std::vector<Prediction> all;
  for (const std::span<const KriModel> run : runs_with_same_ties(models)) {
    for (Prediction& one : predict_run(run, queries, ctx)) all.push_back(std::move(one));
  }
  return all;
}

Prediction predict(const KriModel& model, const QueryBlock& queries, RunContext& ctx) {
  return std::move(predict_path(std::span(&model, 1), queries, ctx).front());
}

std::vector<Index> needed_columns(const KriModel& model) {
  return all_positions(model.voters.size());
}

void archive(KriModel& model, Archive& archiver) {
  archive(model.voters, archiver);
  archive(model.pairs, archiver);
  archiver("neighbours", model.settings.neighbours);
  archiver("ridge", model.settings.ridge);
  archiver("spectrum", model.settings.spectrum);
  archiver("regulariser", model.settings.regulariser);
  archiver("test_treatment", model.settings.test_treatment);
}

}  // namespace kith
