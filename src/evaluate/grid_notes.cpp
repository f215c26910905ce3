// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/grid_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "evaluate/unit.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

/// A side of a grid that values could be added to: of numbers, but not of counts of samples, whose
/// ends are one sample and all of them.
bool is_open(const GridAxis& axis) {
  return !axis.at_most_samples && axis.values.size() > 2 &&
         std::all_of(axis.values.begin(), axis.values.end(),
                     [](const std::string& text) { return parse_double(text).has_value(); });
}

std::string end_note(const std::string& method, const std::string& field, const std::string& value,
                     const std::string& where) {
  return fmt::format(
      "{}: {} was chosen at the end of its grid ({}){}; [[grid]] lists values beyond it", method,
      field, value, where);
}

std::string flat_note(const std::string& method, const std::string& field,
                      const std::string& where) {
  return fmt::format(
      "{}: all values of {} on its grid give the same error{}; [[grid]] lists others", method,
      field, where);
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
    const std::size_t size = capped_values(axis, samples).size();
    step /= size;
    AxisFinding finding{.field = axis.field, .end = {}, .flat = size > 1};
    for (std::size_t i = 0; i < losses.size() && finding.flat; ++i) {
      const std::size_t along = (i % points) / step % size;
      if (along > 0) finding.flat = losses[i] == losses[i - step];
    }
    const std::size_t along = best.point / step % size;
    const bool last = along + 1 == size;
    if (is_open(axis) && size > 2 && (along == 0 || last)) {
      const std::size_t inside = last ? best.point - step : best.point + step;
      if (own[best.point] < own[inside]) finding.end = axis.values[last ? size - 1 : 0];
    }
    if (finding.flat || !finding.end.empty()) findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<std::string> search_notes(const std::string& method,
                                      std::span<const AxisFinding> findings) {
  std::vector<std::string> notes;
  for (const AxisFinding& one : findings) {
    notes.push_back(one.flat ? flat_note(method, one.field, "")
                             : end_note(method, one.field, one.end, ""));
  }
  return notes;
}

std::vector<std::string> evaluation_notes(const ExperimentData& data, const ExperimentPlan& plan,
                                          const Store& store, std::int64_t experiment) {
  std::vector<std::string> notes;
  for (const std::int64_t number : store.candidates(experiment)) {
    const std::string name = store.candidate(number).name;
    const auto candidate = std::find_if(plan.candidates.begin(), plan.candidates.end(),
                                        [&](const Candidate& one) { return one.name == name; });
    if (candidate == plan.candidates.end() || candidate->is_committee()) continue;
    const std::size_t inputs = detail::inputs_of(*candidate, data).size();
    std::map<std::pair<std::string, std::string>, int> counts;  // (field, end); no end: flat
    int finished = 0;
    for (std::size_t p = 0; p < plan.partitions.size(); ++p) {
      const std::optional<TestResult> test =
          store.test_result({number, static_cast<int>(p), kTestFold});
      const Index samples = detail::smallest_training_part(plan.partitions[p].fold_of);
      if (!test ||
          test->inner_losses.size() != inputs * grid_points(*candidate, samples).settings.size()) {
        continue;
      }
      ++finished;
      for (const AxisFinding& one : axis_findings(*candidate, samples, test->inner_losses)) {
        ++counts[{one.field, one.flat ? "" : one.end}];
      }
    }
    for (const auto& [key, count] : counts) {
      const auto& [field, end] = key;
      const std::string where = fmt::format(" on {} of {} partitions", count, finished);
      if (end.empty() && count == finished) notes.push_back(flat_note(name, field, where));
      if (!end.empty() && 2 * count > finished) notes.push_back(end_note(name, field, end, where));
    }
  }
  return notes;
}

}  // namespace kith
