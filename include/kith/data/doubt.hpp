// SPDX-License-Identifier: Apache-2.0
// Numbers that contradict what they were given as: distances given as similarities, the reverse,
// and E-values given as similarities. They may be meant, so that a user is told and nobody stopped.
#pragma once

#include <string>
#include <string_view>

#include "kith/data/labels.hpp"
#include "kith/data/similarity_set.hpp"

namespace kith {

/// What would mend it.
enum class Mend {
  kNothing,       ///< there is no doubt
  kDistance,      ///< giving the table as distances
  kSimilarity,    ///< giving the table as similarities
  kScoresOfTable  ///< reading the scores of a BLAST table in place of its E-values
};

struct Doubt {
  std::string text;  ///< empty: there is none
  Mend mend = Mend::kNothing;
};

/// What a user should know about a square table as it was read. At most 1,000 rows
/// are judged, evenly spread, each by the pairs that it has; `score_column` is what
/// a BLAST table was read by.
///  - Similarities look like distances where nearly every sample is less similar to itself than to
///    the others; with `labels` (which may be null) only where pairs of one class are not more
///    similar than pairs of two, either.
///  - Distances look like similarities where nearly every sample is farther from itself than from
///    the others, or where they are a score column of a BLAST table that grows with similarity.
///  - Where no sample's pair with itself is known, as in most edge lists, the classes alone tell:
///    pairs of one class are clearly less similar (farther) than pairs of two.
///  - E-values are such a column too, or values of which many lie orders of magnitude below 0.001
///    and the least are those of a sample with itself.
[[nodiscard]] Doubt doubt(const SimilaritySet& set, const Labels* labels,
                          std::string_view score_column = {});

}  // namespace kith
