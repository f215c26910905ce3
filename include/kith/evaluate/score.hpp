// SPDX-License-Identifier: Apache-2.0
// How good the predictions of one trained model are on samples whose classes are known. Samples
// come some at a time: what is kept of each is at most a number (the area under the curve of two
// classes).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/core/text.hpp"
#include "kith/evaluate/calibration_bins.hpp"
#include "kith/evaluate/statistics.hpp"
#include "kith/learn/learner.hpp"
#include "kith/model/model_file.hpp"

namespace kith {

struct ClassScore {
  std::string name;
  Index samples = 0;    ///< whose true class it is
  Index predicted = 0;  ///< that were predicted as it
  Index right = 0;      ///< of both
  bool known = true;    ///< the model has it; it cannot predict another

  /// right / samples and its interval; nothing without samples.
  [[nodiscard]] std::optional<double> recall() const;
  [[nodiscard]] std::optional<Interval> recall_interval() const;
  /// right / predicted and its interval; nothing where it was never predicted.
  [[nodiscard]] std::optional<double> precision() const;
  [[nodiscard]] std::optional<Interval> precision_interval() const;
};

/// What a prediction without any input would reach: always the class with the most training
/// samples, of equals the first.
struct Baseline {
  std::string class_name;
  double error = 0;
};

struct Score {
  Index samples = 0;
  Index wrong = 0;
  double error = 0;
  Interval interval;                   ///< of the error (wilson_interval)
  double balanced_error = 0;           ///< over the classes with samples
  std::vector<ClassScore> classes;     ///< those of the model in its order, then those it never saw
  Matrix confusion;                    ///< (truth, predicted), counts, in the order of `classes`
  std::optional<Baseline> baseline{};  ///< nothing where the model does not say what it saw
  /// Mean of -log p(true class), p no smaller than 1e-15, where there are probabilities. A class
  /// that the model never saw has probability 0.
  std::optional<double> log_loss{};
  std::vector<CalibrationBin> calibration{};  ///< ten, or none without probabilities
  /// Of a model of two classes, both with samples: the area under the ROC curve (metrics, kAuc).
  std::optional<double> auc{};
  /// Of a model with costs. To predict a sample of a class that it never saw costs 1.
  std::optional<double> mean_cost{};
  std::vector<std::string> notes{};  ///< what a reader should know, with mentions
};

/// What `predict --labels --json` prints under `score`; docs/score.md describes the fields.
[[nodiscard]] Json score_json(const Score& score);

class Scorer {
 public:
  /// For predictions of the model with this record, which is kept by reference.
  explicit Scorer(const ModelRecord& record);
  explicit Scorer(ModelRecord&&) = delete;

  /// The next samples: the names of their true classes, what the model predicts, and their ids
  /// (none where they have none). Throws Error where they are not equally many.
  void add(std::span<const std::string_view> truth, const Prediction& prediction,
           std::span<const std::string> ids = {});

  /// The score of all samples so far. Throws Error(kInvalidArgument) where there are none.
  [[nodiscard]] Score finish() const;

 private:
  /// The order of class names everywhere.
  struct NaturalOrder {
    bool operator()(std::string_view a, std::string_view b) const { return natural_less(a, b); }
  };
  struct Unknown {
    Index samples = 0;
    std::vector<Index> predicted;  // per class of the model
  };

  void add_probabilities(std::span<const int> truth, const Matrix& probabilities);
  void add_leads(std::span<const int> truth, const Prediction& prediction);
  [[nodiscard]] int class_count() const { return static_cast<int>(record_->class_names.size()); }
  [[nodiscard]] std::vector<ClassScore> class_scores(const Matrix& confusion) const;
  [[nodiscard]] Matrix whole_confusion() const;
  [[nodiscard]] std::optional<Baseline> baseline() const;
  [[nodiscard]] std::vector<std::string> notes(std::span<const ClassScore> classes) const;

  const ModelRecord* record_;
  std::unordered_map<std::string_view, int> number_of_;  // of each class of the model
  Index samples_ = 0;
  Matrix counts_;  // (truth, predicted) over the classes of the model
  std::map<std::string, Unknown, NaturalOrder> unknown_;
  double cost_ = 0;
  double loss_ = 0;
  bool has_probabilities_ = false;
  CalibrationCount calibration_;
  std::array<std::vector<double>, 2> leads_;  // of the first class over the second, by true class
  std::vector<std::string> trained_on_;       // ids of samples that are training samples too
};

}  // namespace kith
