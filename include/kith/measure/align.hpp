// SPDX-License-Identifier: Apache-2.0
// Alignment scores of protein and DNA sequences with affine gaps: the best local alignment (Smith
// and Waterman) or the best of the whole sequences (Needleman and Wunsch, gaps at the ends
// charged). A gap of length k costs gap_open + k gap_extend, as BLAST counts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/measure/raw_data.hpp"
#include "kith/measure/score_form.hpp"

namespace kith {

enum class Alignment { kLocal, kGlobal };

struct AlignSettings {
  /// blosumN, pamN, dnafull or nuc44 as parasail has them, in small letters or capitals. What its
  /// tables say of B, Z and X counts, which differs a little between programs.
  std::string matrix = "blosum62";
  std::optional<Index> gap_open;  ///< none: BLAST's default for the matrix, where it has one
  std::optional<Index> gap_extend;
  ScoreForm score = ScoreForm::kRaw;
  std::optional<double> lambda;    ///< of Karlin and Altschul; none: known for BLAST's defaults
  std::optional<double> karlin_k;  ///< their K
};

/// The settings with the gap costs and, of score p-value, the constants that were left open. Throws
/// Error(kInvalidArgument) naming a matrix that does not exist, and what must be given.
[[nodiscard]] AlignSettings with_defaults(Alignment alignment, AlignSettings settings);

/// Each of `rows` with each of `columns`; null: all pairs of `rows` (n x n, symmetric).
/// O(|x| |y|) each. The p-value form, of local alignments only, is
/// 1 - P = exp(-K |x| |y| exp(-lambda S)). Throws as with_defaults does, and
/// Error(kInvalidArgument) naming a residue that is not in the matrix, and a sequence whose score
/// with itself is not positive and cannot be divided by.
[[nodiscard]] RowMatrix align_matrix(Alignment alignment, const SequenceData& rows,
                                     const AlignSettings& settings, const RunContext& ctx,
                                     const SequenceData* columns = nullptr);

}  // namespace kith
