// SPDX-License-Identifier: Apache-2.0
// Similarities from raw data. A new measure is a new enumerator here with its name, its row in the
// table of measure.cpp and its case there.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "kith/core/context.hpp"
#include "kith/core/settings.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/measure/raw_data.hpp"
#include "kith/measure/score_form.hpp"

namespace kith {

enum class Measure {
  kEdit,
  kEditDistance,
  kCompressionDistance,
  kSpectrum,
  kGaussian,
  kLaplacian,
  kLinear,
  kPolynomial,
  kSigmoid,
  kCosine,
  kEuclidean,
  kManhattan,
  kDtw,
  kSmithWaterman,
  kNeedlemanWunsch,
  kJaccard,
  kTverskyRatio,
  kTverskyContrast,
  kValueDifference,
};
constexpr auto enum_names(Measure /*of*/) {
  return named("edit", "edit-distance", "compression-distance", "spectrum", "gaussian", "laplacian",
               "linear", "polynomial", "sigmoid", "cosine", "euclidean", "manhattan", "dtw",
               "smith-waterman", "needleman-wunsch", "jaccard", "tversky-ratio", "tversky-contrast",
               "value-difference");
}
constexpr auto enum_aliases(Measure /*of*/) {
  return std::array{Alias{"sw", "smith-waterman"}, Alias{"nw", "needleman-wunsch"}};
}

/// Noise added to what was measured.
enum class Perturb {
  kNone,
  kCy,  ///< xi (E + E') / 2, E standard normal: [CY] 6.1
};
constexpr auto enum_names(Perturb /*of*/) { return named("none", "cy"); }

/// What a measure is: of which data, of which kind its values are, and the settings it takes.
struct MeasureInfo {
  Measure measure;
  RawKind data;
  PairKind values;
  std::string_view explanation;                ///< in one line
  std::array<std::string_view, 6> settings{};  ///< names of fields; the rest is empty

  [[nodiscard]] bool takes(std::string_view setting) const;
};
[[nodiscard]] const MeasureInfo& measure_info(Measure measure);
/// Whether no measure has the setting for its own: its name, and the noise added to what it
/// measured.
[[nodiscard]] bool is_of_every_measure(std::string_view setting);

struct MeasureSettings {
  Measure measure = Measure::kEdit;
  std::optional<double> gamma;
  Index degree = 3;
  double coef0 = 1;
  std::optional<Index> band;
  Index level = 19;
  Index kmer = 3;
  std::string matrix = "blosum62";
  std::optional<Index> gap_open;
  std::optional<Index> gap_extend;
  ScoreForm score = ScoreForm::kRaw;
  std::optional<double> lambda;
  std::optional<double> karlin_k;
  double alpha = 0.5;
  double beta = 0.5;
  double theta = 1;
  double exponent = 2;
  Perturb perturb = Perturb::kNone;
  std::optional<double> xi;  ///< of perturb cy, which needs it
};

inline void describe(MeasureSettings& s, FieldVisitor& field) {
  field("measure", s.measure, "what is computed for each pair of samples");
  field("gamma", s.gamma, above(0.0), "auto",
        "gaussian, laplacian, polynomial, sigmoid: factor; auto: 1 / number of features");
  field("degree", s.degree, at_least(1), "polynomial: exponent");
  field("coef0", s.coef0, any_number(), "polynomial, sigmoid: what is added to gamma x'z");
  field("band", s.band, at_least(0), "none",
        "dtw: most steps one series may be ahead of the other");
  field("level", s.level, between(1, 22), "compression-distance: level of zstd");
  field("kmer", s.kmer, between(1, 1000), "spectrum: code points of a piece");
  field("matrix", s.matrix, "alignments: blosumN, pamN, dnafull or nuc44");
  field("gap-open", s.gap_open, between(0, 10000), "auto",
        "alignments: what a gap costs beside its residues; auto: as BLAST has it for the matrix");
  field("gap-extend", s.gap_extend, between(0, 10000), "auto",
        "alignments: what each residue of a gap costs; auto: as BLAST has it for the matrix");
  field("score", s.score, "alignments, spectrum: S, S / sqrt(Sxx Szz), or 1 - P-value");
  field("lambda", s.lambda, above(0.0), "auto",
        "score p-value: constant of Karlin and Altschul; auto: known for BLAST's gap costs");
  field("karlin-k", s.karlin_k, above(0.0), "auto",
        "score p-value: K of Karlin and Altschul; auto: known for BLAST's gap costs");
  field("alpha", s.alpha, at_least(0.0), "tversky: weight of what only the first set has");
  field("beta", s.beta, at_least(0.0), "tversky: weight of what only the second set has");
  field("theta", s.theta, at_least(0.0), "tversky-contrast: weight of what both sets have");
  field("exponent", s.exponent, above(0.0), "value-difference: q of |P - P'|^q");
  field("perturb", s.perturb,
        "noise by the seed of the run: cy adds xi (E + E') / 2 with standard normal E");
  field("xi", s.xi, above(0.0), "none", "size of the noise");
}

/// The settings that say something here: the measure, its own (constants of the p-value only where
/// it is asked for), and those of noise where there is any.
[[nodiscard]] Json relevant_settings(const MeasureSettings& settings);

/// Throws Error(kInvalidArgument) naming a setting that the measure does not take, or one that is
/// out of its range or lacks another.
void check_settings(const MeasureSettings& settings);

/// The settings with a number wherever one was left open ("auto"): gamma by the training samples,
/// gap costs and constants by the matrix.
[[nodiscard]] MeasureSettings with_defaults(MeasureSettings settings, const RawData& training);

/// All pairs of `data`: n x n with the data's ids. Throws Error(kInvalidArgument) when the measure
/// does not take this kind of data or one of the settings, and when a value is not finite.
[[nodiscard]] SimilaritySet measure(const RawData& data, const MeasureSettings& settings,
                                    const RunContext& ctx);

/// Each of `queries` (rows) against each of `training` (columns). Noise is refused: it belongs to a
/// symmetric matrix of all pairs.
[[nodiscard]] SimilaritySet measure(const RawData& queries, const RawData& training,
                                    const MeasureSettings& settings, const RunContext& ctx);

}  // namespace kith
