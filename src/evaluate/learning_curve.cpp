// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/learning_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "evaluate/overlap.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

using detail::Overlap;

/// Whether each test sample of a unit was missed; nothing where it is not finished.
std::optional<std::vector<bool>> missed_of(const Store& store, const UnitKey& key,
                                           const ExperimentRecord& record,
                                           const Partition& partition) {
  const std::optional<TestResult> test = store.test_result(key);
  if (!test) return std::nullopt;
  std::vector<bool> missed;
  for (std::size_t i = 0; i < partition.test.size(); ++i) {
    const int truth = record.labels.ids[static_cast<std::size_t>(partition.test[i])];
    missed.push_back(test->prediction.labels[i] != truth);
  }
  return missed;
}

double share(const std::vector<bool>& missed) {
  return static_cast<double>(std::count(missed.begin(), missed.end(), true)) /
         static_cast<double>(missed.size());
}

/// One size while it is read: of each method and partition who was missed.
struct ReadPoint {
  CurvePoint point;
  std::vector<std::vector<std::vector<bool>>> missed;  // [method][finished partition][test sample]
};

ReadPoint read_point(const Store& store, const ExperimentRecord& record,
                     std::span<const std::int64_t> candidates, int number,
                     const SizedPartitions& size, const Overlap& overlap) {
  ReadPoint read;
  read.point.size = size.size;
  const auto count = std::ssize(size.partitions);
  for (const Partition& one : size.partitions) {
    read.point.samples += static_cast<double>(one.train.size()) / static_cast<double>(count);
  }
  for (const std::int64_t candidate : candidates) {
    SizedMethod method{.name = store.candidate(candidate).name, .partitions = {}, .errors = {}};
    read.missed.emplace_back();
    for (int p = 0; p < static_cast<int>(count); ++p) {
      const UnitKey key{candidate, unit_partition(number, p, count), kTestFold};
      std::optional<std::vector<bool>> missed =
          missed_of(store, key, record, size.partitions[static_cast<std::size_t>(p)]);
      if (!missed) continue;
      method.partitions.push_back(p);
      method.errors.push_back(share(*missed));
      read.missed.back().push_back(std::move(*missed));
    }
    method.mean = mean(method.errors);
    method.sd = standard_deviation(method.errors);
    if (!method.errors.empty()) {
      method.interval = detail::share_interval(method.errors, overlap.ratio, overlap.test_size);
    }
    read.point.methods.push_back(std::move(method));
  }
  return read;
}

/// The method that ends best: of those with the most finished partitions at the last size.
std::optional<std::size_t> best_method(const std::vector<SizedMethod>& last) {
  std::optional<std::size_t> best;
  std::size_t most = 1;
  for (const SizedMethod& one : last) most = std::max(most, one.partitions.size());
  for (std::size_t m = 0; m < last.size(); ++m) {
    if (last[m].partitions.size() < most || (best && !(last[m].mean < last[*best].mean))) continue;
    best = m;
  }
  return best;
}

/// Over the partitions that have both sizes.
LastGain gain_of(const ReadPoint& before, const ReadPoint& last, const Overlap& overlap) {
  const std::optional<std::size_t> best = best_method(last.point.methods);
  if (!best) return {};
  const SizedMethod& one = before.point.methods[*best];
  const SizedMethod& other = last.point.methods[*best];
  std::vector<double> from, to, falls;
  PairedErrors pairs;
  for (std::size_t i = 0; i < one.partitions.size(); ++i) {
    const auto at = std::ranges::find(other.partitions, one.partitions[i]);
    if (at == other.partitions.end()) continue;
    const auto j = static_cast<std::size_t>(at - other.partitions.begin());
    from.push_back(one.errors[i]);
    to.push_back(other.errors[j]);
    falls.push_back(one.errors[i] - other.errors[j]);
    pairs.add(before.missed[*best][i], last.missed[*best][j]);
  }
  if (falls.empty()) return {};
  return {.method = other.name,
          .from = mean(from),
          .to = mean(to),
          .fall = falls.size() == 1
                      ? paired_interval(pairs)
                      : interval(corrected_mean(falls, overlap.ratio, 1 / overlap.test_size))};
}

std::string samples_text(double samples) { return format_short(samples, 5); }

std::string points(double share) { return fmt::format("{:.1f}", 100 * share); }

/// What the last step says, and no more than that.
std::string note_of(const LastGain& gain, const CurvePoint& before, const CurvePoint& last) {
  if (gain.method.empty()) {
    return "No method has finished the two largest numbers of training samples, so nothing can be "
           "said of more samples yet.";
  }
  const double fall = gain.from - gain.to;
  std::string text = fmt::format(
      "From {} to {} training samples the mean error of {} {} {} points, from {} to {} % (95 % "
      "interval of the fall: {} to {} points). ",
      samples_text(before.samples), samples_text(last.samples), gain.method,
      fall >= 0 ? "fell by" : "rose by", points(std::abs(fall)), points(gain.from), points(gain.to),
      points(gain.fall.low), points(gain.fall.high));
  if (gain.fall.low > 0) {
    return text + "The curve still falls: more samples would probably help.";
  }
  if (gain.fall.high < 0) {
    return text + "These data give no reason to expect that more samples help.";
  }
  return text +
         "This does not show that more samples would help, and does not rule it out: no change, 0 "
         "points, is within the interval.";
}

}  // namespace

LearningCurve learning_curve(const Store& store, std::int64_t experiment) {
  LearningCurve curve;
  std::vector<SizedPartitions> sizes = store.sizes(experiment);
  if (sizes.empty()) return curve;
  const ExperimentRecord record = store.experiment(experiment);
  const std::vector<std::int64_t> candidates = store.candidates(experiment);
  const Overlap overlap = detail::overlap_of(record.partitions);
  std::vector<ReadPoint> read;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    read.push_back(
        read_point(store, record, candidates, static_cast<int>(k) + 1, sizes[k], overlap));
  }
  std::stable_sort(read.begin(), read.end(), [](const ReadPoint& a, const ReadPoint& b) {
    return a.point.samples < b.point.samples;
  });
  read.push_back(read_point(store, record, candidates, 0,
                            {.size = "100%", .partitions = record.partitions}, overlap));
  const ReadPoint& before = read[read.size() - 2];
  curve.gain = gain_of(before, read.back(), overlap);
  curve.note = note_of(curve.gain, before.point, read.back().point);
  for (ReadPoint& one : read) curve.points.push_back(std::move(one.point));
  return curve;
}

Json sizes_json(const LearningCurve& curve) {
  if (curve.points.empty()) return {};
  const auto real = [](double value) { return std::isnan(value) ? Json() : Json(value); };
  Json sizes = Json::array();
  for (const CurvePoint& point : curve.points) {
    Json methods = Json::array();
    for (const SizedMethod& one : point.methods) {
      methods.push_back({{"method", one.name},
                         {"mean_error", real(one.mean)},
                         {"sd_error", real(one.sd)},
                         {"errors", one.errors},
                         {"low", real(one.interval.low)},
                         {"high", real(one.interval.high)}});
    }
    sizes.push_back(
        {{"size", point.size}, {"samples", point.samples}, {"methods", std::move(methods)}});
  }
  return {{"sizes", std::move(sizes)}, {"sizes_note", curve.note}};
}

}  // namespace kith
