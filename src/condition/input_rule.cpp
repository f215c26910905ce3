// SPDX-License-Identifier: Apache-2.0
// What is known of a fitted rule without data: what it needs of new rows, its parts, its file form.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "condition/distance.hpp"
#include "condition/symmetrise.hpp"
#include "kith/condition/pipeline.hpp"
#include "kith/core/error.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

constexpr std::string_view kSimilarityWord = "similarity";
constexpr std::string_view kDistanceWord = "distance";

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kBadInput, "stored input rule: " + message);
}

Vector chosen(const Vector& values, std::span<const Index> columns) {
  if (values.size() == 0) return {};
  Vector part(static_cast<Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) part[static_cast<Index>(k)] = values[columns[k]];
  return part;
}

/// Each array of a rule under its name, so that writing and reading visit the same list.
template <class Rule, class Visitor>
void visit_vectors(Rule& rule, const Visitor& visit) {
  visit("input.row_mean", rule.row_mean);
  visit("input.column_mean", rule.column_mean);
  visit("input.root_diagonal", rule.root_diagonal);
}
constexpr std::string_view kRowsName = "input.rows";

template <class Rule, class Visitor>
void visit_numbers(Rule& rule, const Visitor& visit) {
  visit("fill", rule.fill);
  visit("largest-distance", rule.largest_distance);
  visit("gamma", rule.gamma);
  visit("grand-mean", rule.grand_mean);
  visit("low", rule.low);
  visit("span", rule.span);
  visit("spread", rule.spread);
}

const Json& member(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) refuse(fmt::format("{} is absent", in_quotes(key)));
  return json.at(key);
}

Index count_member(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_number_integer() || value.get<Index>() < 0) {
    refuse(fmt::format("{} is no count", in_quotes(key)));
  }
  return value.get<Index>();
}

bool switch_member(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_boolean()) refuse(fmt::format("{} is neither true nor false", in_quotes(key)));
  return value.get<bool>();
}

std::vector<Index> kept_member(const Json& json, const InputRule& rule) {
  std::vector<Index> kept;
  if (!json.contains("kept")) return kept;
  if (!json.at("kept").is_array()) refuse("\"kept\" is no list");
  for (const Json& value : json.at("kept")) {
    const bool is_next = value.is_number_integer() && value.get<Index>() < rule.given_samples &&
                         value.get<Index>() > (kept.empty() ? -1 : kept.back());
    if (!is_next) refuse("\"kept\" is no ascending list of positions");
    kept.push_back(value.get<Index>());
  }
  return kept;
}

const NamedTensor* find(std::span<const NamedTensor> tensors, std::string_view name) {
  for (const NamedTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

/// The vectors a rule of these settings must have.
bool uses(const InputRule& rule, std::string_view name) {
  if (name == "input.row_mean" || name == "input.column_mean") {
    return detail::is_double_centred(rule);
  }
  if (name == "input.root_diagonal") return rule.settings.scale == ScaleRule::kCosine;
  return rule.settings.transform == InputTransform::kRowsRbf;
}

const DenseBlock& tensor_of(const InputRule& rule, std::span<const NamedTensor> tensors,
                            std::string_view name, Index rows) {
  const NamedTensor* tensor = find(tensors, name);
  if (tensor == nullptr) refuse(fmt::format("array {} is absent", name));
  if (tensor->values.rows() != rows || tensor->values.cols() != rule.samples) {
    refuse(fmt::format("array {} is {} x {}; it must be {} x {}", name, tensor->values.rows(),
                       tensor->values.cols(), rows, rule.samples));
  }
  if (!tensor->values.values().allFinite()) {
    refuse(fmt::format("array {} has numbers that are not finite", name));
  }
  return tensor->values;
}

}  // namespace

std::string query_note(const InputRule& rule, bool has_from, bool takes_both) {
  const bool was_combined = detail::combines(rule.settings.symmetrise);
  if (has_from || !rule.was_asymmetric || !(was_combined || takes_both)) return {};
  return fmt::format(
      "the training {} were {}; new rows have one direction only ([[{}]] gives the other) and are "
      "used as they are",
      rule.kind == PairKind::kDistance ? "distances" : "similarities",
      was_combined ? fmt::format("made symmetric ({})", enum_name(rule.settings.symmetrise))
                   : "not symmetric, and the method took the mean of both directions",
      rule.kind == PairKind::kDistance ? "distance-from" : "similarity-from");
}

bool needs_self(const InputRule& rule) {
  return rule.settings.scale == ScaleRule::kCosine && rule.kind == PairKind::kSimilarity &&
         rule.settings.diagonal == DiagonalRule::kGiven;
}

std::optional<InputRule> restricted(const InputRule& rule, std::span<const Index> columns) {
  if (detail::is_double_centred(rule) || rule.settings.transform == InputTransform::kRowsRbf ||
      rule.settings.diagonal == DiagonalRule::kMaxRow) {
    return std::nullopt;
  }
  InputRule part = rule;
  part.samples = static_cast<Index>(columns.size());
  part.given_samples = part.samples;
  part.kept.clear();
  part.root_diagonal = chosen(rule.root_diagonal, columns);
  return part;
}

Json rule_json(const InputRule& rule) {
  Json json = Json::object();
  json["kind"] = rule.kind == PairKind::kDistance ? kDistanceWord : kSimilarityWord;
  json["settings"] = settings_json(rule.settings);
  json["samples"] = rule.samples;
  json["given-samples"] = rule.given_samples;
  if (!rule.kept.empty()) json["kept"] = rule.kept;
  json["keeps-missing"] = rule.keeps_missing;
  json["was-asymmetric"] = rule.was_asymmetric;
  visit_numbers(rule, [&](const char* name, double value) { json[name] = value; });
  return json;
}

std::vector<NamedTensor> rule_tensors(const InputRule& rule) {
  std::vector<NamedTensor> tensors;
  visit_vectors(rule, [&](const char* name, const Vector& values) {
    if (uses(rule, name)) tensors.push_back({name, DenseBlock(RowMatrix(values.transpose()))});
  });
  if (uses(rule, kRowsName)) tensors.push_back({std::string(kRowsName), rule.rows});
  return tensors;
}

InputRule restore_rule(const Json& json, std::span<const NamedTensor> tensors) {
  InputRule rule;
  const Json& kind = member(json, "kind");
  if (kind == kDistanceWord) {
    rule.kind = PairKind::kDistance;
  } else if (kind != kSimilarityWord) {
    refuse("\"kind\" is neither similarity nor distance");
  }
  settings_from_json(rule.settings, "stored input rule", member(json, "settings"));
  validate(rule.settings, "stored input rule");
  if (rule.settings.from_distance == FromDistance::kAuto) {
    refuse("\"from-distance\" is auto, which a fitted rule has settled");
  }
  rule.samples = count_member(json, "samples");
  rule.given_samples = count_member(json, "given-samples");
  rule.kept = kept_member(json, rule);
  const Index expected =
      rule.kept.empty() ? rule.given_samples : static_cast<Index>(rule.kept.size());
  if (rule.samples != expected) {
    refuse(fmt::format("{} samples, but {} are kept", rule.samples, expected));
  }
  rule.keeps_missing = switch_member(json, "keeps-missing");
  rule.was_asymmetric = switch_member(json, "was-asymmetric");
  visit_numbers(rule, [&](const char* name, double& value) {
    const Json& stored = member(json, name);
    if (!stored.is_number()) refuse(fmt::format("{} is no number", in_quotes(name)));
    value = stored.get<double>();
  });
  if (!(rule.span > 0)) refuse("\"span\" must be above 0");
  if (!(rule.spread > 0)) refuse("\"spread\" must be above 0");
  if (!(rule.gamma > 0)) refuse("\"gamma\" must be above 0");
  visit_vectors(rule, [&](const char* name, Vector& values) {
    if (uses(rule, name)) values = tensor_of(rule, tensors, name, 1).values().row(0).transpose();
  });
  if (uses(rule, kRowsName)) rule.rows = tensor_of(rule, tensors, kRowsName, rule.samples);
  return rule;
}

}  // namespace kith
