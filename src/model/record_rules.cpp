// SPDX-License-Identifier: Apache-2.0
// What must hold between the fields of a record, whoever made it.
#include "model/record_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

bool is_ascending_below(std::span<const Index> positions, Index limit) {
  Index last = -1;
  for (const Index position : positions) {
    if (position <= last || position >= limit) return false;
    last = position;
  }
  return true;
}

std::string first_repeated(std::span<const std::string> texts) {
  std::set<std::string_view> seen;
  for (const std::string& text : texts) {
    if (!seen.insert(text).second) return in_quotes(text);
  }
  return {};
}

std::string broken_columns(const ModelRecord& record) {
  if (record.samples < 0 || record.given_samples < record.samples) {
    return fmt::format("{} training samples of {} given ones", record.samples,
                       record.given_samples);
  }
  const Index kept = static_cast<Index>(record.kept.size());
  if ((kept == 0 ? record.given_samples : kept) != record.samples ||
      !is_ascending_below(record.kept, record.given_samples)) {
    return "the kept samples are no ascending positions of all training samples";
  }
  if (!is_ascending_below(record.positions, record.samples)) {
    return fmt::format("column positions are not ascending below {}", record.samples);
  }
  if (!record.ids.empty() && record.ids.size() != record.positions.size()) {
    return fmt::format("{} ids for {} columns", record.ids.size(), record.positions.size());
  }
  if (record.classes.size() != record.positions.size()) {
    return fmt::format("{} classes for {} columns", record.classes.size(), record.positions.size());
  }
  for (const int c : record.classes) {
    if (c < 0 || c >= std::ssize(record.class_names)) {
      return fmt::format("class {} of a column; classes are counted from 0 below {}", c,
                         record.class_names.size());
    }
  }
  const std::string repeated = first_repeated(record.ids);
  return repeated.empty() ? "" : fmt::format("id {} twice", repeated);
}

std::string broken_training(const ModelRecord& record) {
  const std::vector<Index>& counts = record.class_counts;
  Index left = record.samples;
  bool adds_up = counts.size() == record.class_names.size();
  for (const Index count : counts) {
    adds_up = adds_up && count >= 0 && count <= left;
    if (adds_up) left -= count;
  }
  if (!counts.empty() && !(adds_up && left == 0)) {
    return fmt::format("the samples of its classes are not {} in {} classes", record.samples,
                       record.class_names.size());
  }
  const std::vector<Index>& hashes = record.id_hashes;
  if (!hashes.empty() &&
      (std::ssize(hashes) != record.samples || !std::ranges::is_sorted(hashes))) {
    return fmt::format("the hashes of its ids are not {} in ascending order", record.samples);
  }
  return {};
}

std::string broken_matrix(const ModelMatrix& matrix, Index columns) {
  const auto refusal = [&](const std::string& rule) {
    return fmt::format("matrix {}: {}", in_quotes(matrix.name), rule);
  };
  if (matrix.rule.samples != columns) {
    return fmt::format("the input rule of matrix {} is for {} columns, not for {}",
                       in_quotes(matrix.name), matrix.rule.samples, columns);
  }
  if (matrix.given && !(matrix.given->least_mean <= matrix.given->largest_mean)) {
    return refusal("the least mean of a row is above the largest");
  }
  if (!matrix.measure) return {};
  if (std::string rule = broken_rule(*matrix.measure); !rule.empty()) return refusal(rule);
  if (std::ssize(matrix.measure->columns) != columns) {
    return refusal(fmt::format("its measure is for {} columns, not for {}",
                               matrix.measure->columns.size(), columns));
  }
  if (measure_info(matrix.measure->settings.measure).values != matrix.rule.kind) {
    return refusal("its measure and its input rule differ in whether the values are distances");
  }
  return {};
}

/// New samples come in one file for all matrices or in one for each, and a model takes either
/// samples or rows.
std::string broken_files(const std::vector<ModelMatrix>& matrices) {
  Index position = 0;
  bool shared = true;
  bool own = true;
  for (const ModelMatrix& matrix : matrices) {
    if (matrix.measure.has_value() != matrices.front().measure.has_value()) {
      return "some of its matrices have a measure and some have none";
    }
    if (!matrix.measure) continue;
    shared = shared && matrix.measure->file == 0;
    own = own && matrix.measure->file == position++;
  }
  return shared || own ? "" : "its matrices share some files of samples and not others";
}

std::string broken_features(const ModelRecord& record) {
  if (record.features < 0) return fmt::format("{} features", record.features);
  const Index names = std::ssize(record.feature_names);
  if (names > 0 && names != record.features) {
    return fmt::format("{} names of {} features", names, record.features);
  }
  if (record.features == 0 || (record.matrices.empty() && record.positions.empty())) return {};
  return fmt::format("vectors of {} features, but also {} matrices of {} columns", record.features,
                     record.matrices.size(), record.positions.size());
}

std::string broken_decision(const DecisionRule& rule, Index classes) {
  const auto fits = [&](Index size) { return size == 0 || size == classes; };
  if (fits(rule.priors.size()) && fits(rule.training_shares.size()) && fits(rule.costs.rows()) &&
      rule.costs.cols() == rule.costs.rows()) {
    return {};
  }
  return fmt::format("priors or costs are not for {} classes", classes);
}

}  // namespace

std::string broken_rule(const ModelRecord& record) {
  if (record.method.empty()) return "the method has no name";
  if (!record.settings.is_object()) return "the settings are no JSON object";
  if (record.class_names.empty()) return "there are no classes";
  const std::string repeated = first_repeated(record.class_names);
  if (!repeated.empty()) return fmt::format("class {} twice", repeated);
  if (std::string rule = broken_columns(record); !rule.empty()) return rule;
  if (std::string rule = broken_training(record); !rule.empty()) return rule;
  const auto columns = static_cast<Index>(record.positions.size());
  for (const ModelMatrix& matrix : record.matrices) {
    if (std::string rule = broken_matrix(matrix, columns); !rule.empty()) return rule;
  }
  if (std::string rule = broken_files(record.matrices); !rule.empty()) return rule;
  if (std::string rule = broken_features(record); !rule.empty()) return rule;
  if (record.groups < 0 || record.groups > record.samples) {
    return fmt::format("{} groups of {} training samples", record.groups, record.samples);
  }
  if (record.blas_threads < 1) return fmt::format("{} BLAS threads", record.blas_threads);
  return broken_decision(record.decision, static_cast<Index>(record.class_names.size()));
}

}  // namespace kith::detail
