// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/core/unknown_setting.hpp"
#include "kith/evaluate/experiment.hpp"

namespace kith {
namespace {

bool is_fixed(const MethodChoice& choice, std::string_view key) {
  return std::find(choice.fixed.begin(), choice.fixed.end(), key) != choice.fixed.end();
}

bool has_own_setting(const Candidate& candidate, std::string_view key) {
  if (candidate.is_committee()) {
    return std::any_of(candidate.members.begin(), candidate.members.end(),
                       [&](const Candidate& one) { return has_own_setting(one, key); });
  }
  const MethodInfo info = method_info(candidate.choice.settings);
  if (is_of_decision(key)) return info.probabilities;
  return std::any_of(info.fields.begin(), info.fields.end(),
                     [&](const FieldInfo& field) { return field.name == key; });
}

bool has_setting(const Candidate& candidate, std::string_view key) {
  return has_own_setting(candidate, key) ||
         (is_input_field(key) &&
          !(!candidate.is_committee() && learns_from_vectors(candidate.choice.settings)));
}

/// The names of all settings of these methods, each once.
std::vector<std::string> settings_among(std::span<const Candidate> candidates) {
  std::set<std::string> names;
  for (const Candidate& candidate : candidates) {
    for (const Candidate& part : parts_of(candidate)) {
      for (const FieldInfo& field : method_info(part.choice.settings).fields) {
        names.insert(field.name);
      }
    }
  }
  return {names.begin(), names.end()};
}

/// Those that the wish is about.
std::vector<Candidate*> meant_by(const SettingWish& wish, std::vector<Candidate>& candidates) {
  const bool all = wish.candidate == "*";
  std::vector<Candidate*> meant;
  std::vector<std::string> names;
  for (Candidate& one : candidates) {
    names.push_back(one.name);
    if (all ? has_setting(one, wish.key) : wish.candidate == one.name) meant.push_back(&one);
  }
  if (!meant.empty()) return meant;
  throw Error(
      ErrorCode::kInvalidArgument,
      all ? fmt::format("{}: no method compared has a setting {}{}", wish.said, in_quotes(wish.key),
                        setting_hint(wish.key, settings_among(candidates)))
          : fmt::format("{}: {} is not among the methods compared: {}", wish.said,
                        in_quotes(wish.candidate), list_some(names, 60)));
}

bool counts_samples(const MethodChoice& choice, std::string_view field) {
  return role_of(choice.settings, field) == FieldRole::kNeighbours;
}

/// The method's own axes for the settings as they are now, the given ones in place of them.
std::vector<GridAxis> axes_of(const MethodChoice& choice, const std::vector<GridAxis>& given) {
  std::vector<GridAxis> axes;
  for (const GridAxis& axis : method_info(choice.settings).grid) {
    if (is_fixed(choice, axis.field)) continue;
    const auto own = std::find_if(given.begin(), given.end(),
                                  [&](const GridAxis& other) { return other.field == axis.field; });
    axes.push_back(own == given.end() ? axis : *own);
    axes.back().at_most_samples = counts_samples(choice, axis.field);
  }
  return axes;
}

}  // namespace

std::vector<std::string> capped_values(const GridAxis& axis, Index samples) {
  if (!axis.at_most_samples) return axis.values;
  std::vector<std::string> values;
  for (const std::string& text : axis.values) {
    const std::optional<long long> count = parse_integer(text);
    const std::string value =
        count && *count > samples ? std::to_string(std::max<Index>(samples, 1)) : text;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

Candidate parse_candidate(std::string_view text, std::size_t matrices) {
  const std::size_t at = text.find('=');
  if (text.substr(at == std::string_view::npos ? 0 : at + 1) == kAutoName) {
    const std::string_view called = at == std::string_view::npos ? kAutoName : text.substr(0, at);
    if (called.empty()) throw invalid("the method {} has no name before its '='", in_quotes(text));
    return committee_of(
        std::string(called),
        parse_candidates(std::string(kAutoMembers) +
                         (matrices > 1 ? "," + std::string(kAutoSeveralMembers) : "")));
  }
  const std::string_view method = at == std::string_view::npos ? text : text.substr(at + 1);
  const std::string_view name = at == std::string_view::npos ? text : text.substr(0, at);
  if (name.empty()) throw invalid("the method {} has no name before its '='", in_quotes(text));
  Candidate candidate{.name = std::string(name), .choice = parse_method(method), .axes = {}};
  switch_evidence(candidate.choice, false);
  candidate.axes = axes_of(candidate.choice, {});
  return candidate;
}

std::vector<Candidate> parse_candidates(std::string_view list, std::size_t matrices) {
  std::vector<Candidate> candidates;
  for (const std::string_view text : split(list, ',')) {
    if (trim(text).empty()) {
      throw invalid("the methods {} have an empty name among them", in_quotes(list));
    }
    Candidate candidate = parse_candidate(trim(text), matrices);
    for (const Candidate& other : candidates) {
      if (other.name != candidate.name) continue;
      throw invalid("{} stands twice among the methods; give one another name: mine={}",
                    in_quotes(other.name), candidate.choice.name);
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

namespace {

/// Lists a field of the input, which every method has.
void set_input_axis(Candidate& candidate, std::string_view key,
                    std::span<const std::string> values) {
  std::erase_if(candidate.input_axes, [&](const GridAxis& axis) { return axis.field == key; });
  candidate.input_axes.push_back(
      {.field = std::string(key), .values = {values.begin(), values.end()}});
}

/// Calls act(member) for the members that have the setting. Throws Error where none has.
template <class Act>
void for_members(Candidate& committee, std::string_view key, const Act& act) {
  if (!has_own_setting(committee, key)) {
    refuse_setting(committee.name, key, settings_among(std::span(&committee, 1)));
  }
  for (Candidate& member : committee.members) {
    if (has_own_setting(member, key)) act(member);
  }
}

}  // namespace

void fix(Candidate& candidate, std::string_view key, std::string_view text) {
  if (!has_own_setting(candidate, key) && is_input_field(key)) {
    const std::string value(text);
    return set_input_axis(candidate, key, std::span(&value, 1));
  }
  if (candidate.is_committee()) {
    if (is_of_decision(key)) set(candidate.choice, key, text);
    for_members(candidate, key, [&](Candidate& member) { fix(member, key, text); });
    std::erase_if(candidate.members, [&](const Candidate& member) {
      return !can_sit(member, candidate.choice.decision);
    });
    return;
  }
  set(candidate.choice, key, text);
  const std::optional<FieldInfo> probability =
      field_with(candidate.choice.settings, FieldRole::kProbability);
  if (is_of_decision(key) && probability) set(candidate.choice, probability->name, "yes");
  candidate.axes = axes_of(candidate.choice, candidate.axes);
}

void search(Candidate& candidate, std::string_view key, std::span<const std::string> values) {
  if (values.empty()) throw invalid("{}: no values of {} to search", candidate.name, key);
  if (!has_own_setting(candidate, key) && is_input_field(key)) {
    return set_input_axis(candidate, key, values);
  }
  if (candidate.is_committee()) {
    return for_members(candidate, key, [&](Candidate& member) { search(member, key, values); });
  }
  for (const std::string& value : values) {
    MethodChoice trial = candidate.choice;
    set(trial, key, value);  // throws on a value the setting refuses
  }
  const std::vector<GridAxis> known = method_info(candidate.choice.settings).grid;
  const auto own = std::find_if(known.begin(), known.end(),
                                [&](const GridAxis& axis) { return axis.field == key; });
  std::erase(candidate.choice.fixed, key);
  GridAxis axis{.field = std::string(key),
                .values = {values.begin(), values.end()},
                .simpler = own == known.end() ? Simpler::kSmaller : own->simpler,
                .at_most_samples = counts_samples(candidate.choice, key)};
  const auto present = std::find_if(candidate.axes.begin(), candidate.axes.end(),
                                    [&](const GridAxis& other) { return other.field == key; });
  if (present == candidate.axes.end()) {
    candidate.axes.push_back(std::move(axis));
  } else {
    *present = std::move(axis);
  }
}

void grant(std::span<const SettingWish> fixed, std::span<const SettingWish> searched,
           std::vector<Candidate>& candidates) {
  // Not what a candidate has fixed: a protocol and an estimator leave settings open to wishes.
  std::set<std::pair<std::string, std::string>> given;
  for (const Candidate& one : candidates) {
    if (one.is_committee()) continue;
    for (const std::string& key : parse_method(one.choice.name).fixed) given.emplace(one.name, key);
  }
  const auto take = [&](const SettingWish& wish, const Candidate& candidate) {
    if (given.emplace(candidate.name, wish.key).second) return;
    throw invalid(
        "{}: {} of {} is fixed or searched already, by the name of the method "
        "or as asked before; give it once",
        wish.said, wish.key, candidate.name);
  };
  for (const SettingWish& wish : fixed) {
    for (Candidate* one : meant_by(wish, candidates)) {
      take(wish, *one);
      fix(*one, wish.key, wish.values.front());
    }
  }
  for (const SettingWish& wish : searched) {
    for (Candidate* one : meant_by(wish, candidates)) {
      take(wish, *one);
      search(*one, wish.key, wish.values);
    }
  }
}

void check_members(std::span<const Candidate> members) {
  for (const Candidate& one : members) {
    if (!one.is_committee()) continue;
    throw invalid("[[among]] lists what {} is made of, and {} cannot be made of itself", kAutoName,
                  kAutoName);
  }
}

void set_members(std::span<const Candidate> members, std::vector<Candidate>& candidates) {
  check_members(members);
  bool any = false;
  for (Candidate& one : candidates) {
    if (!one.is_committee()) continue;
    one.members.assign(members.begin(), members.end());
    any = true;
  }
  if (any) return;
  throw invalid("[[among]] lists what {} is made of, and {} is not among the methods compared",
                kAutoName, kAutoName);
}

DecisionSettings decision_of(std::span<const Candidate> methods) {
  for (const Candidate& method : methods) {
    const DecisionSettings& own = method.choice.decision;
    if (!own.priors.empty() || !own.costs.empty()) return own;
  }
  return {};
}

bool can_sit(const Candidate& method, const DecisionSettings& decision) {
  const bool by_probabilities = !decision.priors.empty() || !decision.costs.empty();
  return !by_probabilities || method_info(method.choice.settings).probabilities;
}

Candidate committee_of(std::string name, std::vector<Candidate> members) {
  Candidate committee{.name = std::move(name), .choice = {}, .axes = {}};
  committee.choice.name = kAutoName;
  committee.choice.method = kAutoName;
  committee.members = std::move(members);
  return committee;
}

std::span<const Candidate> parts_of(const Candidate& candidate) {
  if (candidate.is_committee()) return candidate.members;
  return std::span(&candidate, 1);
}

GridPoints grid_points(const Candidate& candidate, Index samples) {
  GridPoints grid;
  std::vector<MethodChoice> choices = {candidate.choice};
  grid.places = {{}};
  for (const GridAxis& axis : candidate.axes) {
    const std::vector<std::string> values = capped_values(axis, samples);
    std::vector<MethodChoice> finer;
    std::vector<std::vector<int>> places;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      for (std::size_t v = 0; v < values.size(); ++v) {
        finer.push_back(choices[i]);
        set(finer.back(), axis.field, values[v]);
        places.push_back(grid.places[i]);
        const std::size_t place = axis.simpler == Simpler::kSmaller ? v : values.size() - 1 - v;
        places.back().push_back(static_cast<int>(place));
      }
    }
    choices = std::move(finer);
    grid.places = std::move(places);
  }
  for (MethodChoice& choice : choices) grid.settings.push_back(std::move(choice.settings));
  return grid;
}

GridPlace best_place(const GridPoints& grid, std::span<const double> losses) {
  const std::size_t points = grid.settings.size();
  std::size_t best = 0;
  for (std::size_t i = 1; i < losses.size(); ++i) {
    const bool same_input = i / points == best / points;
    if (losses[i] < losses[best] || (losses[i] == losses[best] && same_input &&
                                     grid.places[i % points] < grid.places[best % points])) {
      best = i;
    }
  }
  return {best / points, best % points};
}

namespace {

/// The searched fields of the input, each with the values that some variant has.
void add_input_axes(const Candidate& candidate, const ExperimentData& data, Json& grid) {
  std::vector<std::pair<std::string, Json>> axes;
  for (const InputVariant& variant : candidate.inputs) {
    const Json fields = variant_json(variant, data);
    for (const auto& [field, value] : fields.items()) {
      auto axis = std::find_if(axes.begin(), axes.end(),
                               [&, &f = field](const auto& one) { return one.first == f; });
      if (axis == axes.end()) axis = axes.insert(axes.end(), {field, Json::array()});
      Json& values = axis->second;
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
  }
  for (auto& [field, values] : axes) {
    grid.push_back({{"field", field}, {"values", std::move(values)}, {"simpler", "smaller"}});
  }
}

}  // namespace

CandidateRecord candidate_record(const Candidate& candidate, const ExperimentData& data) {
  CandidateRecord record{.name = candidate.name, .method = candidate.choice.method};
  if (candidate.is_committee()) {
    for (const Candidate& member : candidate.members) {
      const CandidateRecord one = candidate_record(member, data);
      record.settings["members"].push_back({{"name", one.name},
                                            {"method", one.method},
                                            {"settings", one.settings},
                                            {"grid", one.grid}});
    }
  } else {
    record.settings = settings_json(candidate.choice.settings);
    add_input_axes(candidate, data, record.grid);
  }
  for (const GridAxis& axis : candidate.axes) {
    record.settings.erase(axis.field);
    record.grid.push_back({{"field", axis.field},
                           {"values", axis.values},
                           {"simpler", axis.simpler == Simpler::kSmaller ? "smaller" : "larger"}});
    if (axis.at_most_samples) record.grid.back()["at_most_samples"] = true;
  }
  add_decision(candidate.choice.decision, record.settings);
  return record;
}

}  // namespace kith
