// SPDX-License-Identifier: Apache-2.0
// Several classes by machines that tell two things apart: one machine for each pair of classes, as
// [TR] does it, or one for each class against all others.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/learn/calibration.hpp"
#include "kith/learn/method.hpp"

namespace kith {

enum class Multiclass { kOneVsOne, kOneVsRest };
constexpr auto enum_names(Multiclass /*of*/) { return named("one-vs-one", "one-vs-rest"); }

/// The setting of every method that solves binary tasks.
void describe_multiclass(Multiclass& rule, FieldVisitor& field);
/// What most of them end with; `tolerance` is the help of the last.
template <class Settings>
void describe_tasks(Settings& settings, FieldVisitor& field, std::string_view tolerance) {
  describe_multiclass(settings.multiclass, field);
  field.as(FieldRole::kProbability)("probability", settings.probability, kProbabilityHelp);
  if constexpr (requires { settings.tolerance.has_value(); }) {
    field("tolerance", settings.tolerance, above(0.0), "auto", tolerance);
  } else {
    field("tolerance", settings.tolerance, above(0.0), tolerance);
  }
}

/// In the place of a second class: all classes but the first.
inline constexpr int kRest = -1;

/// The problem of telling `first` (+1) from `second` (-1).
struct BinaryTask {
  int first = 0;
  int second = 1;              ///< above `first`, or kRest
  std::vector<Index> samples;  ///< of the two sides, ascending
  std::vector<int> signs;      ///< +1 for `first`, -1 for `second`, in the order of `samples`

  [[nodiscard]] Index size() const { return std::ssize(samples); }
  [[nodiscard]] Vector y() const;  ///< the signs as numbers
};

using Tasks = std::span<const BinaryTask>;

/// Signs as numbers.
[[nodiscard]] Vector as_numbers(std::span<const int> signs);

/// One-vs-one: every pair of classes that both have samples, in order (0,1), (0,2), ..., (1,2), ...
/// One-vs-rest: every class that has samples. With two such classes they are the same one task.
[[nodiscard]] std::vector<BinaryTask> binary_tasks(const Labels& labels,
                                                   Multiclass rule = Multiclass::kOneVsOne);
/// "a | b" or "a | rest", for reports.
[[nodiscard]] std::string task_name(const BinaryTask& task, const Labels& labels);
/// Notes that there are very many pairs of classes, where there are and each has a machine.
void note_many_pairs(const Labels& labels, Multiclass rule, FitInfo& info);
/// Notes the tasks whose samples groups kept from being held out: their sigmoids go by decision
/// values of samples that the machines have seen. Quiet where a class has a single sample.
void note_own_values(Tasks tasks, const Labels& labels, std::span<const char> held_out,
                     FitInfo& info);
/// Of the task's samples, all 1 where none were given.
[[nodiscard]] Vector weights_of(const TrainingSet& train, const BinaryTask& task);

/// What column t of a decision matrix tells apart; plain data for models.
struct TaskTable {
  int classes = 0;
  std::vector<int> first;
  std::vector<int> second;   ///< classes, or kRest throughout
  std::vector<int> present;  ///< classes with training samples, ascending

  [[nodiscard]] Index size() const { return std::ssize(first); }
};
[[nodiscard]] TaskTable task_table(Tasks tasks, const Labels& labels);
template <class A>
void archive(Archived<A, TaskTable>& table, A& archiver);

/// The classes of queries from `decisions`, queries x tasks, positive for `first`. `sigmoids` is 2
/// x tasks (slope, offset), or empty: no probabilities. Where the largest probability would not be
/// the label's, the two are exchanged: the label never depends on whether probabilities were asked
/// for.
///
/// One-vs-one: votes decide; equal votes go to the larger sum of decision values in favour, then to
/// the first class. Scores are votes plus that sum squeezed into (-1/3, 1/3), so that the label
/// always has the largest score; for two classes they are the decision value and its negative.
/// Probabilities of pairs are coupled.
///
/// One-vs-rest: the largest decision value decides, then the first class. Scores are decision
/// values; a class without samples is below them. Probabilities are those of the tasks, divided by
/// their sum.
[[nodiscard]] Prediction decide(const TaskTable& table, const MatrixRef& decisions,
                                const MatrixRef& sigmoids = Matrix());

}  // namespace kith
