// SPDX-License-Identifier: Apache-2.0
// Similarities from raw data. A new measure is a new enumerator here, with its name, the kind of
// data it takes and its case in measure.cpp.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "kith/core/context.hpp"
#include "kith/core/settings.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/measure/raw_data.hpp"

namespace kith {

enum class Measure {
  kEdit,          ///< 1 - edit distance / length of the longer string
  kEditDistance,  ///< insertions, deletions and substitutions of code points
  kGaussian,      ///< exp(-gamma |x - z|^2) of vectors
};
template <>
struct EnumNames<Measure> {
  static constexpr std::array<std::string_view, 3> names = {"edit", "edit-distance", "gaussian"};
};

/// Noise added to what was measured.
enum class Perturb {
  kNone,
  kCy,  ///< xi (E + E') / 2, E standard normal: [CY] 6.1
};
template <>
struct EnumNames<Perturb> {
  static constexpr std::array<std::string_view, 2> names = {"none", "cy"};
};

[[nodiscard]] RawKind data_kind(Measure measure);
[[nodiscard]] PairKind pair_kind(Measure measure);
/// What the measure computes, in one line.
[[nodiscard]] std::string_view explanation(Measure measure);

struct MeasureSettings {
  Measure measure = Measure::kEdit;
  std::optional<double> gamma;  ///< of gaussian; none: 1 / number of features
  Perturb perturb = Perturb::kNone;
  std::optional<double> xi;  ///< of perturb cy, which needs it
};

inline void describe(MeasureSettings& s, FieldVisitor& field) {
  field("measure", s.measure, "what is computed for each pair of samples");
  field("gamma", s.gamma, above(0.0), "auto",
        "gaussian: exp(-gamma |x - z|^2); auto: 1 / number of features");
  field("perturb", s.perturb, "noise by --seed: cy adds xi (E + E') / 2 with standard normal E");
  field("xi", s.xi, above(0.0), "none", "size of the noise");
}

/// All pairs of `data`: n x n with the data's ids. Throws Error(kInvalidArgument) when the measure
/// does not take this kind of data or one of the settings.
[[nodiscard]] SimilaritySet measure(const RawData& data, const MeasureSettings& settings,
                                    const RunContext& ctx);

/// Each of `queries` (rows) against each of `training` (columns). Noise is refused: it belongs to a
/// symmetric matrix of all pairs.
[[nodiscard]] SimilaritySet measure(const RawData& queries, const RawData& training,
                                    const MeasureSettings& settings, const RunContext& ctx);

}  // namespace kith
