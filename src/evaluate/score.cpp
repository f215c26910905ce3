// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/evaluate/metrics.hpp"

namespace kith {
namespace {

constexpr int kNoClass = -1;  // a true class that the model does not have
constexpr double kUnknownCost = 1;

std::optional<double> share(Index part, Index whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::optional<Interval> interval(Index part, Index whole) {
  if (whole == 0) return std::nullopt;
  return wilson_interval(part, whole);
}

std::string names_of(std::span<const ClassScore* const> classes) {
  std::vector<std::string> names;
  for (const ClassScore* one : classes) names.push_back(in_quotes(one->name));
  return list_some(names);
}

}  // namespace

std::optional<double> ClassScore::recall() const { return share(right, samples); }
std::optional<Interval> ClassScore::recall_interval() const { return interval(right, samples); }
std::optional<double> ClassScore::precision() const { return share(right, predicted); }
std::optional<Interval> ClassScore::precision_interval() const {
  return interval(right, predicted);
}

Scorer::Scorer(const ModelRecord& record)
    : record_(&record), counts_(Matrix::Zero(class_count(), class_count())) {
  for (const std::string& name : record.class_names) {
    number_of_.emplace(name, static_cast<int>(number_of_.size()));
  }
}

void Scorer::add(std::span<const std::string_view> truth, const Prediction& prediction,
                 std::span<const std::string> ids) {
  if (truth.size() != prediction.labels.size()) {
    throw invalid("{} true classes for {} predictions", truth.size(), prediction.labels.size());
  }
  for (const std::string& id : ids) {
    if (has_training_sample(*record_, id)) trained_on_.push_back(in_quotes(id));
  }
  const Matrix& costs = record_->decision.costs;
  std::vector<int> classes;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto found = number_of_.find(truth[i]);
    const int predicted = prediction.labels[i];
    classes.push_back(found == number_of_.end() ? kNoClass : found->second);
    if (classes.back() != kNoClass) {
      counts_(classes.back(), predicted) += 1;
      if (costs.size() > 0) cost_ += costs(classes.back(), predicted);
      continue;
    }
    Unknown& unknown = unknown_[std::string(truth[i])];
    unknown.predicted.resize(record_->class_names.size());
    ++unknown.samples;
    ++unknown.predicted[static_cast<std::size_t>(predicted)];
    cost_ += kUnknownCost;
  }
  samples_ += std::ssize(classes);
  add_probabilities(classes, prediction.probabilities);
  add_leads(classes, prediction);
}

void Scorer::add_probabilities(std::span<const int> truth, const Matrix& probabilities) {
  if (probabilities.size() == 0) return;
  has_probabilities_ = true;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double p =
        truth[i] == kNoClass ? 0 : probabilities(static_cast<Index>(i), Index{truth[i]});
    loss_ += log_loss_of(p);
  }
  calibration_.add(truth, probabilities);
}

void Scorer::add_leads(std::span<const int> truth, const Prediction& prediction) {
  const Matrix& values =
      prediction.scores.size() > 0 ? prediction.scores : prediction.probabilities;
  if (class_count() != 2 || values.cols() != 2) return;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == kNoClass) continue;
    const auto row = static_cast<Index>(i);
    leads_[static_cast<std::size_t>(truth[i])].push_back(values(row, 0) - values(row, 1));
  }
}

Matrix Scorer::whole_confusion() const {
  const Index known = class_count();
  const Index all = known + std::ssize(unknown_);
  Matrix whole = Matrix::Zero(all, all);
  whole.topLeftCorner(known, known) = counts_;
  Index row = known;
  for (const auto& [name, unknown] : unknown_) {
    for (Index c = 0; c < known; ++c) {
      whole(row, c) = static_cast<double>(unknown.predicted[static_cast<std::size_t>(c)]);
    }
    ++row;
  }
  return whole;
}

std::vector<ClassScore> Scorer::class_scores(const Matrix& confusion) const {
  std::vector<ClassScore> classes;
  const auto add = [&](const std::string& name, bool known) {
    const Index c = std::ssize(classes);
    classes.push_back({.name = name,
                       .samples = std::lround(confusion.row(c).sum()),
                       .predicted = std::lround(confusion.col(c).sum()),
                       .right = std::lround(confusion(c, c)),
                       .known = known});
  };
  for (const std::string& name : record_->class_names) add(name, true);
  for (const auto& [name, unknown] : unknown_) add(name, false);
  return classes;
}

std::optional<Baseline> Scorer::baseline() const {
  const std::vector<Index>& counts = record_->class_counts;
  if (counts.empty()) return std::nullopt;
  const auto most = std::ranges::max_element(counts) - counts.begin();
  const double right = counts_.row(most).sum();
  return Baseline{.class_name = record_->class_names[static_cast<std::size_t>(most)],
                  .error = (static_cast<double>(samples_) - right) / static_cast<double>(samples_)};
}

std::vector<std::string> Scorer::notes(std::span<const ClassScore> classes) const {
  std::vector<const ClassScore*> strange;
  std::vector<const ClassScore*> absent;
  Index lost = 0;
  for (const ClassScore& one : classes) {
    if (!one.known) strange.push_back(&one);
    if (!one.known) lost += one.samples;
    if (one.known && one.samples == 0) absent.push_back(&one);
  }
  std::vector<std::string> notes;
  if (!strange.empty()) {
    notes.push_back(
        fmt::format("the model was trained without {}: {}. {} {} wrong whatever it predicts",
                    strange.size() == 1 ? "this class" : "these classes", names_of(strange),
                    lost == 1 ? "The sample" : fmt::format("The {} samples", lost),
                    lost == 1 ? "counts as" : "count as"));
  }
  if (!absent.empty()) {
    notes.push_back(fmt::format("{} of the model without a labelled sample, so without recall: {}",
                                counted(std::ssize(absent), "class"), names_of(absent)));
  }
  if (!trained_on_.empty()) {
    notes.push_back(fmt::format(
        "{} of {} samples have the id of a training sample: {}. What a model was trained on says "
        "little about how it does on new samples",
        trained_on_.size(), samples_, list_some(trained_on_)));
  }
  return notes;
}

Score Scorer::finish() const {
  if (samples_ == 0) throw invalid("there is no sample to score the model on");
  Score score;
  score.samples = samples_;
  score.confusion = whole_confusion();
  score.classes = class_scores(score.confusion);
  score.wrong = samples_ - std::lround(score.confusion.trace());
  score.error = error_share(score.confusion);
  score.interval = wilson_interval(score.wrong, samples_);
  score.balanced_error = balanced_error_share(score.confusion);
  score.baseline = baseline();
  if (has_probabilities_) score.log_loss = loss_ / static_cast<double>(samples_);
  score.calibration = calibration_.bins();
  if (!leads_[0].empty() && !leads_[1].empty()) score.auc = separation(leads_[0], leads_[1]);
  if (record_->decision.costs.size() > 0) score.mean_cost = cost_ / static_cast<double>(samples_);
  score.notes = notes(score.classes);
  return score;
}

namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json();
}

Json classes_json(const Score& score) {
  Json list = Json::array();
  for (const ClassScore& one : score.classes) {
    list.push_back({{"class", one.name},
                    {"samples", one.samples},
                    {"predicted", one.predicted},
                    {"right", one.right},
                    {"recall", or_null(one.recall())},
                    {"recall_interval", interval_json(one.recall_interval())},
                    {"precision", or_null(one.precision())},
                    {"precision_interval", interval_json(one.precision_interval())},
                    {"known", one.known}});
  }
  return list;
}

Json confusion_json(const Score& score) {
  Json names = Json::array();
  Json counts = Json::array();
  for (const ClassScore& one : score.classes) names.push_back(one.name);
  for (Index t = 0; t < score.confusion.rows(); ++t) {
    Json row = Json::array();
    for (Index p = 0; p < score.confusion.cols(); ++p) {
      row.push_back(std::lround(score.confusion(t, p)));
    }
    counts.push_back(std::move(row));
  }
  return {{"classes", std::move(names)}, {"counts", std::move(counts)}};
}

Json calibration_json(const Score& score) {
  if (score.calibration.empty()) return {};
  Json bins = Json::array();
  const auto count = static_cast<double>(kCalibrationBins);
  for (const CalibrationBin& bin : score.calibration) {
    const auto place = static_cast<double>(bins.size());
    bins.push_back({{"from", place / count},
                    {"to", (place + 1) / count},
                    {"samples", bin.count},
                    {"probability", bin.count > 0 ? Json(bin.said) : Json()},
                    {"right", bin.count > 0 ? Json(bin.right) : Json()}});
  }
  return {{"error", calibration_error(score.calibration)}, {"bins", std::move(bins)}};
}

}  // namespace

Json score_json(const Score& score) {
  Json json = {{"n", score.samples},
               {"wrong", score.wrong},
               {"error", score.error},
               {"interval", interval_json(score.interval)},
               {"balanced_error", score.balanced_error}};
  json["baseline"] = score.baseline ? Json(score.baseline->error) : Json();
  json["baseline_class"] = score.baseline ? Json(score.baseline->class_name) : Json();
  json["log_loss"] = or_null(score.log_loss);
  json["auc"] = or_null(score.auc);
  json["mean_cost"] = or_null(score.mean_cost);
  json["calibration"] = calibration_json(score);
  json["classes"] = classes_json(score);
  json["confusion"] = confusion_json(score);
  json["notes"] = score.notes;
  return json;
}

}  // namespace kith
