// SPDX-License-Identifier: Apache-2.0
// For each query the k nearest training samples; where they are all of one class, that class. Else
// one machine [CGR] (1) for each pair of classes among them, over the k x k block K of their
// similarities after its spectrum has been modified; the query's own similarities go through the
// same map, and the machines vote. [TR] 2.1.4.
//
// Notation: block = U diag(lambda) U', s the query's similarities to the neighbours, in the basis
// of U. Cost per query: one partial sort, k^3 for each number of neighbours, and one small dual per
// pair of classes and cost, each started from the last.
#include "kith/learn/svm/svm_knn.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "kith/learn/multiclass/binary_tasks.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/optim/dual/smo.hpp"
#include "learn/neighbours/local_method.hpp"

namespace kith {
namespace {

Labels labels_of(const Voters& voters, const Neighbours& chosen) {
  Labels labels;
  labels.names.resize(static_cast<std::size_t>(voters.classes));  // only their number matters here
  for (const Index sample : chosen.samples) {
    labels.ids.push_back(voters.labels[static_cast<std::size_t>(sample)]);
  }
  return labels;
}

/// The machine of one pair for one query: its decision value is the sum of the terms and the
/// offset.
struct LocalMachine {
  Vector terms;  ///< of the samples of the pair
  double offset = 0;
};

/// Machines of one pair for each of `costs`, ascending.
std::vector<LocalMachine> pair_machines(const BinaryTask& pair, const Matrix& K, const Vector& k,
                                        std::span<const double> costs, double tolerance,
                                        const RunContext& ctx) {
  const Matrix block = K(pair.samples, pair.samples);
  const Vector row = k(pair.samples);
  dual::SvmDual dual{
      .K = dual::SymmetricView::dense(block), .y = pair.y(), .cost = {}, .linear = {}};
  const long most = 20000 + 200 * row.size();  // far beyond any solvable problem of this size
  std::vector<LocalMachine> machines;
  std::optional<Vector> start;
  for (const double cost : costs) {
    dual.cost = Vector::Constant(row.size(), cost);
    const dual::SmoSolution solution = dual::smo(
        dual, {.tolerance = tolerance, .gap_tolerance = tolerance, .max_iterations = most}, ctx,
        start);
    machines.push_back({row.cwiseProduct(dual.y.cwiseProduct(solution.alpha)), solution.b});
    start = solution.alpha;
  }
  return machines;
}

/// The steps of one neighbourhood that share a spectrum rule and a treatment, in order of cost.
struct Family {
  Spectrum spectrum;
  Treatment treatment;
  double tolerance;
  std::vector<std::size_t> steps;

  friend bool operator<(const Family& a, const Family& b) {
    return std::tie(a.spectrum, a.treatment, a.tolerance) <
           std::tie(b.spectrum, b.treatment, b.tolerance);
  }
};

std::vector<Family> families(std::span<const SvmKnnModel> models,
                             std::span<const std::size_t> steps) {
  std::vector<Family> all;
  for (const std::size_t step : steps) {
    const SvmKnnSettings& s = models[step].settings;
    const Family key{s.spectrum, s.test_treatment, s.tolerance, {}};
    const auto at = std::find_if(all.begin(), all.end(), [&](const Family& other) {
      return !(other < key) && !(key < other);
    });
    Family& family = at == all.end() ? all.emplace_back(key) : *at;
    family.steps.push_back(step);
  }
  for (Family& family : all) {
    std::stable_sort(family.steps.begin(), family.steps.end(), [&](std::size_t a, std::size_t b) {
      return models[a].settings.cost < models[b].settings.cost;
    });
  }
  return all;
}

/// Votes of the machines of one family: decisions[pair][step of the family].
void solve_family(const Family& family, const LocalTask<SvmKnnModel>& task, const RunContext& ctx) {
  const LocalKernel& kernel = task.kernel;
  const Matrix K = reconstruct(kernel.U, kernel.eigenvalues(family.spectrum));
  const Vector k = kernel.U * kernel.treated(family.spectrum, family.treatment);
  const Labels labels = labels_of(task.voters(), task.chosen);
  const std::vector<BinaryTask> pairs = binary_tasks(labels);
  const TaskTable table = task_table(pairs, labels);
  std::vector<double> costs;
  for (const std::size_t step : family.steps) costs.push_back(task.models[step].settings.cost);
  Matrix decisions(static_cast<Index>(costs.size()), static_cast<Index>(pairs.size()));
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto machines = pair_machines(pairs[p], K, k, costs, family.tolerance, ctx);
    for (std::size_t i = 0; i < machines.size(); ++i) {
      decisions(static_cast<Index>(i), static_cast<Index>(p)) =
          machines[i].terms.sum() + machines[i].offset;
    }
  }
  const Prediction votes = decide(table, decisions);
  for (std::size_t i = 0; i < family.steps.size(); ++i) {
    task.answer(family.steps[i], votes.labels[i],
                votes.scores.row(static_cast<Index>(i)).transpose());
  }
}

/// Whether neighbours are of one class, or nobody: nothing to separate.
bool is_uniform(const Voters& voters, const Neighbours& chosen) {
  std::set<int> present;
  for (const Index sample : chosen.samples) {
    present.insert(voters.labels[static_cast<std::size_t>(sample)]);
  }
  return present.size() < 2;
}

bool settle_at_once(const LocalTask<SvmKnnModel>& task) {
  const Voters& voters = task.voters();
  if (!is_uniform(voters, task.chosen)) return false;
  const int label = heaviest(voters, task.chosen.samples, Vector::Zero(voters.classes));
  for (const std::size_t step : task.steps) {
    task.answer(step, label, Vector::Unit(voters.classes, label));
  }
  return true;
}

Explanation explain_one(const SvmKnnModel& model, const Neighbours& chosen, int label,
                        const RunContext& ctx) {
  if (is_uniform(model.voters, chosen)) {
    const std::vector<double> equal(chosen.samples.size(),
                                    1 / static_cast<double>(chosen.samples.size()));
    return explain_votes(chosen.samples, equal);
  }
  const SvmKnnSettings& own = model.settings;
  const LocalKernel kernel = local_kernel(model.pairs.among(chosen.samples), chosen);
  const Matrix K = reconstruct(kernel.U, kernel.eigenvalues(own.spectrum));
  const Vector k = kernel.U * kernel.treated(own.spectrum, own.test_treatment);
  Vector sums = Vector::Zero(k.size());
  Explanation explanation;
  for (const BinaryTask& pair : binary_tasks(labels_of(model.voters, chosen))) {
    if (pair.first != label && pair.second != label) continue;
    const double side = pair.first == label ? 1 : -1;
    const LocalMachine machine =
        pair_machines(pair, K, k, std::span(&own.cost, 1), own.tolerance, ctx).front();
    sums(pair.samples) += side * machine.terms;
    explanation.offset += side * machine.offset;
  }
  for (Index j = 0; j < sums.size(); ++j) {
    if (sums(j) == 0) continue;
    explanation.samples.push_back({chosen.samples[static_cast<std::size_t>(j)], sums(j)});
  }
  return explanation;
}

}  // namespace

void describe(SvmKnnSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kNeighbours)("neighbours", settings.neighbours, at_least(1),
                                   "how many neighbours take part");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  field("spectrum", settings.spectrum, {Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift},
        "what is done to a block that is not positive semidefinite");
  describe_treatment_and_ties(settings, field);
  field("tolerance", settings.tolerance, above(0.0), kGapHelp);
}

FittedPath<SvmKnnModel> fit_path(SharedWork& work, Path<SvmKnnSettings> path, RunContext& ctx) {
  return keep_training_samples(work, path, ctx);
}

std::vector<Prediction> predict_path(std::span<const SvmKnnModel> models, const QueryBlock& queries,
                                     RunContext& ctx) {
  const auto solve = [&](const LocalTask<SvmKnnModel>& task) {
    if (settle_at_once(task)) return;
    for (const Family& family : families(task.models, task.steps)) solve_family(family, task, ctx);
  };
  return predict_neighbourhoods(models, queries, solve, ctx);
}

std::vector<Explanation> explain(const SvmKnnModel& model, const QueryBlock& queries,
                                 std::span<const int> labels, RunContext& ctx) {
  std::vector<Explanation> explanations(labels.size());
  const auto answer = [&](Index query, const Neighbours& chosen) {
    const auto q = static_cast<std::size_t>(query);
    explanations[q] = explain_one(model, chosen, labels[q], ctx);
  };
  for_each_query(model.voters, queries, model.settings.neighbours, kLocalQueriesPerUnit, answer,
                 ctx);
  return explanations;
}

}  // namespace kith
