// SPDX-License-Identifier: Apache-2.0
// `svm`: for each pair of classes the dual [CGR] (1)
//
//   max_a 1'a - 1/2 a' Y K Y a   s.t.  0 <= a <= C,  y'a = 0
//
// over the kernel K that condition/spectrum makes of S; a new sample has decision value k'c + b
// with c = Y a. The rule that turns its raw row s into k is linear (or leaves it alone) and is
// folded into the coefficients, so that a prediction is s'c_raw + b. [TR] 2.1-2.2; with flip this
// is the Krein-space machine of Loosli, Canu and Ong (2016).
//
// Cost: one decomposition (clip, flip, diffusion), lambda_min (shift) or one product (square) for
// all pairs and all costs, then one dual solution per pair and cost.
#include "kith/learn/svm/kernel_svm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/learn/svm/augmented.hpp"
#include "kith/learn/svm/pair_machines.hpp"
#include "kith/learn/svm/spectrum_kernel.hpp"

namespace kith {
namespace {

bool is_convex(Spectrum spectrum) { return spectrum != Spectrum::kNone; }

template <class T>
std::vector<T> pick(std::span<const T> values, std::span<const Index> at) {
  std::vector<T> picked;
  picked.reserve(at.size());
  for (const Index i : at) picked.push_back(values[static_cast<std::size_t>(i)]);
  return picked;
}

SvmModel blank_model(const SvmSettings& settings, SharedWork& work,
                     std::span<const ClassPair> pairs) {
  SvmModel model;
  model.samples = work.train().size();
  model.pairs = pair_table(pairs, work.train().labels);
  model.spectrum = settings.spectrum;
  model.test_treatment = settings.test_treatment;
  if (settings.spectrum == Spectrum::kDiffusion) {
    model.beta = diffusion_beta(settings.beta, work.eigen()->lambda);
  }
  return model;
}

/// The block of one pair, as a training set of its own.
TrainingSet pair_set(const TrainingSet& train, const ClassPair& pair) {
  TrainingSet set;
  const TrainingMatrix& matrix = train.matrices.front();
  set.matrices.push_back({matrix.name, select(matrix.block, pair.samples, pair.samples)});
  set.labels = select(train.labels, pair.samples);
  return set;
}

std::vector<MachineSettings> machine_settings(std::span<const SvmSettings> path) {
  std::vector<MachineSettings> machines;
  for (const SvmSettings& s : path) machines.push_back({s.cost, s.probability, s.tolerance});
  return machines;
}

/// One step of a path with scope=all: settings that differ in cost alone, ascending.
std::vector<Fitted<SvmModel>> fit_whole(SharedWork& work, std::span<const SvmSettings> ascending,
                                        const RunContext& ctx) {
  const TrainingSet& train = work.train();
  const SvmSettings& first = ascending.front();
  Conditioned kernel = spectrum_kernel(work, first.spectrum, ctx, first.beta);
  const std::vector<ClassPair> pairs = class_pairs(train.labels);
  std::vector<MachineTable> tables = train_pairs(
      kernel.kernel, train, pairs, machine_settings(ascending), is_convex(first.spectrum), ctx);
  if (first.test_treatment == SvmTreatment::kNone) kernel.transform = Unchanged{};
  if (first.test_treatment == SvmTreatment::kMap && first.spectrum == Spectrum::kShift) {
    kernel.transform = shift_map(work.eigen(), work.shift(ctx));
  }
  const double consistent = consistency(kernel, rows_as_new(work, first.spectrum));
  std::vector<Fitted<SvmModel>> fitted;
  for (std::size_t step = 0; step < ascending.size(); ++step) {
    MachineTable& all = tables[step];
    SvmModel model = blank_model(ascending[step], work, pairs);
    model.intercepts = all.intercepts;
    model.sigmoids = all.sigmoids;
    const Matrix folded = fold(kernel.transform, all.coefficients);
    if (first.test_treatment == SvmTreatment::kAugmented) {
      model.columns = all_positions(train.size());
      model.coefficients = folded;
      model.augmented = augmented_parts(first.spectrum, all.coefficients, work);
    } else {
      keep_used_columns(model, folded, all_positions(train.size()));
      all.info.consistency = consistent;
    }
    fitted.push_back({std::move(model), std::move(all.info)});
  }
  return fitted;
}

/// With scope=pair each pair is a two-class problem of its own; their machines are put side by
/// side.
std::vector<Fitted<SvmModel>> fit_pairwise(SharedWork& work, std::span<const SvmSettings> ascending,
                                           const RunContext& ctx) {
  const TrainingSet& train = work.train();
  if (ascending.front().test_treatment == SvmTreatment::kAugmented) {
    throw Error(ErrorCode::kInvalidArgument,
                "svm: test-treatment augmented adds a new sample to the whole training block; it "
                "needs scope all");
  }
  const std::vector<ClassPair> pairs = class_pairs(train.labels);
  std::vector<std::vector<Fitted<SvmModel>>> parts(pairs.size());
  parallel_for(pairs.size(), ctx.threads, [&](std::size_t p) {
    TrainingSet set = pair_set(train, pairs[p]);
    if (train.weights.size() > 0) set.weights = train.weights(pairs[p].samples);
    SharedWork own(set);
    RunContext inner = ctx;
    inner.rng = ctx.rng.child("svm pair", p);
    parts[p] = fit_whole(own, ascending, inner);
  });
  std::vector<Fitted<SvmModel>> fitted;
  for (std::size_t step = 0; step < ascending.size(); ++step) {
    SvmModel model = blank_model(ascending[step], work, pairs);
    FitInfo info;
    Matrix coefficients = Matrix::Zero(train.size(), static_cast<Index>(pairs.size()));
    model.intercepts.resize(static_cast<Index>(pairs.size()));
    if (ascending[step].probability) model.sigmoids.resize(2, static_cast<Index>(pairs.size()));
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const auto column = static_cast<Index>(p);
      const Fitted<SvmModel>& part = parts[p][step];
      const std::vector<Index> at = pick<Index>(pairs[p].samples, part.model.columns);
      coefficients.col(column)(at) = part.model.coefficients.col(0);
      model.intercepts(column) = part.model.intercepts(0);
      if (ascending[step].probability) model.sigmoids.col(column) = part.model.sigmoids.col(0);
      info.subproblems.push_back(
          {pair_name(pairs[p], train.labels), part.info.subproblems.front().info});
      if (!(part.info.consistency <= info.consistency)) info.consistency = part.info.consistency;
    }
    keep_used_columns(model, coefficients, all_positions(train.size()));
    fitted.push_back({std::move(model), std::move(info)});
  }
  return fitted;
}

/// The settings of a path that share a kernel, as positions in order of cost. Those with another
/// tolerance stand apart: a loose solution must not be passed on for a tight one.
std::vector<std::vector<std::size_t>> groups_by_kernel(std::span<const SvmSettings> path) {
  using Key = std::tuple<Spectrum, SvmTreatment, SpectrumScope, std::optional<double>, double>;
  std::map<Key, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const SvmSettings& s = path[i];
    groups[{s.spectrum, s.test_treatment, s.scope,
            s.spectrum == Spectrum::kDiffusion ? s.beta : std::nullopt, s.tolerance}]
        .push_back(i);
  }
  std::vector<std::vector<std::size_t>> ordered;
  for (auto& [key, members] : groups) {
    std::stable_sort(members.begin(), members.end(),
                     [&](std::size_t a, std::size_t b) { return path[a].cost < path[b].cost; });
    ordered.push_back(members);
  }
  return ordered;
}

}  // namespace

void describe(SvmSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), "penalty C on margin violations");
  field("spectrum", settings.spectrum, "what is done to the eigenvalues before training");
  field("test-treatment", settings.test_treatment,
        "what is done to the similarities of new samples: the same linear map as the training "
        "block's, the modified spectrum of both together, nothing, or linear with K S^+ s for "
        "shift");
  field("scope", settings.scope, "modify the spectrum once for all classes, or for each pair");
  field("beta", settings.beta, above(0.0), "auto",
        "of spectrum diffusion: the kernel is exp(beta S); auto: 1 / max|lambda|");
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0),
        "largest KKT violation and relative gap accepted");
}

std::vector<Fitted<SvmModel>> fit_path(SharedWork& work, std::span<const SvmSettings> path,
                                       RunContext& ctx) {
  std::vector<Fitted<SvmModel>> fitted(path.size());
  for (const SvmSettings& settings : path) validate(settings, "svm");
  for (const std::vector<std::size_t>& group : groups_by_kernel(path)) {
    std::vector<SvmSettings> ascending;
    for (const std::size_t i : group) ascending.push_back(path[i]);
    std::vector<Fitted<SvmModel>> solved = ascending.front().scope == SpectrumScope::kAll
                                               ? fit_whole(work, ascending, ctx)
                                               : fit_pairwise(work, ascending, ctx);
    for (std::size_t i = 0; i < group.size(); ++i) fitted[group[i]] = std::move(solved[i]);
  }
  return fitted;
}

Fitted<SvmModel> fit(SharedWork& work, const SvmSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Matrix decision_values(const SvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  const QueryMatrix& query = queries.matrices.front();
  check_columns(query, std::ssize(model.columns));
  const DenseBlock rows = query_rows(query, model.spectrum);
  Matrix decisions;
  if (model.test_treatment == SvmTreatment::kAugmented) {
    if (!query.self) {
      throw Error(ErrorCode::kInvalidArgument,
                  "svm: test-treatment augmented needs the self-similarity of each new sample "
                  "([[self]])");
    }
    decisions = augmented_decisions(model, rows.values(), *query.self, ctx);
  } else {
    decisions.noalias() = rows.values() * model.coefficients;
  }
  decisions.rowwise() += model.intercepts.transpose();
  return decisions;
}

Prediction predict(const SvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  return vote(model.pairs, decision_values(model, queries, ctx), sigmoids_of(model.sigmoids));
}

std::vector<Index> needed_columns(const SvmModel& model) { return model.columns; }

template <class A>
void archive(Archived<A, SvmModel>& model, A& archiver) {
  Archived<A, ColumnMachines>& machines = model;
  archive(machines, archiver);
  archiver("spectrum", model.spectrum);
  archiver("test_treatment", model.test_treatment);
  archiver("beta", model.beta);
  archiver("augmented_lambda", model.augmented.lambda);
  archiver("augmented_vectors", model.augmented.U);
  archiver("augmented_coefficients", model.augmented.rotated);
}
template void archive(const SvmModel&, SavingArchive&);
template void archive(SvmModel&, LoadingArchive&);

}  // namespace kith
