// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/grid_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "evaluate/unit.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

/// Places along an axis of numbers in ascending order; none where there is nothing beyond its ends.
std::vector<std::size_t> ascending(const std::vector<std::string>& values) {
  std::vector<double> numbers;
  std::vector<std::size_t> order;
  for (const std::string& text : values) {
    const std::optional<double> number = parse_double(text);
    if (!number) return {};
    order.push_back(numbers.size());
    numbers.push_back(*number);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  return order;
}

/// Whether a setting takes a value below this one: one neighbour is the fewest.
bool goes_below(MethodChoice choice, const std::string& field, const std::string& value) {
  const std::vector<FieldInfo> known = method_info(choice.settings).fields;
  const auto own = std::ranges::find(known, field, &FieldInfo::name);
  const double number = *parse_double(value);
  const bool counts = own != known.end() && own->type == "count";
  const double less = counts ? number - 1 : number > 0 ? number / 2 : 2 * number - 1;
  try {
    set(choice, field, format_double(less));
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// The place beside `chosen` where that is an end of its axis which values could be added to.
std::optional<std::size_t> inside_of(const MethodChoice& choice, const GridAxis& axis,
                                     const std::vector<std::string>& values, std::size_t chosen,
                                     Index samples) {
  const std::vector<std::size_t> order = ascending(values);
  if (order.size() < 2) return std::nullopt;
  if (chosen == order.front()) {
    return goes_below(choice, axis.field, values[chosen]) ? std::optional(order[1]) : std::nullopt;
  }
  if (chosen != order.back()) return std::nullopt;
  if (axis.at_most_samples && *parse_double(values[chosen]) >= static_cast<double>(samples)) {
    return std::nullopt;
  }
  return order[order.size() - 2];
}

/// Whether all values of an axis have the same loss at every point of the others.
bool is_flat(std::span<const double> losses, std::size_t step, std::size_t size) {
  if (size < 2) return false;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (i / step % size > 0 && losses[i] != losses[i - step]) return false;
  }
  return true;
}

std::string end_note(const std::string& method, const std::string& field, const std::string& value,
                     const std::string& where) {
  return fmt::format(
      "{}: {} was chosen at the end of its grid ({}){}; [[grid]] lists values beyond it", method,
      field, value, where);
}

std::string flat_note(const std::string& method, const std::string& field,
                      std::span<const InputVariant> inputs, const std::vector<std::size_t>& flat,
                      const ExperimentData& data, const std::string& where) {
  std::string with;
  for (std::size_t k = 0; k < flat.size() && flat.size() < inputs.size(); ++k) {
    with += (k == 0 ? " with " : " and with ") + variant_text(inputs[flat[k]], data);
  }
  return fmt::format(
      "{}: all values of {} on its grid give the same error{}{}; [[grid]] lists others", method,
      field, with, where);
}

/// A method and the losses of its searches, one for each partition on which it counts.
struct Searches {
  std::string name;  // as notes have it
  const Candidate* method;
  std::vector<std::pair<Index, std::vector<double>>> losses;  // (samples, losses)
};

std::vector<std::string> notes_on(const Searches& searches, const ExperimentData& data) {
  std::map<std::pair<std::string, std::string>, int> ends;  // (field, end)
  std::map<std::pair<std::string, std::size_t>, int> flat;  // (field, input)
  for (const auto& [samples, losses] : searches.losses) {
    for (const AxisFinding& one : axis_findings(*searches.method, samples, losses)) {
      if (!one.end.empty()) ++ends[{one.field, one.end}];
      for (const std::size_t input : one.flat) ++flat[{one.field, input}];
    }
  }
  const int finished = static_cast<int>(searches.losses.size());
  const auto where = [&](int count) {
    return fmt::format(" on {} of {}", count, counted(finished, "partition"));
  };
  std::vector<std::string> notes;
  for (const auto& [key, count] : ends) {
    if (2 * count > finished) {
      notes.push_back(end_note(searches.name, key.first, key.second, where(count)));
    }
  }
  std::map<std::string, std::vector<std::size_t>> everywhere;
  for (const auto& [key, count] : flat) {
    if (count == finished) everywhere[key.first].push_back(key.second);
  }
  const std::vector<InputVariant> inputs = detail::inputs_of(*searches.method, data);
  for (const auto& [field, positions] : everywhere) {
    notes.push_back(flat_note(searches.name, field, inputs, positions, data, where(finished)));
  }
  return notes;
}

/// Whether a method took part in the committee of a partition; a method that is no committee did.
bool took_part(const Candidate& candidate, const Candidate& part, const TestResult& test) {
  if (!candidate.is_committee()) return true;
  const Json seats = test.chosen.value("members", Json::array());
  return std::any_of(seats.begin(), seats.end(),
                     [&](const Json& seat) { return seat.value("method", "") == part.name; });
}

std::vector<Searches> searches_of(const ExperimentData& data, const ExperimentPlan& plan,
                                  const Candidate& candidate, const Store& store,
                                  std::int64_t number) {
  std::vector<Searches> all;
  for (const Candidate& part : parts_of(candidate)) {
    all.push_back(
        {candidate.is_committee() ? part.name + " of " + candidate.name : part.name, &part, {}});
  }
  for (std::size_t p = 0; p < plan.partitions.size(); ++p) {
    const std::optional<TestResult> test =
        store.test_result({number, static_cast<int>(p), kTestFold});
    if (!test) continue;
    const Index samples = detail::smallest_training_part(plan.partitions[p].fold_of);
    std::size_t first = 0;
    for (Searches& one : all) {
      const std::size_t size = detail::inputs_of(*one.method, data).size() *
                               grid_points(*one.method, samples).settings.size();
      if (first + size > test->inner_losses.size()) break;
      const auto begin = test->inner_losses.begin() + static_cast<std::ptrdiff_t>(first);
      if (took_part(candidate, *one.method, *test)) {
        one.losses.push_back({samples, {begin, begin + static_cast<std::ptrdiff_t>(size)}});
      }
      first += size;
    }
  }
  return all;
}

/// (method, note); the method is the row that the note belongs to.
std::vector<std::pair<std::string, std::string>> notes_by_row(const ExperimentData& data,
                                                              const ExperimentPlan& plan,
                                                              const Store& store,
                                                              std::int64_t experiment) {
  std::vector<std::pair<std::string, std::string>> notes;
  for (const std::int64_t number : store.candidates(experiment)) {
    const std::string name = store.candidate(number).name;
    const auto candidate = std::find_if(plan.candidates.begin(), plan.candidates.end(),
                                        [&](const Candidate& one) { return one.name == name; });
    if (candidate == plan.candidates.end()) continue;
    for (const Searches& one : searches_of(data, plan, *candidate, store, number)) {
      const bool is_row =
          candidate->is_committee() &&
          std::any_of(plan.candidates.begin(), plan.candidates.end(), [&](const Candidate& row) {
            return !row.is_committee() && detail::same_work(row, *one.method, data);
          });
      if (is_row) continue;
      for (std::string& note : notes_on(one, data)) notes.emplace_back(name, std::move(note));
    }
  }
  return notes;
}

}  // namespace

std::vector<AxisFinding> axis_findings(const Candidate& method, Index samples,
                                       std::span<const double> losses) {
  const GridPoints grid = grid_points(method, samples);
  const std::size_t points = grid.settings.size();
  const GridPlace best = best_place(grid, losses);
  const std::span<const double> own = losses.subspan(best.input * points, points);
  std::vector<AxisFinding> findings;
  std::size_t step = points;  // between neighbours along the axis
  for (const GridAxis& axis : method.axes) {
    const std::vector<std::string> values = capped_values(axis, samples);
    step /= values.size();
    AxisFinding finding{.field = axis.field, .end = {}, .flat = {}};
    for (std::size_t input = 0; input < losses.size() / points; ++input) {
      if (is_flat(losses.subspan(input * points, points), step, values.size())) {
        finding.flat.push_back(input);
      }
    }
    const std::size_t along = best.point / step % values.size();
    if (const std::optional<std::size_t> inside =
            inside_of(method.choice, axis, values, along, samples)) {
      const std::size_t beside = best.point - along * step + *inside * step;
      if (own[best.point] < own[beside]) finding.end = values[along];
    }
    if (!finding.flat.empty() || !finding.end.empty()) findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<std::string> search_notes(const Candidate& method, const ExperimentData& data,
                                      std::span<const AxisFinding> findings) {
  const std::vector<InputVariant> inputs = detail::inputs_of(method, data);
  std::vector<std::string> notes;
  for (const AxisFinding& one : findings) {
    if (!one.end.empty()) notes.push_back(end_note(method.name, one.field, one.end, ""));
    if (!one.flat.empty()) {
      notes.push_back(flat_note(method.name, one.field, inputs, one.flat, data, ""));
    }
  }
  return notes;
}

std::vector<std::string> keep_notes(const ExperimentData& data, const ExperimentPlan& plan,
                                    Store& store, std::int64_t experiment) {
  const auto found = notes_by_row(data, plan, store, experiment);
  store.change_about(experiment, [&](Json& about) {
    Json kept = notes_json(plan.doubts);
    for (const Json& old : about.value("notes", Json::array())) {
      const std::string row = old.value("method", "");
      const bool asked = std::any_of(plan.candidates.begin(), plan.candidates.end(),
                                     [&](const Candidate& one) { return one.name == row; });
      if (!row.empty() && !asked) kept.push_back(old);
    }
    for (const auto& [row, note] : found) kept.push_back({{"method", row}, {"note", note}});
    about["notes"] = std::move(kept);
  });
  std::vector<std::string> notes;
  notes.reserve(found.size());
  for (const auto& [row, note] : found) notes.push_back(note);
  return notes;
}

Json notes_json(std::span<const std::string> doubts) {
  Json notes = Json::array();
  for (const std::string& text : doubts) notes.push_back({{"note", text}});
  return notes;
}

}  // namespace kith
