// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/details.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "evaluate/unit.hpp"
#include "kith/evaluate/grid.hpp"

namespace kith {
namespace {

constexpr int kMostCurves = 12;  // of classes that a page can tell apart

/// Counts what was predicted for every sample.
class SampleCounts {
 public:
  SampleCounts(Index samples, int classes)
      : classes_(static_cast<std::size_t>(classes)),
        tested_(static_cast<std::size_t>(samples)),
        wrong_(tested_.size()),
        said_(tested_.size() * classes_) {}

  void add(const Partition& partition, const Labels& labels, const Prediction& prediction) {
    for (std::size_t t = 0; t < partition.test.size(); ++t) {
      const auto sample = static_cast<std::size_t>(partition.test[t]);
      const int label = prediction.labels[t];
      ++tested_[sample];
      wrong_[sample] += label == labels.ids[sample] ? 0 : 1;
      ++said_[sample * classes_ + static_cast<std::size_t>(label)];
    }
  }

  void store(MethodDetails& details) && {
    details.said.assign(tested_.size(), -1);
    for (std::size_t sample = 0; sample < tested_.size(); ++sample) {
      if (tested_[sample] == 0) continue;
      const auto first = said_.begin() + static_cast<std::ptrdiff_t>(sample * classes_);
      const auto last = first + static_cast<std::ptrdiff_t>(classes_);
      const auto most = std::max_element(first, last);
      const bool tied = std::find(most + 1, last, *most) != last;
      details.said[sample] = static_cast<int>((tied ? last : most) - first);
    }
    details.tested = std::move(tested_);
    details.wrong = std::move(wrong_);
  }

 private:
  std::size_t classes_;
  std::vector<int> tested_;
  std::vector<int> wrong_;
  std::vector<int> said_;
};

std::vector<SearchedAxis> searched_axes(const Json& grid, const Partition& partition) {
  const Index samples = detail::smallest_training_part(partition.fold_of);
  std::vector<SearchedAxis> axes;
  for (const Json& one : grid) {
    GridAxis axis;
    axis.field = one.at("field").get<std::string>();
    axis.at_most_samples = one.value("at_most_samples", false);
    for (const Json& value : one.at("values")) {
      axis.values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
    axes.push_back({axis.field, capped_values(axis, samples)});
  }
  return axes;
}

std::size_t point_count(const std::vector<SearchedAxis>& axes) {
  std::size_t points = 1;
  for (const SearchedAxis& axis : axes) points *= axis.values.size();
  return points;
}

/// Losses summed over partitions whose grid is that of the first.
class Validation {
 public:
  void add(const Json& grid, const Partition& partition, const std::vector<double>& losses) {
    if (grid.empty()) return;
    std::vector<SearchedAxis> axes = searched_axes(grid, partition);
    if (point_count(axes) != losses.size()) return;
    if (sums_.empty()) {
      axes_ = std::move(axes);
      sums_.assign(losses.size(), 0);
    }
    if (sums_.size() != losses.size()) return;
    for (std::size_t i = 0; i < losses.size(); ++i) sums_[i] += losses[i];
    samples_ += static_cast<double>(partition.train.size());
  }

  void store(MethodDetails& details) && {
    for (double& sum : sums_) sum /= samples_;
    details.axes = std::move(axes_);
    details.validation = std::move(sums_);
  }

 private:
  std::vector<SearchedAxis> axes_;
  std::vector<double> sums_;
  double samples_ = 0;
};

double number_in(const Json& object, const char* key) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (!object.is_object() || !object.contains(key)) return kNan;
  return object.at(key).is_number() ? object.at(key).get<double>() : kNan;
}

PartitionRecord partition_record(const Store& store, const UnitKey& key, const Partition& partition,
                                 const TestResult& test) {
  PartitionRecord record{.partition = key.partition,
                         .status = "",
                         .gap = number_in(test.certificate, "gap"),
                         .kkt_residual = number_in(test.certificate, "kkt_residual"),
                         .iterations = number_in(test.certificate, "iterations"),
                         .seconds = test.seconds};
  if (test.certificate.is_object() && test.certificate.contains("status")) {
    record.status = test.certificate.at("status").get<std::string>();
  }
  for (int fold = 0; fold < partition.folds(); ++fold) {
    const std::optional<FoldResult> inner = store.fold_result({key.candidate, key.partition, fold});
    if (inner) record.seconds += inner->seconds;
  }
  return record;
}

}  // namespace

MethodDetails method_details(const Store& store, std::int64_t candidate,
                             const ExperimentRecord& record) {
  const Json grid = store.candidate(candidate).grid;
  MethodDetails details;
  SampleCounts samples(record.labels.size(), record.labels.class_count());
  CalibrationCount calibration;
  CurveMean curves(record.labels.class_count());
  Validation validation;
  for (int p = 0; p < static_cast<int>(record.partitions.size()); ++p) {
    const UnitKey key{candidate, p, kTestFold};
    const std::optional<TestResult> test = store.test_result(key);
    if (!test) continue;
    const Partition& partition = record.partitions[static_cast<std::size_t>(p)];
    samples.add(partition, record.labels, test->prediction);
    const std::vector<int> truth = values_at(record.labels.ids, partition.test);
    calibration.add(truth, test->prediction.probabilities);
    curves.add(truth, test->prediction);
    validation.add(grid, partition, test->inner_losses);
    details.partitions.push_back(partition_record(store, key, partition, *test));
    if (test->certificate.is_object() && test->certificate.contains("learned")) {
      details.learned = test->certificate.at("learned");
    }
  }
  std::move(samples).store(details);
  std::move(validation).store(details);
  details.calibration = calibration.bins();
  details.curves = curves.mean(kMostCurves);
  return details;
}

}  // namespace kith
