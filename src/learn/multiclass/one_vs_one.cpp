// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/multiclass/one_vs_one.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kith/core/error.hpp"

namespace kith {
namespace {

/// Votes and, among equals, sums of decision values.
struct Tally {
  Vector votes;
  Vector sums;
};

Tally tally(const PairTable& table, const Eigen::Ref<const Eigen::RowVectorXd>& decisions) {
  Tally result{Vector::Zero(table.classes), Vector::Zero(table.classes)};
  for (std::size_t p = 0; p < table.first.size(); ++p) {
    const double value = decisions(static_cast<Index>(p));
    result.votes(value >= 0 ? table.first[p] : table.second[p]) += 1;
    result.sums(table.first[p]) += value;
    result.sums(table.second[p]) -= value;
  }
  return result;
}

int winner(const PairTable& table, const Tally& result) {
  int best = table.present.front();
  for (const int c : table.present) {
    const bool more = result.votes(c) > result.votes(best);
    const bool equal = result.votes(c) == result.votes(best);
    if (more || (equal && result.sums(c) > result.sums(best))) best = c;
  }
  return best;
}

Vector probabilities(const PairTable& table, const Eigen::Ref<const Eigen::RowVectorXd>& decisions,
                     std::span<const Sigmoid> sigmoids, int label) {
  const auto present = static_cast<Index>(table.present.size());
  std::vector<Index> slot(static_cast<std::size_t>(table.classes), -1);
  for (Index s = 0; s < present; ++s) {
    slot[static_cast<std::size_t>(table.present[static_cast<std::size_t>(s)])] = s;
  }
  Matrix r = Matrix::Zero(present, present);
  for (std::size_t p = 0; p < table.first.size(); ++p) {
    const double share = sigmoids[p](decisions(static_cast<Index>(p)));
    const Index i = slot[static_cast<std::size_t>(table.first[p])];
    const Index j = slot[static_cast<std::size_t>(table.second[p])];
    r(i, j) = share;
    r(j, i) = 1 - share;
  }
  const Vector coupled = present > 1 ? couple_pairs(r) : Vector::Ones(1);
  Vector all = Vector::Zero(table.classes);
  for (Index s = 0; s < present; ++s) all(table.present[static_cast<std::size_t>(s)]) = coupled(s);
  Index largest = 0;
  all.maxCoeff(&largest);
  if (all(largest) > all(label)) std::swap(all(largest), all(label));
  return all;
}

/// What a vote relies on, whoever wrote the file.
void check_loaded(const PairTable& table) {
  if (table.first.size() != table.second.size() || table.present.empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} first and {} second classes of pairs, {} classes present; there "
                            "must be as many first as second ones, and a class",
                            table.first.size(), table.second.size(), table.present.size()));
  }
  for (const std::vector<int>* list : {&table.first, &table.second, &table.present}) {
    for (const int c : *list) {
      if (c >= 0 && c < table.classes) continue;
      throw Error(
          ErrorCode::kBadInput,
          fmt::format("class {} of a pair; classes are counted from 0 below {}", c, table.classes));
    }
  }
}

}  // namespace

std::vector<ClassPair> class_pairs(const Labels& labels) {
  std::vector<ClassPair> pairs;
  const std::vector<Index> counts = labels.counts();
  for (int a = 0; a < labels.class_count(); ++a) {
    for (int b = a + 1; b < labels.class_count(); ++b) {
      if (counts[static_cast<std::size_t>(a)] == 0 || counts[static_cast<std::size_t>(b)] == 0)
        continue;
      ClassPair pair{.first = a, .second = b, .samples = {}, .signs = {}};
      for (Index i = 0; i < labels.size(); ++i) {
        const int c = labels.ids[static_cast<std::size_t>(i)];
        if (c != a && c != b) continue;
        pair.samples.push_back(i);
        pair.signs.push_back(c == a ? 1 : -1);
      }
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

std::string pair_name(const ClassPair& pair, const Labels& labels) {
  return labels.names[static_cast<std::size_t>(pair.first)] + " | " +
         labels.names[static_cast<std::size_t>(pair.second)];
}

PairTable pair_table(std::span<const ClassPair> pairs, const Labels& labels) {
  PairTable table;
  table.classes = labels.class_count();
  for (const ClassPair& pair : pairs) {
    table.first.push_back(pair.first);
    table.second.push_back(pair.second);
  }
  const std::vector<Index> counts = labels.counts();
  for (int c = 0; c < labels.class_count(); ++c) {
    if (counts[static_cast<std::size_t>(c)] > 0) table.present.push_back(c);
  }
  return table;
}

template <class A>
void archive(Archived<A, PairTable>& table, A& archiver) {
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
template void archive(const PairTable&, SavingArchive&);
template void archive(PairTable&, LoadingArchive&);

Prediction vote(const PairTable& table, const MatrixRef& decisions,
                std::span<const Sigmoid> sigmoids) {
  Prediction prediction;
  const Index queries = decisions.rows();
  prediction.labels.resize(static_cast<std::size_t>(queries));
  prediction.scores = Matrix::Zero(queries, table.classes);
  if (!sigmoids.empty()) prediction.probabilities = Matrix::Zero(queries, table.classes);
  for (Index i = 0; i < queries; ++i) {
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
    if (!sigmoids.empty()) {
      prediction.probabilities.row(i) =
          probabilities(table, decisions.row(i), sigmoids, label).transpose();
    }
  }
  return prediction;
}

}  // namespace kith
