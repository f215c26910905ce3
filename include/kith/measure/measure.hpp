// SPDX-License-Identifier: Apache-2.0
// Similarities from raw data. A new measure is a new enumerator here, with its name, the kind of
// data it takes and its case in measure.cpp.
#pragma once

#include <array>
#include <string_view>

#include "kith/core/context.hpp"
#include "kith/core/settings.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/measure/raw_data.hpp"

namespace kith {

enum class Measure {
  kEdit,          ///< 1 - edit distance / length of the longer string
  kEditDistance,  ///< insertions, deletions and substitutions of code points
};
template <>
struct EnumNames<Measure> {
  static constexpr std::array<std::string_view, 2> names = {"edit", "edit-distance"};
};

[[nodiscard]] RawKind data_kind(Measure measure);
[[nodiscard]] PairKind pair_kind(Measure measure);
/// What the measure computes, in one line.
[[nodiscard]] std::string_view explanation(Measure measure);

struct MeasureSettings {
  Measure measure = Measure::kEdit;
};

inline void describe(MeasureSettings& s, FieldVisitor& field) {
  field("measure", s.measure, "what is computed for each pair of samples");
}

/// All pairs of `data`: n x n with the data's ids. Throws Error(kInvalidArgument) when the measure
/// does not take this kind of data.
[[nodiscard]] SimilaritySet measure(const RawData& data, const MeasureSettings& settings,
                                    const RunContext& ctx);

/// Each of `queries` (rows) against each of `training` (columns).
[[nodiscard]] SimilaritySet measure(const RawData& queries, const RawData& training,
                                    const MeasureSettings& settings, const RunContext& ctx);

}  // namespace kith
