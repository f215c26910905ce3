// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/multiclass/binary_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/errors.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

/// Votes and, among equals, sums of decision values.
struct Tally {
  Vector votes;
  Vector sums;
};

Tally tally(const TaskTable& table, const Eigen::Ref<const Eigen::RowVectorXd>& decisions) {
  Tally result{Vector::Zero(table.classes), Vector::Zero(table.classes)};
  for (std::size_t p = 0; p < table.first.size(); ++p) {
    const double value = decisions(static_cast<Index>(p));
    result.votes(value >= 0 ? table.first[p] : table.second[p]) += 1;
    result.sums(table.first[p]) += value;
    result.sums(table.second[p]) -= value;
  }
  return result;
}

int winner(const TaskTable& table, const Tally& result) {
  int best = table.present.front();
  for (const int c : table.present) {
    const bool more = result.votes(c) > result.votes(best);
    const bool equal = result.votes(c) == result.votes(best);
    if (more || (equal && result.sums(c) > result.sums(best))) best = c;
  }
  return best;
}

Sigmoid sigmoid_at(const MatrixRef& sigmoids, std::size_t task) {
  const auto column = static_cast<Index>(task);
  return {.slope = sigmoids(0, column), .offset = sigmoids(1, column)};
}

/// The probabilities of the classes with samples, in their order, from those of all pairs.
Vector coupled(const TaskTable& table, const Eigen::Ref<const Eigen::RowVectorXd>& decisions,
               const MatrixRef& sigmoids) {
  const auto present = static_cast<Index>(table.present.size());
  if (present == 1) return Vector::Ones(1);
  std::vector<Index> slot(static_cast<std::size_t>(table.classes), -1);
  for (Index s = 0; s < present; ++s) {
    slot[static_cast<std::size_t>(table.present[static_cast<std::size_t>(s)])] = s;
  }
  Matrix r = Matrix::Zero(present, present);
  for (std::size_t p = 0; p < table.first.size(); ++p) {
    const double share = sigmoid_at(sigmoids, p)(decisions(static_cast<Index>(p)));
    const Index i = slot[static_cast<std::size_t>(table.first[p])];
    const Index j = slot[static_cast<std::size_t>(table.second[p])];
    r(i, j) = share;
    r(j, i) = 1 - share;
  }
  return couple_pairs(r);
}

/// Over all classes, with the largest at the label.
Vector for_label(const TaskTable& table, const Vector& of_present, int label) {
  Vector all = Vector::Zero(table.classes);
  for (std::size_t s = 0; s < table.present.size(); ++s) {
    all(table.present[s]) = of_present(static_cast<Index>(s));
  }
  Index largest = 0;
  all.maxCoeff(&largest);
  if (all(largest) > all(label)) std::swap(all(largest), all(label));
  return all;
}

Prediction one_vs_one(const TaskTable& table, const MatrixRef& decisions,
                      const MatrixRef& sigmoids) {
  Prediction prediction = blank_prediction(decisions.rows(), table.classes, sigmoids.size() > 0);
  for (Index i = 0; i < decisions.rows(); ++i) {
    const Tally result = tally(table, decisions.row(i));
    const int label = winner(table, result);
    prediction.labels[static_cast<std::size_t>(i)] = label;
    if (table.classes == 2) {
      prediction.scores.row(i) = result.sums.transpose();
    } else {
      const Vector squeezed =
          result.sums.unaryExpr([](double s) { return s / (3 * (std::abs(s) + 1)); });
      prediction.scores.row(i) = (result.votes + squeezed).transpose();
    }
    if (sigmoids.size() > 0) {
      prediction.probabilities.row(i) =
          for_label(table, coupled(table, decisions.row(i), sigmoids), label).transpose();
    }
  }
  return prediction;
}

/// Column s of the decisions belongs to class present[s].
Prediction one_vs_rest(const TaskTable& table, const MatrixRef& decisions,
                       const MatrixRef& sigmoids) {
  Prediction prediction = blank_prediction(decisions.rows(), table.classes, sigmoids.size() > 0);
  for (Index i = 0; i < decisions.rows(); ++i) {
    Index best = 0;
    decisions.row(i).maxCoeff(&best);
    const int label = table.first[static_cast<std::size_t>(best)];
    prediction.labels[static_cast<std::size_t>(i)] = label;
    prediction.scores.row(i).setConstant(decisions.row(i).minCoeff() - 1);
    Vector shares(decisions.cols());
    for (std::size_t t = 0; t < table.first.size(); ++t) {
      const double value = decisions(i, static_cast<Index>(t));
      prediction.scores(i, table.first[t]) = value;
      if (sigmoids.size() > 0) shares(static_cast<Index>(t)) = sigmoid_at(sigmoids, t)(value);
    }
    if (sigmoids.size() == 0) continue;
    const double sum = shares.sum();
    if (sum > 0) {
      shares /= sum;
    } else {
      shares.setConstant(1 / static_cast<double>(shares.size()));
    }
    prediction.probabilities.row(i) = for_label(table, shares, label).transpose();
  }
  return prediction;
}

bool is_one_vs_rest(const TaskTable& table) {
  return !table.second.empty() && table.second.front() == kRest;
}

/// What a decision relies on, whoever wrote the file.
void check_loaded(const TaskTable& table) {
  if (table.first.size() != table.second.size() || table.present.empty()) {
    throw broken(
        "{} first and {} second classes of pairs, {} classes present; there "
        "must be as many first as second ones, and a class",
        table.first.size(), table.second.size(), table.present.size());
  }
  const bool rest = is_one_vs_rest(table);
  const auto check = [&](const std::vector<int>& list, bool may_be_rest) {
    for (const int c : list) {
      if (may_be_rest && rest && c == kRest) continue;
      if (c >= 0 && c < table.classes && !(may_be_rest && rest)) continue;
      throw broken("class {} of a pair; classes are counted from 0 below {}", c, table.classes);
    }
  };
  check(table.first, false);
  check(table.second, true);
  check(table.present, false);
  if (rest && table.first != table.present) {
    throw broken("machines of one class against the rest are not those of the classes present");
  }
}

/// The samples of both classes, merged in order.
BinaryTask pair_of(const std::vector<std::vector<Index>>& members, int first, int second) {
  const std::vector<Index>& a = members[static_cast<std::size_t>(first)];
  const std::vector<Index>& b = members[static_cast<std::size_t>(second)];
  BinaryTask task{.first = first, .second = second, .samples = {}, .signs = {}};
  task.samples.reserve(a.size() + b.size());
  task.signs.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(task.samples));
  for (const Index i : task.samples) {
    task.signs.push_back(std::binary_search(a.begin(), a.end(), i) ? 1 : -1);
  }
  return task;
}

BinaryTask against_rest(const Labels& labels, int first) {
  BinaryTask task{
      .first = first, .second = kRest, .samples = all_positions(labels.size()), .signs = {}};
  for (const int c : labels.ids) task.signs.push_back(c == first ? 1 : -1);
  return task;
}

std::vector<int> classes_present(const Labels& labels) {
  std::vector<int> present;
  const std::vector<Index> counts = labels.counts();
  for (int c = 0; c < labels.class_count(); ++c) {
    if (counts[static_cast<std::size_t>(c)] > 0) present.push_back(c);
  }
  return present;
}

}  // namespace

Vector as_numbers(std::span<const int> signs) {
  return Eigen::Map<const Eigen::VectorXi>(signs.data(), std::ssize(signs)).cast<double>();
}

Vector BinaryTask::y() const { return as_numbers(signs); }

std::vector<BinaryTask> binary_tasks(const Labels& labels, Multiclass rule) {
  const std::vector<int> present = classes_present(labels);
  std::vector<BinaryTask> tasks;
  if (rule == Multiclass::kOneVsRest && present.size() > 2) {
    for (const int c : present) tasks.push_back(against_rest(labels, c));
    return tasks;
  }
  // By class, so that many small classes do not each look at every sample.
  const std::vector<std::vector<Index>> members = labels.members(all_positions(labels.size()));
  for (std::size_t a = 0; a < present.size(); ++a) {
    for (std::size_t b = a + 1; b < present.size(); ++b) {
      tasks.push_back(pair_of(members, present[a], present[b]));
    }
  }
  return tasks;
}

std::string task_name(const BinaryTask& task, const Labels& labels) {
  const std::string& first = labels.names[static_cast<std::size_t>(task.first)];
  if (task.second == kRest) return first + " | rest";
  return first + " | " + labels.names[static_cast<std::size_t>(task.second)];
}

void describe_multiclass(Multiclass& rule, FieldVisitor& field) {
  field("multiclass", rule,
        "a machine for each pair of classes, or for each class against the rest");
}

void note_many_pairs(const Labels& labels, Multiclass rule, FitInfo& info) {
  constexpr std::size_t kMany = 200;
  const std::size_t classes = classes_present(labels).size();
  if (rule != Multiclass::kOneVsOne || classes <= kMany) return;
  info.notes.push_back(
      fmt::format("{} classes make {} pairs with a machine each; [[set=multiclass=one-vs-rest]] "
                  "has one for each "
                  "class, and the method ridge is made for many",
                  classes, classes * (classes - 1) / 2));
}

void note_own_values(Tasks tasks, const Labels& labels, std::span<const char> held_out,
                     FitInfo& info) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto positives = std::count(tasks[t].signs.begin(), tasks[t].signs.end(), 1);
    const auto negatives = tasks[t].size() - positives;
    if (held_out[t] == 0 && std::min(positives, negatives) > 1) {
      names.push_back(task_name(tasks[t], labels));
    }
  }
  if (names.empty()) return;
  info.notes.push_back(
      fmt::format("the probabilities of {} go by samples that took part in the fit, since the "
                  "groups leave none "
                  "to hold out: they are too sure",
                  list_some(names)));
}

Vector weights_of(const TrainingSet& train, const BinaryTask& task) {
  if (train.weights.size() == 0) return Vector::Ones(task.size());
  return train.weights(task.samples);
}

TaskTable task_table(Tasks tasks, const Labels& labels) {
  TaskTable table;
  table.classes = labels.class_count();
  for (const BinaryTask& task : tasks) {
    table.first.push_back(task.first);
    table.second.push_back(task.second);
  }
  table.present = classes_present(labels);
  return table;
}

template <class A>
void archive(Archived<A, TaskTable>& table, A& archiver) {
  Index classes = table.classes;
  archiver("classes", classes);
  archiver("pair_first", table.first);
  archiver("pair_second", table.second);
  archiver("classes_present", table.present);
  if constexpr (A::kLoading) {
    table.classes = static_cast<int>(classes);
    check_loaded(table);
  }
}
template void archive(const TaskTable&, SavingArchive&);
template void archive(TaskTable&, LoadingArchive&);

Prediction decide(const TaskTable& table, const MatrixRef& decisions, const MatrixRef& sigmoids) {
  return is_one_vs_rest(table) ? one_vs_rest(table, decisions, sigmoids)
                               : one_vs_one(table, decisions, sigmoids);
}

}  // namespace kith
