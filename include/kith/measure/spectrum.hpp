// SPDX-License-Identifier: Apache-2.0
// The k-mer spectrum of strings (Leslie, Eskin and Noble): S(x, y) is the sum, over every string u
// of k code points, of how often u occurs in x times how often it occurs in y. An inner product,
// hence positive semidefinite.
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/measure/raw_data.hpp"
#include "kith/measure/score_form.hpp"

namespace kith {

struct SpectrumSettings {
  Index kmer = 3;                     ///< code points of a piece, at least 1
  ScoreForm score = ScoreForm::kRaw;  ///< raw or normalised
};

/// Each of `rows` with each of `columns`; null: all pairs of `rows` (n x n, symmetric).
/// O(|x| + |y|) per pair. Throws Error(kInvalidArgument) naming the first string that is too short
/// to be normalised.
[[nodiscard]] RowMatrix spectrum_matrix(const StringData& rows, const SpectrumSettings& settings,
                                        const RunContext& ctx, const StringData* columns = nullptr);

}  // namespace kith
