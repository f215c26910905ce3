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

/// Decision values of one pair for each of `costs`, ascending.
std::vector<double> pair_decisions(const BinaryTask& pair, const Matrix& K, const Vector& k,
                                   std::span<const double> costs, double tolerance,
                                   const RunContext& ctx) {
  const Matrix block = K(pair.samples, pair.samples);
  const Vector row = k(pair.samples);
  dual::SvmDual dual{
      .K = dual::SymmetricView::dense(block), .y = pair.y(), .cost = {}, .linear = {}};
  const long most = 20000 + 200 * row.size();  // far beyond any solvable problem of this size
  std::vector<double> decisions;
  std::optional<Vector> start;
  for (const double cost : costs) {
    dual.cost = Vector::Constant(row.size(), cost);
    const dual::SmoSolution solution = dual::smo(
        dual, {.tolerance = tolerance, .gap_tolerance = tolerance, .max_iterations = most}, ctx,
        start);
    decisions.push_back(row.dot(dual.y.cwiseProduct(solution.alpha)) + solution.b);
    start = solution.alpha;
  }
  return decisions;
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
    const std::vector<double> values = pair_decisions(pairs[p], K, k, costs, family.tolerance, ctx);
    decisions.col(static_cast<Index>(p)) =
        Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
  }
  const Prediction votes = decide(table, decisions);
  for (std::size_t i = 0; i < family.steps.size(); ++i) {
    task.answer(family.steps[i], votes.labels[i],
                votes.scores.row(static_cast<Index>(i)).transpose());
  }
}

/// A neighbourhood of one class, or of nobody: nothing to separate.
bool settle_at_once(const LocalTask<SvmKnnModel>& task) {
  const Voters& voters = task.voters();
  std::set<int> present;
  for (const Index sample : task.chosen.samples) {
    present.insert(voters.labels[static_cast<std::size_t>(sample)]);
  }
  if (present.size() > 1) return false;
  const int label = heaviest(voters, task.chosen.samples, Vector::Zero(voters.classes));
  for (const std::size_t step : task.steps) {
    task.answer(step, label, Vector::Unit(voters.classes, label));
  }
  return true;
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

}  // namespace kith
