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
#include <optional>

#include "core/errors.hpp"
#include "kith/numerics/psd.hpp"
#include "learn/neighbours/local_method.hpp"

namespace kith {
namespace {

/// Local searches for a program that is not convex: from the best vertex, the centre, and the
/// vertices of the nearest neighbours.
constexpr Index kVertexStarts = 4;

linear::SimplexQpSolution from_many_starts(const Matrix& H, const Vector& s) {
  const Index k = s.size();
  Index vertex = 0;
  (0.5 * H.diagonal() - s).minCoeff(&vertex);
  linear::SimplexQpSolution best = linear::simplex_qp(H, s, Vector::Unit(k, vertex));
  const auto offer = [&](const Vector& start) {
    linear::SimplexQpSolution other = linear::simplex_qp(H, s, start);
    if (other.info.objective < best.info.objective) best = std::move(other);
  };
  offer(Vector::Constant(k, 1.0 / static_cast<double>(k)));
  for (Index i = 0; i < std::min(k, kVertexStarts); ++i) offer(Vector::Unit(k, i));
  return best;
}

/// What the settings but the ridge make of a neighbourhood.
struct Program {
  Spectrum spectrum;
  Treatment treatment;
  Matrix K;
  Vector k;
  double least;  ///< eigenvalue of K
};

Program program_of(const LocalKernel& kernel, const KriSettings& settings) {
  const Vector values = kernel.eigenvalues(settings.spectrum);
  return {.spectrum = settings.spectrum,
          .treatment = settings.test_treatment,
          .K = reconstruct(kernel.U, values),
          .k = kernel.U * kernel.treated(settings.spectrum, settings.test_treatment),
          .least = values.size() > 0 ? values.minCoeff() : 0};
}

/// `near`: weights for another ridge, whose support is where the search begins; or empty.
linear::SimplexQpSolution solve(const Program& program, const KriSettings& settings,
                                const Vector& near = {}) {
  if (settings.regulariser == KriRegulariser::kEntropy) {
    return linear::simplex_entropy(program.K, program.k, settings.ridge);
  }
  Matrix H = program.K;
  H.diagonal().array() += settings.ridge;
  return program.least + settings.ridge > 0 ? linear::convex_simplex_qp(H, program.k, near)
                                            : from_many_starts(H, program.k);
}

void weigh(const LocalTask<KriModel>& task) {
  const Voters& voters = task.voters();
  const std::vector<Index>& samples = task.chosen.samples;
  const LocalKernel kernel = task.kernel();
  std::optional<Program> program;  // of the last step: a path changes the ridge most often
  Vector w;
  for (const std::size_t step : task.steps) {
    Vector sums = training_shares(voters);
    if (!samples.empty()) {
      const KriSettings& settings = task.models[step].settings;
      if (!program || program->spectrum != settings.spectrum ||
          program->treatment != settings.test_treatment) {
        program = program_of(kernel, settings);
        w = Vector();
      }
      w = solve(*program, settings, w).w;
      sums = class_sums(voters, samples, {w.data(), static_cast<std::size_t>(w.size())});
    }
    task.answer(step, heaviest(voters, samples, sums), sums);
  }
}

}  // namespace

linear::SimplexQpSolution kri_weights(const LocalKernel& kernel, const KriSettings& settings) {
  return solve(program_of(kernel, settings), settings);
}

Grid MethodTraits<KriSettings>::grid(const KriSettings& /*settings*/) {
  std::vector<std::string> ridges = powers_of_ten(-6, 1);
  ridges.emplace_back("1e6");
  return {neighbour_grid(), {.field = "ridge", .values = ridges, .simpler = Simpler::kLarger}};
}

void describe(KriSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kNeighbours)("neighbours", settings.neighbours, at_least(1),
                                   "how many neighbours take part");
  field("ridge", settings.ridge, above(0.0), "weight of the regulariser");
  field("spectrum", settings.spectrum,
        {Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift, Spectrum::kNone},
        "what is done to a block that is not positive semidefinite; none: a local minimum from "
        "several "
        "starts");
  field("regulariser", settings.regulariser, "squared weights, or their negative entropy");
  describe_treatment_and_ties(settings, field);
}

FittedPath<KriModel> fit_path(SharedWork& work, Path<KriSettings> path, RunContext& ctx) {
  FittedPath<KriModel> fitted = keep_training_samples(work, path, ctx);
  for (Fitted<KriModel>& one : fitted) {
    const KriSettings& settings = one.model.settings;
    if (settings.spectrum != Spectrum::kNone) continue;
    if (settings.regulariser == KriRegulariser::kEntropy) {
      throw invalid(
          "kri: regulariser entropy needs a convex program; give spectrum clip, flip or shift");
    }
    one.info.subproblems.push_back(
        {.name = "each neighbourhood", .info = {.status = SolveStatus::kStationary}});
    one.info.notes.emplace_back(
        "the program of a query may not be convex: the least of several local minima is taken");
  }
  return fitted;
}

std::vector<Prediction> predict_path(std::span<const KriModel> models, const QueryBlock& queries,
                                     RunContext& ctx) {
  const auto weigh_all = [](std::span<const LocalTask<KriModel>> tasks) {
    for (const LocalTask<KriModel>& task : tasks) weigh(task);
  };
  std::vector<Prediction> predictions = predict_neighbourhoods(models, queries, weigh_all, ctx);
  for (Prediction& one : predictions) one.probabilities = one.scores;
  return predictions;
}

std::vector<Explanation> explain(const KriModel& model, const QueryBlock& queries,
                                 std::span<const int> /*labels*/, RunContext& ctx) {
  return explain_neighbourhoods(
      model, queries,
      [&](const LocalKernel& kernel) { return kri_weights(kernel, model.settings).w; }, ctx);
}

}  // namespace kith
