// SPDX-License-Identifier: Apache-2.0
// The driver of every method that solves binary tasks: it goes through tasks and settings, on
// several threads, holds samples out for calibration, fits sigmoids, names tasks and gathers their
// evidence. A method hands over a learner, which knows one task at a time:
//
//   struct XLearner {
//     struct Machine : BinaryMachine { ... };  // what is kept of one task at one step
//     struct Block { ... };      // the samples of a task, or some of them, and what steps share
//     Rng folds(std::size_t number) const;     // the stream that draws folds for calibration
//     Block block(const BinaryTask& task, std::size_t number) const;
//     Block part(const Block& whole, std::span<const Index> samples) const;
//     Machine solve(Block& block, const Request<Machine>& request) const;
//     Vector decisions(const Block& whole, const Machine& machine, std::span<const Index> rows,
//                      std::span<const Index> trained_on) const;
//     void finish(const Block& whole, Machine& machine) const;  // optional: drops what is not kept
//   };
//
// The steps of a path are solved in order on the same block, so that it can hold warm starts.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kith/core/parallel.hpp"
#include "kith/learn/multiclass/binary_tasks.hpp"
#include "kith/learn/path_groups.hpp"

namespace kith {

/// What the machine of every learner says of itself.
struct BinaryMachine {
  Subproblem evidence{};  ///< the driver names it
  /// Of training rows treated as new; NaN where a machine has no notion of it.
  double consistency = std::numeric_limits<double>::quiet_NaN();
};

/// Which machine is asked for: that of a whole task, or that of a part of it, whose decision values
/// of the other samples calibrate the first.
template <class Machine>
struct Request {
  std::size_t step = 0;
  const Machine* whole = nullptr;    ///< the machine to calibrate; null: it is asked for
  std::span<const Index> samples{};  ///< of the part, as positions in the task
  [[nodiscard]] bool calibrates() const { return whole != nullptr; }
  /// Of the answer: that of the setting, or what calibration needs.
  [[nodiscard]] double tolerance(double wanted) const {
    return calibrates() ? kCalibrationTolerance : wanted;
  }
};

template <class L>
concept BinaryLearner = std::derived_from<typename L::Machine, BinaryMachine> &&
    requires(const L& learner, const BinaryTask& task, typename L::Block& block,
             const typename L::Block& whole, const typename L::Machine& machine,
             const Request<typename L::Machine>& request, std::span<const Index> samples) {
  { learner.folds(std::size_t{}) } -> std::same_as<Rng>;
  { learner.block(task, std::size_t{}) } -> std::same_as<typename L::Block>;
  { learner.part(whole, samples) } -> std::same_as<typename L::Block>;
  { learner.solve(block, request) } -> std::same_as<typename L::Machine>;
  { learner.decisions(whole, machine, samples, samples) } -> std::same_as<Vector>;
};

/// The machines of all tasks for one setting.
template <class Machine>
struct FittedTasks {
  std::vector<Machine> machines;
  Matrix sigmoids;  ///< 2 x tasks (slope, offset); empty: no probabilities
  FitInfo info;     ///< one subproblem per task, the worst consistency
};

namespace detail {

/// The sigmoids of task `number` at every step that has probabilities; false where no sample of it
/// could be held out. `groups` are those of its samples. Folds run on several threads only where
/// there are fewer tasks than threads.
template <class L, class Step>
bool calibrate(const BinaryTask& task, std::size_t number, std::span<const int> groups,
               Path<Step> path, const L& learner, const typename L::Block& whole,
               std::vector<FittedTasks<typename L::Machine>>& fitted, int threads,
               const RunContext& ctx) {
  std::vector<std::size_t> steps;
  for (std::size_t step = 0; step < path.size(); ++step) {
    if (path[step].probability) steps.push_back(step);
  }
  if (steps.empty()) return true;
  const auto machine_at = [&](std::size_t k) -> const typename L::Machine& {
    return fitted[steps[k]].machines[number];
  };
  Matrix values(task.size(), std::ssize(steps));
  const std::vector<FoldSplit> folds = calibration_folds(task.signs, groups, learner.folds(number));
  if (folds.empty()) {  // a class has one sample or group: the machine's own values have to do
    const std::vector<Index> all = all_positions(task.size());
    for (std::size_t k = 0; k < steps.size(); ++k) {
      values.col(static_cast<Index>(k)) = learner.decisions(whole, machine_at(k), all, all);
    }
  }
  parallel_for(folds.size(), threads, [&](std::size_t fold) {
    const FoldSplit& split = folds[fold];
    typename L::Block part = learner.part(whole, split.outside);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      ctx.check_stop();
      const typename L::Machine machine = learner.solve(
          part, {.step = steps[k], .whole = &machine_at(k), .samples = split.outside});
      values.col(static_cast<Index>(k))(split.inside) =
          learner.decisions(whole, machine, split.inside, split.outside);
    }
  });
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Sigmoid sigmoid = fit_sigmoid(values.col(static_cast<Index>(k)), task.signs);
    fitted[steps[k]].sigmoids.col(static_cast<Index>(number)) << sigmoid.slope, sigmoid.offset;
  }
  return !folds.empty();
}

}  // namespace detail

/// The settings of a path that agree in their field `multiclass` and in `key`, fitted together:
/// `fit` takes their tasks and these settings, ascending in `order`.
template <class Settings, class Key, class Order, class Fit>
[[nodiscard]] auto fit_with_tasks(const Labels& labels, Path<Settings> path, const Key& key,
                                  const Order& order, const Fit& fit) {
  const auto shared = [&](const Settings& settings) {
    return std::pair(settings.multiclass, key(settings));
  };
  return fit_in_groups(path, shared, order, [&](Path<Settings> own) {
    const std::vector<BinaryTask> tasks = binary_tasks(labels, own.front().multiclass);
    auto fitted = fit(Tasks(tasks), own);
    for (auto& one : fitted) note_many_pairs(labels, own.front().multiclass, one.info);
    return fitted;
  });
}

/// One result for each step of `path`, whose elements have a field `probability`.
template <BinaryLearner L, class Step>
[[nodiscard]] std::vector<FittedTasks<typename L::Machine>> fit_tasks(
    Tasks tasks, const Labels& labels, Path<Step> path, const L& learner, const RunContext& ctx) {
  std::vector<FittedTasks<typename L::Machine>> fitted(path.size());
  for (std::size_t step = 0; step < path.size(); ++step) {
    fitted[step].machines.resize(tasks.size());
    if (path[step].probability) fitted[step].sigmoids.resize(2, std::ssize(tasks));
  }
  const int fold_threads = std::ssize(tasks) < ctx.threads ? ctx.threads : 1;
  std::vector<char> held_out(tasks.size());
  parallel_for(tasks.size(), ctx.threads, [&](std::size_t t) {
    ctx.check_stop();
    typename L::Block whole = learner.block(tasks[t], t);
    for (std::size_t step = 0; step < path.size(); ++step) {
      ctx.check_stop();
      fitted[step].machines[t] = learner.solve(whole, {.step = step});
    }
    const std::vector<int> groups = values_at(labels.groups.ids, tasks[t].samples);
    held_out[t] =
        detail::calibrate(tasks[t], t, groups, path, learner, whole, fitted, fold_threads, ctx);
    if constexpr (requires(typename L::Machine & machine) { learner.finish(whole, machine); }) {
      for (auto& one : fitted) learner.finish(whole, one.machines[t]);
    }
  });
  for (auto& [machines, sigmoids, info] : fitted) {
    if (sigmoids.size() > 0) note_own_values(tasks, labels, held_out, info);
    info.subproblems.reserve(tasks.size());
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      Subproblem& evidence = info.subproblems.emplace_back(std::move(machines[t].evidence));
      evidence.name = task_name(tasks[t], labels);
      const double own = machines[t].consistency;
      if (!std::isnan(own) && !(own <= info.consistency)) info.consistency = own;
    }
  }
  return fitted;
}

/// What `assemble` makes of each of these results.
template <BinaryLearner L, class Step, class Assemble>
[[nodiscard]] auto fit_tasks(Tasks tasks, const Labels& labels, Path<Step> path, const L& learner,
                             const RunContext& ctx, const Assemble& assemble) {
  std::vector<std::invoke_result_t<Assemble, FittedTasks<typename L::Machine>>> models;
  for (auto& one : fit_tasks(tasks, labels, path, learner, ctx)) {
    models.push_back(assemble(std::move(one)));
  }
  return models;
}

}  // namespace kith
