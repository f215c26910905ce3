// SPDX-License-Identifier: Apache-2.0
// For each query the k nearest training samples; where they are all of one class, that class. Else
// one machine [CGR] (1) for each pair of classes among them (multiclass=one-vs-rest: for each class
// against the others), over the k x k block K of their
// similarities after its spectrum has been modified; the query's own similarities go through the
// same map, and the machines vote. [TR] 2.1.4.
//
// Notation: block = U diag(lambda) U', s the query's similarities to the neighbours, in the basis
// of U.
//
// Along a path most of the work is shared or saved. A neighbourhood of one class has no machine.
// One factor of the largest block tells which neighbourhoods are positive definite: no rule changes
// these, so they are not decomposed, and a pair of classes that a further neighbour does not belong
// to keeps its machines. Machines without a coefficient at its bound are those of every larger
// cost. Where all training samples are neighbours, their machines are the same for every query.
//
// The machines are no learner of multiclass/fit_tasks. They are made while predicting, in
// thousands, each by the thread of its query: without folds, sigmoids, names and evidence, which
// are what that driver is for, and with answers that one query remembers from one neighbourhood to
// the next.
//
// Cost per query: one partial sort, k^3 for each number of neighbours whose block is indefinite,
// and one small dual per pair of classes and cost, each started from the last.
#include "kith/learn/svm/svm_knn.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "kith/learn/multiclass/binary_tasks.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/optim/dual/smo.hpp"
#include "learn/neighbours/local_method.hpp"
#include "numerics/cholesky.hpp"

namespace kith {
namespace {

using Task = LocalTask<SvmKnnModel>;

Labels labels_of(const Voters& voters, std::span<const Index> samples) {
  Labels labels;
  labels.names.resize(static_cast<std::size_t>(voters.classes));  // only their number matters here
  for (const Index sample : samples) {
    labels.ids.push_back(voters.labels[static_cast<std::size_t>(sample)]);
  }
  return labels;
}

/// The machines of one pair of classes, one for each cost.
struct PairMachines {
  Matrix c;  ///< samples of the pair x costs
  Vector b;

  [[nodiscard]] Vector decisions(const Vector& row) const { return c.transpose() * row + b; }
};

/// `costs` ascend.
PairMachines pair_machines(const BinaryTask& pair, const Matrix& K, std::span<const double> costs,
                           double tolerance, const RunContext& ctx) {
  const Matrix block = K(pair.samples, pair.samples);
  const Index size = block.rows();
  dual::SvmDual dual{
      .K = dual::SymmetricView::dense(block), .y = pair.y(), .cost = {}, .linear = {}};
  const long most = 20000 + 200 * size;  // far beyond any solvable problem of this size
  PairMachines machines{Matrix(size, std::ssize(costs)), Vector(std::ssize(costs))};
  std::optional<dual::SmoSolution> last;
  double last_cost = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const bool reusable =
        last && last->info.status == SolveStatus::kSolved && last->largest_alpha < last_cost;
    if (!reusable) {
      dual.cost = Vector::Constant(size, costs[i]);
      last = dual::smo(dual,
                       {.tolerance = tolerance, .gap_tolerance = tolerance, .max_iterations = most},
                       ctx, last ? std::optional<Vector>(last->alpha) : std::nullopt);
      last_cost = costs[i];
    }
    machines.c.col(static_cast<Index>(i)) = dual.y.cwiseProduct(last->alpha);
    machines.b(static_cast<Index>(i)) = last->b;
  }
  return machines;
}

/// The steps of one neighbourhood that share a spectrum rule and a treatment, in order of cost.
struct Family {
  Spectrum spectrum;
  Treatment treatment;
  Multiclass multiclass;
  double tolerance;
  std::vector<std::size_t> steps{};
  std::vector<double> costs{};  ///< of the steps

  [[nodiscard]] bool same_rules(const Family& other) const {
    return spectrum == other.spectrum && treatment == other.treatment &&
           multiclass == other.multiclass && tolerance == other.tolerance;
  }
};

std::vector<Family> families(std::span<const SvmKnnModel> models,
                             std::span<const std::size_t> steps) {
  std::vector<Family> all;
  for (const std::size_t step : steps) {
    const SvmKnnSettings& s = models[step].settings;
    const Family key{s.spectrum, s.test_treatment, s.multiclass, s.tolerance};
    const auto at =
        std::ranges::find_if(all, [&](const Family& one) { return one.same_rules(key); });
    Family& family = at == all.end() ? all.emplace_back(key) : *at;
    family.steps.push_back(step);
  }
  for (Family& family : all) {
    std::stable_sort(family.steps.begin(), family.steps.end(), [&](std::size_t a, std::size_t b) {
      return models[a].settings.cost < models[b].settings.cost;
    });
    for (const std::size_t step : family.steps) family.costs.push_back(models[step].settings.cost);
  }
  return all;
}

/// Votes of the machines of one family: `decisions` are steps of the family x pairs.
void vote(const Family& family, const Task& task, const TaskTable& table, const Matrix& decisions) {
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

bool settle_at_once(const Task& task) {
  const Voters& voters = task.voters();
  if (!is_uniform(voters, task.chosen)) return false;
  const int label = heaviest(voters, task.chosen.samples, Vector::Zero(voters.classes));
  for (const std::size_t step : task.steps) {
    task.answer(step, label, Vector::Unit(voters.classes, label));
  }
  return true;
}

/// How many of the nearest have a block whose eigenvalues are above 0 by more than rounding. Every
/// rule for the spectrum leaves such a block and its queries alone.
Index definite_neighbours(const Matrix& among) {
  const auto size = static_cast<double>(among.rows());
  const double norm = among.cwiseAbs().rowwise().sum().maxCoeff();
  Matrix shifted = among;
  shifted.diagonal().array() -= 4 * size * std::numeric_limits<double>::epsilon() * norm;
  return leading_cholesky(shifted);
}

/// The machines of all training samples, which every query with so many neighbours asks. Made by
/// the first of them, in the order of the samples: which one that is makes no difference.
class WholeSet {
 public:
  /// `task` is one whose neighbours are all the samples.
  void answer(const Task& task, const RunContext& ctx) {
    std::call_once(made_, [&] { make(task, ctx); });
    Vector s(task.size());
    for (std::size_t i = 0; i < task.chosen.samples.size(); ++i) {
      s(task.chosen.samples[i]) = task.chosen.similarities[i];
    }
    LocalKernel own{.lambda = kernel_.lambda, .U = {}, .rotated = kernel_.U.transpose() * s};
    for (const Machines& one : machines_) {
      const Vector k = kernel_.U * own.treated(one.family.spectrum, one.family.treatment);
      Matrix decisions(std::ssize(one.family.costs), std::ssize(one.pairs));
      for (std::size_t p = 0; p < one.pairs.size(); ++p) {
        decisions.col(static_cast<Index>(p)) = one.of_pairs[p].decisions(k(one.pairs[p].samples));
      }
      vote(one.family, task, one.table, decisions);
    }
  }

 private:
  struct Machines {
    Family family;
    std::vector<BinaryTask> pairs;
    TaskTable table;
    std::vector<PairMachines> of_pairs;
  };

  void make(const Task& task, const RunContext& ctx) {
    machines_.clear();
    std::vector<Index> all(static_cast<std::size_t>(task.size()));
    std::iota(all.begin(), all.end(), Index{0});
    const Labels labels = labels_of(task.voters(), all);
    const std::vector<double> none(all.size(), 0);
    kernel_ = local_kernel(task.models.front().pairs.among(all), {all, none});
    for (const Family& family : families(task.models, task.steps)) {
      const Matrix K = reconstruct(kernel_.U, kernel_.eigenvalues(family.spectrum));
      Machines& own =
          machines_.emplace_back(Machines{.family = family,
                                          .pairs = binary_tasks(labels, family.multiclass),
                                          .table = {},
                                          .of_pairs = {}});
      own.table = task_table(own.pairs, labels);
      for (const BinaryTask& pair : own.pairs) {
        own.of_pairs.push_back(pair_machines(pair, K, family.costs, family.tolerance, ctx));
      }
    }
  }

  std::once_flag made_;
  LocalKernel kernel_;
  std::vector<Machines> machines_;
};

/// By the models of a path that share an order of neighbours, and by the number of neighbours.
class WholeSets {
 public:
  WholeSet& of(const Task& task) {
    const std::lock_guard lock(mutex_);
    return sets_[{task.models.data(), task.models[task.steps.front()].settings.neighbours}];
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const SvmKnnModel*, Index>, WholeSet> sets_;
};

/// What the machines of a pair of classes decided. It holds as long as no further neighbour is of
/// either class, where the block is left as it is.
struct KnownPair {
  Family family;
  Index size;
  Vector decisions;

  [[nodiscard]] bool holds_for(const Family& asked, const BinaryTask& pair) const {
    return family.same_rules(asked) && family.costs == asked.costs && size == pair.size();
  }
};

/// The neighbourhoods of one query, the smallest first.
class Neighbourhoods {
 public:
  Neighbourhoods(std::span<const Task> tasks, WholeSets& whole, const RunContext& ctx)
      : tasks_(tasks), whole_(whole), ctx_(ctx) {}

  void solve() {
    for (const Task& task : tasks_) {
      if (settle_at_once(task)) continue;
      if (task.size() == task.voters().size()) {
        whole_.of(task).answer(task, ctx_);
      } else {
        solve(task);
      }
    }
  }

 private:
  void solve(const Task& task) {
    if (!definite_) definite_ = definite_neighbours(task.among);
    const Labels labels = labels_of(task.voters(), task.chosen.samples);
    const std::vector<Family> all = families(task.models, task.steps);
    const bool as_they_are = task.size() <= *definite_;
    std::optional<LocalKernel> kernel;
    if (!as_they_are) kernel = task.kernel();
    for (std::size_t f = 0; f < all.size(); ++f) {
      const Family& family = all[f];
      const std::vector<BinaryTask> pairs = binary_tasks(labels, family.multiclass);
      const TaskTable table = task_table(pairs, labels);
      Matrix K;
      Vector k;
      if (as_they_are) {
        K = task.among.topLeftCorner(task.size(), task.size());
        k = Eigen::Map<const Vector>(task.chosen.similarities.data(), task.size());
      } else {
        K = reconstruct(kernel->U, kernel->eigenvalues(family.spectrum));
        k = kernel->U * kernel->treated(family.spectrum, family.treatment);
      }
      Matrix decisions(std::ssize(family.costs), std::ssize(pairs));
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        const auto decide_pair = [&] {
          return pair_machines(pairs[p], K, family.costs, family.tolerance, ctx_)
              .decisions(k(pairs[p].samples));
        };
        decisions.col(static_cast<Index>(p)) =
            as_they_are ? remembered(f, family, pairs[p], decide_pair) : decide_pair();
      }
      vote(family, task, table, decisions);
    }
  }

  template <class Decide>
  const Vector& remembered(std::size_t f, const Family& family, const BinaryTask& pair,
                           const Decide& decide_pair) {
    std::optional<KnownPair>& known = known_[{f, pair.first, pair.second}];
    if (!known || !known->holds_for(family, pair)) known = {family, pair.size(), decide_pair()};
    return known->decisions;
  }

  std::span<const Task> tasks_;
  WholeSets& whole_;
  const RunContext& ctx_;
  std::optional<Index> definite_;
  std::map<std::tuple<std::size_t, int, int>, std::optional<KnownPair>> known_;
};

/// The same neighbours in the order of the samples.
Neighbours in_order(const Neighbours& chosen) {
  std::map<Index, double> similarity_of;
  for (std::size_t i = 0; i < chosen.samples.size(); ++i) {
    similarity_of[chosen.samples[i]] = chosen.similarities[i];
  }
  Neighbours ordered;
  for (const auto& [sample, similarity] : similarity_of) {
    ordered.samples.push_back(sample);
    ordered.similarities.push_back(similarity);
  }
  return ordered;
}

/// By the machines that a prediction asks.
Explanation explain_one(const SvmKnnModel& model, const Neighbours& nearest, int label,
                        const RunContext& ctx) {
  if (is_uniform(model.voters, nearest)) {
    const std::vector<double> equal(nearest.samples.size(),
                                    1 / static_cast<double>(nearest.samples.size()));
    return explain_votes(nearest.samples, equal);
  }
  const SvmKnnSettings& own = model.settings;
  const bool whole = std::ssize(nearest.samples) == model.voters.size();
  const Neighbours chosen = whole ? in_order(nearest) : nearest;
  Matrix K = model.pairs.among(chosen.samples);
  Vector k = Eigen::Map<const Vector>(chosen.similarities.data(), std::ssize(chosen.samples));
  if (whole || definite_neighbours(K) < K.rows()) {
    const LocalKernel kernel = local_kernel(std::move(K), chosen);
    K = reconstruct(kernel.U, kernel.eigenvalues(own.spectrum));
    k = kernel.U * kernel.treated(own.spectrum, own.test_treatment);
  }
  Vector sums = Vector::Zero(k.size());
  Explanation explanation;
  const Labels labels = labels_of(model.voters, chosen.samples);
  for (const BinaryTask& pair : binary_tasks(labels, own.multiclass)) {
    if (pair.first != label && pair.second != label) continue;
    const double side = pair.first == label ? 1 : -1;
    const PairMachines machine =
        pair_machines(pair, K, std::span(&own.cost, 1), own.tolerance, ctx);
    sums(pair.samples) += side * machine.c.col(0).cwiseProduct(Vector(k(pair.samples)));
    explanation.offset += side * machine.b(0);
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
  describe_multiclass(settings.multiclass, field);
  field("tolerance", settings.tolerance, above(0.0), kGapHelp);
}

FittedPath<SvmKnnModel> fit_path(SharedWork& work, Path<SvmKnnSettings> path, RunContext& ctx) {
  return keep_training_samples(work, path, ctx);
}

std::vector<Prediction> predict_path(std::span<const SvmKnnModel> models, const QueryBlock& queries,
                                     RunContext& ctx) {
  WholeSets whole;
  const auto solve = [&](std::span<const Task> tasks) {
    Neighbourhoods(tasks, whole, ctx).solve();
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
