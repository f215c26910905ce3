// SPDX-License-Identifier: Apache-2.0
#include "method_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kith/learn/registry.hpp"
#include "kith/report/text_art.hpp"

namespace kith::app {
namespace {

/// Before anything is read.
std::size_t matrices_asked_for(const InputOptions& input, const RawOptions& raw) {
  return raw.data.empty() ? input.similarity.size() + input.distance.size() : raw.measures.size();
}

bool has_distances(const LabelledInput& input) {
  const auto is_set = [](const SimilaritySet& set) { return set.kind == PairKind::kDistance; };
  const auto is_measured = [](const RawMatrix& matrix) {
    return measure_info(matrix.measure.measure).values == PairKind::kDistance;
  };
  return std::ranges::any_of(input.matrices.sets, is_set) ||
         std::ranges::any_of(input.samples, is_measured);
}

/// Every method that learns from one matrix or from `matrices` of them, or from vectors.
std::string all_methods_for(std::size_t matrices, bool vectors) {
  std::string list;
  for (const MethodInfo& method : all_methods()) {
    const bool from_matrices = matrices == 1 || (matrices > 1 && method.several_matrices);
    if (method.learns_from_vectors ? !vectors : !from_matrices) continue;
    list += (list.empty() ? "" : ",") + method.name;
  }
  return list;
}

/// Whether the samples themselves are vectors, as far as the flags tell: all measures are of them,
/// or there is none.
bool gives_vectors(const RawOptions& raw) {
  return raw.data.size() == 1 && std::ranges::all_of(raw.measures, [](const std::string& text) {
           MeasureSettings settings;
           set_measure(settings,
                       text.substr(text.find('=') < text.find(':') ? text.find('=') + 1 : 0));
           return measure_info(settings.measure).data == RawKind::kVectors;
         });
}

}  // namespace

std::string methods_to_compare(const MethodsFlag& methods, const InputOptions& input,
                               const RawOptions& raw, const RunContext& ctx) {
  const std::size_t matrices = matrices_asked_for(input, raw);
  if (methods.list == "all") {
    const std::string list = all_methods_for(matrices, gives_vectors(raw));
    ctx.message(fmt::format("{} all: {}", methods.flag, list));
    return list;
  }
  if (methods.given || matrices < 2) return methods.list;
  ctx.message(
      fmt::format("{} matrices: methods that learn from several are compared, {}; {} "
                  "names others",
                  matrices, kSeveralComparison, methods.flag));
  return std::string(kSeveralComparison);
}

std::string legend_of(std::string_view text, int width) {
  std::string legend;
  for (const Reference& work : references()) {
    const std::string tag = fmt::format("[{}]", work.key);
    if (text.find(tag) == std::string_view::npos) continue;
    legend += wrap(fmt::format("{} {}", tag, work.text), width, "  ");
  }
  return legend.empty() ? legend : "Papers\n" + legend;
}

void note_neighbours(const InputOptions& options, const LabelledInput& input,
                     std::span<const Candidate> candidates, const RunContext& ctx) {
  if (options.from_distance->count() > 0 || !has_distances(input)) return;
  const std::string note = neighbours_note(candidates);
  if (!note.empty()) ctx.message(note);
}

}  // namespace kith::app
