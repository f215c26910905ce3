// SPDX-License-Identifier: Apache-2.0
// `spectrum-svm`: for each pair of classes with n samples and S = U diag(lambda) U' among them,
// [CGR] (10):
//
//   min_{c,b,xi,a}  1/n 1'xi + eta c'K_a c + gamma h(a),   K_a = U diag(a .* lambda) U',
//
// over the machines (c, b) and the multipliers a at once. A new row s becomes U diag(a) U's, which
// is folded into the coefficients. optim/spectrum/program.hpp has the reduction to a program in n
// variables and the choices of h.
//
// Cost per pair: one decomposition for all settings, one plain machine for each eta, and where
// gamma is below the plain machine's threshold some 3 to 10 factorisations of an n x n matrix for
// the centres clip and flip, 15 to 40 for the others. Deviations: eigenvalues that count as zero
// have no part in h ([TR] Proposition 1 drops them too); the samples' weights, where there are any,
// replace 1/n by their share.
#include "kith/learn/kernel_learning/spectrum_svm.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "kith/core/parallel.hpp"
#include "kith/learn/kernel_learning/learned_pairs.hpp"
#include "kith/learn/svm/pair_machines.hpp"
#include "learn/kernel_learning/repeated_eigenvalues.hpp"
#include "learn/kernel_learning/spectrum_pair.hpp"
#include "numerics/unit.hpp"

namespace kith {
namespace {

using detail::SpectrumMachine;
using detail::SpectrumPair;

/// What one pair has to say for each step of a path.
struct PairSteps {
  Vector lambda;
  std::vector<SpectrumMachine> machines;
  std::vector<spectrum::Centre> centres;
  std::vector<Sigmoid> sigmoids;
  std::vector<double> consistency;
};

/// A pair over its similarities divided by `unit`.
struct ScaledPair {
  SpectrumPair pair;
  double unit = 1;
};

ScaledPair make_pair(SharedWork& work, const ClassPair& pair) {
  const TrainingSet& train = work.train();
  const Eigen::Map<const Matrix> whole = work.symmetric();
  Vector weights = Vector::Ones(std::ssize(pair.samples));
  if (train.weights.size() > 0) weights = train.weights(pair.samples);
  const bool all = std::ssize(pair.samples) == train.size();
  Matrix S = all ? Matrix(whole) : Matrix(whole(pair.samples, pair.samples));
  SharedDecomposition eigen =
      all ? work.eigen() : std::make_shared<const SymmetricEigen>(symmetric_eigen(S));
  const double unit = own_unit(eigen->lambda.cwiseAbs().maxCoeff(), kOrdinarySimilarities);
  if (unit != 1) {
    S /= unit;
    eigen = std::make_shared<const SymmetricEigen>(SymmetricEigen{eigen->lambda / unit, eigen->U});
  }
  return {{std::move(S), std::move(eigen), pair.signs, std::move(weights)}, unit};
}

/// Over S / unit the same problem has eta / unit. h of `similarity` weighs the multipliers by the
/// eigenvalues; the others do not, and keep their gamma.
std::pair<double, double> in_unit(const SpectrumSvmSettings& settings, spectrum::Centre centre,
                                  double unit) {
  const double eta = settings.eta / unit;
  check_range("eta divided by the similarities", eta, unit);
  const double gamma =
      centre == spectrum::Centre::kSimilarity ? settings.gamma * unit : settings.gamma;
  check_range("gamma times the similarities", gamma, unit);
  return {eta, gamma};
}

void to_data_unit(SpectrumMachine& machine, spectrum::Centre centre, double unit) {
  machine.c /= unit;
  machine.coefficients /= unit;
  if (centre == spectrum::Centre::kSimilarity) machine.threshold /= unit;
}

PairSteps solve_pair(SharedWork& work, const ClassPair& pair, std::size_t number,
                     std::span<const SpectrumSvmSettings> path, const RunContext& ctx) {
  ctx.check_stop();
  ScaledPair scaled = make_pair(work, pair);
  SpectrumPair& own = scaled.pair;
  const double unit = scaled.unit;
  PairSteps steps;
  steps.lambda = own.eigen().lambda * unit;
  std::optional<spectrum::Centre> chosen;
  for (const SpectrumSvmSettings& settings : path) {
    ctx.check_stop();
    if (!settings.centre && !chosen) {
      chosen = own.choose_centre(unit, ctx.rng.stream("spectrum centre", number), ctx);
    }
    const spectrum::Centre centre = settings.centre ? *settings.centre : *chosen;
    const bool raw = settings.test_treatment == SpectrumTreatment::kNone;
    const auto [eta, gamma] = in_unit(settings, centre, unit);
    SpectrumMachine machine = own.solve(eta, gamma, centre, settings.tolerance, ctx);
    steps.sigmoids.push_back(
        settings.probability ? own.sigmoid(machine, eta, gamma, centre, raw,
                                           ctx.rng.stream("spectrum-svm calibration", number), ctx)
                             : Sigmoid{});
    steps.consistency.push_back(own.consistency(machine.a, raw));
    to_data_unit(machine, centre, unit);
    steps.centres.push_back(centre);
    steps.machines.push_back(std::move(machine));
  }
  return steps;
}

Json numbers(const Vector& values) { return std::vector<double>(values.begin(), values.end()); }

Json learned_json(const std::string& name, const PairSteps& steps, std::size_t step) {
  const SpectrumMachine& machine = steps.machines[step];
  Json json = {{"name", name}, {"centre", enum_name(steps.centres[step])}};
  json["plain_from_gamma"] =
      std::isfinite(machine.threshold) ? Json(machine.threshold) : Json(nullptr);
  json["eigenvalues"] = numbers(steps.lambda);
  json["multipliers"] = numbers(machine.a);
  return json;
}

void keep_needed_columns(SvmModel& model, const Matrix& coefficients) {
  for (Index i = 0; i < coefficients.rows(); ++i) {
    if ((coefficients.row(i).array() != 0).any()) model.columns.push_back(i);
  }
  model.coefficients = coefficients(model.columns, Eigen::all);
}

/// The machines of all pairs for one step, side by side.
Fitted<SpectrumSvmModel> assemble(const TrainingSet& train, std::span<const ClassPair> pairs,
                                  std::span<const PairSteps> all, std::size_t step,
                                  const SpectrumSvmSettings& settings) {
  Fitted<SpectrumSvmModel> fitted;
  SpectrumSvmModel& model = fitted.model;
  SvmModel& machines = model.machines;
  const auto count = std::ssize(pairs);
  machines.samples = train.size();
  machines.pairs = pair_table(pairs, train.labels);
  machines.intercepts.resize(count);
  if (settings.probability) machines.sigmoids.resize(2, count);
  Index total = 0;
  for (const PairSteps& own : all) total += own.lambda.size();
  model.eigenvalues.resize(total);
  model.multipliers.resize(total);
  Matrix coefficients = Matrix::Zero(train.size(), count);
  fitted.info.learned = Json::array();
  Index filled = 0;
  std::vector<std::string> repeated;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto column = static_cast<Index>(p);
    const SpectrumMachine& machine = all[p].machines[step];
    const bool raw = settings.test_treatment == SpectrumTreatment::kNone;
    coefficients.col(column)(pairs[p].samples) = raw ? machine.c : machine.coefficients;
    machines.intercepts(column) = machine.b;
    if (settings.probability) {
      machines.sigmoids.col(column) << all[p].sigmoids[step].slope, all[p].sigmoids[step].offset;
    }
    const Index size = all[p].lambda.size();
    model.sizes.push_back(size);
    model.eigenvalues.segment(filled, size) = all[p].lambda;
    model.multipliers.segment(filled, size) = machine.a;
    model.centres.push_back(static_cast<int>(all[p].centres[step]));
    filled += size;
    const std::string name = pair_name(pairs[p], train.labels);
    fitted.info.learned.push_back(learned_json(name, all[p], step));
    if (detail::differ_where_repeated(all[p].lambda, machine.a.cwiseProduct(all[p].lambda))) {
      repeated.push_back(name);
    }
    fitted.info.subproblems.push_back(
        {.name = name, .info = machine.info, .objective_offset = machine.offset});
    if (!(all[p].consistency[step] <= fitted.info.consistency)) {
      fitted.info.consistency = all[p].consistency[step];
    }
  }
  keep_needed_columns(machines, coefficients);
  if (!repeated.empty()) fitted.info.notes.push_back(detail::repeated_note(repeated));
  return fitted;
}

}  // namespace

void describe(SpectrumSvmSettings& settings, FieldVisitor& field) {
  field("eta", settings.eta, above(0.0),
        "how smooth the machine is kept; C of svm is 1 / (2 eta n), n the samples of a pair");
  field("gamma", settings.gamma, above(0.0),
        "how strongly the multipliers are drawn to their centre; from some value on, which what "
        "was learned calls plain_from_gamma, they stay there");
  field("centre", settings.centre, "auto",
        "where the multipliers are drawn: to those of clip, those of flip, both, or to 1, which is "
        "the matrix as it is; auto: to clip or flip, whichever machine errs less in "
        "cross-validation, or both where they tie");
  field("test-treatment", settings.test_treatment,
        "what is done to the similarities of new samples: the learned map, or nothing");
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0), "largest relative duality gap accepted");
}

std::vector<Fitted<SpectrumSvmModel>> fit_path(SharedWork& work,
                                               std::span<const SpectrumSvmSettings> path,
                                               RunContext& ctx) {
  for (const SpectrumSvmSettings& settings : path) validate(settings, "spectrum-svm");
  const TrainingSet& train = work.train();
  const std::vector<ClassPair> pairs = class_pairs(train.labels);
  std::vector<PairSteps> all(pairs.size());
  parallel_for(pairs.size(), ctx.threads,
               [&](std::size_t p) { all[p] = solve_pair(work, pairs[p], p, path, ctx); });
  std::vector<Fitted<SpectrumSvmModel>> fitted;
  for (std::size_t step = 0; step < path.size(); ++step) {
    fitted.push_back(assemble(train, pairs, all, step, path[step]));
  }
  return fitted;
}

Fitted<SpectrumSvmModel> fit(SharedWork& work, const SpectrumSvmSettings& settings,
                             RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Matrix decision_values(const SpectrumSvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  return decision_values(model.machines, queries, ctx);
}

Prediction predict(const SpectrumSvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  return predict(model.machines, queries, ctx);
}

std::vector<Index> needed_columns(const SpectrumSvmModel& model) { return model.machines.columns; }

template <class A>
void archive(Archived<A, SpectrumSvmModel>& model, A& archiver) {
  archive(model.machines, archiver);
  archiver("learned_sizes", model.sizes);
  archiver("eigenvalues", model.eigenvalues);
  archiver("multipliers", model.multipliers);
  archiver("centres", model.centres);
}
template void archive(const SpectrumSvmModel&, SavingArchive&);
template void archive(SpectrumSvmModel&, LoadingArchive&);

}  // namespace kith
