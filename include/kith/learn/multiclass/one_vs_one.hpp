// SPDX-License-Identifier: Apache-2.0
// Multi-class by one machine for each pair of classes, as [TR] does it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kith/learn/calibration.hpp"
#include "kith/learn/learner.hpp"

namespace kith {

/// The machine that tells `first` (+1) from `second` (-1); first < second.
struct ClassPair {
  int first = 0;
  int second = 1;
  std::vector<Index> samples;  ///< of the two classes, ascending
  std::vector<int> signs;      ///< +1 for `first`, -1 for `second`, in the order of `samples`
};

/// Every pair of classes that both have samples, in order (0,1), (0,2), ..., (1,2), ...
[[nodiscard]] std::vector<ClassPair> class_pairs(const Labels& labels);
/// "a | b", for reports.
[[nodiscard]] std::string pair_name(const ClassPair& pair, const Labels& labels);

/// Which two classes column p of a decision matrix tells apart; plain data for models.
struct PairTable {
  int classes = 0;
  std::vector<int> first;
  std::vector<int> second;
  std::vector<int> present;  ///< classes with training samples, ascending
};
[[nodiscard]] PairTable pair_table(std::span<const ClassPair> pairs, const Labels& labels);
template <class A>
void archive(Archived<A, PairTable>& table, A& archiver);

/// Votes of the pairs decide; equal votes go to the larger sum of decision values in favour, then
/// to the first class. `decisions` is queries x pairs, positive for `first`. Scores are votes plus
/// that sum squeezed into (-1/3, 1/3), so that the label always has the largest score; for two
/// classes they are the decision value and its negative. With `sigmoids` (one per pair)
/// probabilities are coupled; where the largest would not be the label's, the two are exchanged:
/// the label never depends on whether probabilities were asked for.
[[nodiscard]] Prediction vote(const PairTable& table, const MatrixRef& decisions,
                              std::span<const Sigmoid> sigmoids);

}  // namespace kith
