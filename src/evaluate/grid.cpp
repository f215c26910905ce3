// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

bool is_fixed(const MethodChoice& choice, std::string_view key) {
  return std::find(choice.fixed.begin(), choice.fixed.end(), key) != choice.fixed.end();
}

bool has_setting(const Candidate& candidate, std::string_view key) {
  const MethodInfo info = method_info(candidate.choice.settings);
  if (key == "priors" || key == "costs") return info.probabilities;
  return std::any_of(info.fields.begin(), info.fields.end(),
                     [&](const FieldInfo& field) { return field.name == key; });
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
      all ? fmt::format("{}: no method compared has a setting {}", wish.said, in_quotes(wish.key))
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

Candidate parse_candidate(std::string_view text) {
  const std::size_t at = text.find('=');
  const std::string_view method = at == std::string_view::npos ? text : text.substr(at + 1);
  const std::string_view name = at == std::string_view::npos ? text : text.substr(0, at);
  if (name.empty()) throw invalid("the method {} has no name before its '='", in_quotes(text));
  Candidate candidate{.name = std::string(name), .choice = parse_method(method), .axes = {}};
  switch_evidence(candidate.choice, false);
  candidate.axes = axes_of(candidate.choice, {});
  return candidate;
}

std::vector<Candidate> parse_candidates(std::string_view list) {
  std::vector<Candidate> candidates;
  for (const std::string_view text : split(list, ',')) {
    if (trim(text).empty()) {
      throw invalid("the methods {} have an empty name among them", in_quotes(list));
    }
    Candidate candidate = parse_candidate(trim(text));
    for (const Candidate& other : candidates) {
      if (other.name != candidate.name) continue;
      throw invalid("{} stands twice among the methods; give one another name: mine={}",
                    in_quotes(other.name), candidate.choice.name);
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

void fix(Candidate& candidate, std::string_view key, std::string_view text) {
  set(candidate.choice, key, text);
  const std::optional<FieldInfo> probability =
      field_with(candidate.choice.settings, FieldRole::kProbability);
  if ((key == "priors" || key == "costs") && probability) {
    set(candidate.choice, probability->name, "yes");
  }
  candidate.axes = axes_of(candidate.choice, candidate.axes);
}

void search(Candidate& candidate, std::string_view key, std::span<const std::string> values) {
  if (values.empty()) throw invalid("{}: no values of {} to search", candidate.name, key);
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

std::string neighbours_note(std::span<const Candidate> candidates) {
  std::vector<std::string> names;
  for (const Candidate& one : candidates) {
    if (takes_neighbours(one.choice.settings)) names.push_back(one.name);
  }
  if (names.empty()) return {};
  return fmt::format(
      "{}: neighbours are the most similar samples, and double centring, the default for "
      "distances, does not keep their order; [[from-distance=negative]] does",
      list_some(names, 60));
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

std::size_t best_point(const GridPoints& grid, std::span<const double> losses) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < losses.size(); ++i) {
    if (losses[i] < losses[best] ||
        (losses[i] == losses[best] && grid.places[i] < grid.places[best])) {
      best = i;
    }
  }
  return best;
}

CandidateRecord candidate_record(const Candidate& candidate) {
  CandidateRecord record{.name = candidate.name,
                         .method = candidate.choice.method,
                         .settings = settings_json(candidate.choice.settings),
                         .grid = Json::array()};
  for (const GridAxis& axis : candidate.axes) {
    record.settings.erase(axis.field);
    record.grid.push_back({{"field", axis.field},
                           {"values", axis.values},
                           {"simpler", axis.simpler == Simpler::kSmaller ? "smaller" : "larger"}});
    if (axis.at_most_samples) record.grid.back()["at_most_samples"] = true;
  }
  const DecisionSettings& decision = candidate.choice.decision;
  if (!decision.priors.empty()) record.settings["priors"] = decision.priors;
  if (!decision.costs.empty()) record.settings["costs"] = decision.costs;
  return record;
}

}  // namespace kith
