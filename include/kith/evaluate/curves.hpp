// SPDX-License-Identifier: Apache-2.0
// ROC and precision-recall curves, one class against the rest, averaged over partitions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kith/learn/learner.hpp"

namespace kith {

/// How well one class is told from the others. Points lie on `Curves::grid`.
struct ClassCurve {
  int label = 0;                  ///< the class; -1: the mean over all classes
  std::vector<double> tpr;        ///< true-positive rate at each false-positive rate of the grid
  double auc = 0;                 ///< area under the ROC curve
  std::vector<double> precision;  ///< at each recall of the grid
  double average_precision = 0;   ///< sum of precision times the step in recall
};

struct Curves {
  std::vector<double> grid;         ///< from 0 to 1
  std::vector<ClassCurve> classes;  ///< of two classes the second alone; of more the mean first
  int left_out = 0;                 ///< classes that are told apart best, beyond `most`
};

/// Averages curves over the test parts of an evaluation.
class CurveMean {
 public:
  explicit CurveMean(int classes);

  /// Orders the samples by how much speaks for a class: of two classes by the difference of their
  /// scores, of more by its probability (without probabilities: by how far its score leads all
  /// others). A class that is not in `truth`, or is all of it, has no curve there.
  void add(std::span<const int> truth, const Prediction& prediction);

  /// Nothing where no prediction had scores or probabilities. Of more than `most` classes those
  /// with the smallest area under the ROC curve are kept; the mean is over all.
  [[nodiscard]] std::optional<Curves> mean(int most) const;

 private:
  std::vector<ClassCurve> sums_;  // one per class
  std::vector<int> counts_;       // of partitions in each sum
};

}  // namespace kith
