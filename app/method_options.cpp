// SPDX-License-Identifier: Apache-2.0
#include "method_options.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

std::string methods_to_compare(const MethodsFlag& methods, const InputOptions& input,
                               const RawOptions& raw, const RunContext& ctx) {
  const std::size_t matrices = matrices_asked_for(input, raw);
  if (methods.given || matrices < 2) return methods.list;
  ctx.message(
      fmt::format("{} matrices: methods that learn from several are compared, {}; {} "
                  "names others",
                  matrices, kSeveralComparison, methods.flag));
  return std::string(kSeveralComparison);
}

void note_neighbours(const InputOptions& options, const LabelledInput& input,
                     std::span<const Candidate> candidates, const RunContext& ctx) {
  if (options.from_distance->count() > 0 || !has_distances(input)) return;
  const std::string note = neighbours_note(candidates);
  if (!note.empty()) ctx.message(note);
}

}  // namespace kith::app
