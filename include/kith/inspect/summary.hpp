// SPDX-License-Identifier: Apache-2.0
// What `kith inspect` computes: what a matrix is, before anything is learned from it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/data/labels.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/data/views.hpp"

namespace kith {

/// Eigenvalues of a symmetric matrix, ascending, and what they say.
struct SpectrumSummary {
  Vector lambda;
  Index negative = 0;            ///< lambda < -1e-9 max|lambda|
  Index zero = 0;                ///< |lambda| <= 1e-9 max|lambda|
  double negative_fraction = 0;  ///< sum of |negative| over sum of |all|; 0 for the zero matrix
  [[nodiscard]] double smallest() const { return lambda.size() > 0 ? lambda(0) : 0; }
  [[nodiscard]] double largest() const { return lambda.size() > 0 ? lambda(lambda.size() - 1) : 0; }
};

/// Triples i < j < k whose largest distance exceeds the sum of the other two. The distances are
/// those given, or those the similarities imply: d(i,j)^2 = s(i,i) + s(j,j) - 2 s(i,j), negative
/// ones as 0.
struct TriangleSummary {
  std::int64_t checked = 0;
  std::int64_t violations = 0;
  bool sampled = false;  ///< false: every triple was checked
  [[nodiscard]] double fraction() const {
    return checked > 0 ? static_cast<double>(violations) / static_cast<double>(checked) : 0;
  }
};

/// Leave-one-out error of the nearest neighbour by s(i,j) + s(j,i), or by the given distances.
/// Where several are equally near, the expected error over a random choice: file order plays no
/// part.
struct NeighbourSummary {
  double error = 0;
  PairKind by = PairKind::kSimilarity;  ///< what orders the neighbours
  Index tied = 0;                       ///< samples with more than one nearest neighbour
  Index isolated = 0;  ///< samples without a single known neighbour; counted as errors
};

/// Two samples that the matrix hardly tells apart.
struct DuplicatePair {
  Index first = 0;  ///< positions in the matrix
  Index second = 0;
  bool same = false;                     ///< else nearly so
  bool contradicting = false;            ///< their labels differ
  std::array<std::string, 2> names{};    ///< ids, or positions counted from 1
  std::array<std::string, 2> classes{};  ///< empty without labels
};

/// Samples that occur twice. The same: their rows, with their own pair and diagonal, are equal but
/// for rounding. Nearly: they differ nowhere by more than 0.1 % of the range of the matrix. By
/// (S + S')/2, or by the distances given. Equal to themselves is not enough: a measure may give its
/// largest value to samples that others tell apart. A row of zeros is nobody's twin.
struct DuplicateSummary {
  std::int64_t same = 0;             ///< pairs
  std::int64_t near = 0;             ///< further pairs
  std::int64_t contradicting = 0;    ///< of both, with different labels
  Index samples = 0;                 ///< with a twin of either kind
  std::vector<DuplicatePair> pairs;  ///< the first ten: contradicting ones first, then the same
};

struct ClassSummary {
  std::string name;
  Index count = 0;
  double within = 0;   ///< mean similarity to the others of its class (NaN for a class of one)
  double between = 0;  ///< mean similarity to the rest (NaN when there is no rest)
};

/// One matrix.
struct MatrixSummary {
  std::string name;
  std::string source;
  std::string format;
  PairKind kind = PairKind::kSimilarity;
  std::vector<std::string> applied;
  Index n = 0;
  bool sparse = false;
  std::int64_t entries = 0;  ///< pairs with a value, the diagonal included
  std::int64_t missing = 0;  ///< pairs without one
  bool symmetric = true;
  double asymmetry = 0;  ///< ||S - S'||_F / ||S||_F over pairs known in both directions
  double min = 0;
  double max = 0;
  double diagonal_min = 0;
  double diagonal_max = 0;
  std::vector<ClassSummary> classes;
  std::optional<SpectrumSummary> spectrum;  ///< of the symmetric part
  /// There where the diagonal adds up to 0, as that of -d does. Half of the spectrum is then
  /// negative whatever the pairs are. What they are like shows after double centring, J S J with J
  /// = I - 11'/n, which is all of S that a machine with an intercept sees.
  std::optional<SpectrumSummary> centred{};
  std::string no_spectrum_because;  ///< says why when there is none
  std::optional<TriangleSummary> triangles;
  std::optional<NeighbourSummary> neighbours;
  std::optional<DuplicateSummary> duplicates;  ///< none where pairs are missing
};

struct SummarySettings {
  Index every_triple_up_to = 250;          ///< n up to which every triple is checked
  std::int64_t sampled_triples = 2000000;  ///< how many are drawn beyond that
  /// n up to which there is all that needs time of order n^3 or a further n x n table: spectrum,
  /// triples, means within classes and, unless the table is sparse, neighbours
  Index spectrum_up_to = std::numeric_limits<Index>::max();
};

/// `raw` as read; `conditioned` after the input rules, or null when pairs are missing and nothing
/// says what to do with them: then only what the known pairs tell is filled in. `labels` may be
/// null.
[[nodiscard]] MatrixSummary summarise(const SimilaritySet& raw, const TrainingMatrix* conditioned,
                                      const Labels* labels, const SummarySettings& settings,
                                      const RunContext& ctx);

/// Something to try or to beware of, and why.
struct Advice {
  std::string what;
  std::string why;
};
[[nodiscard]] std::vector<Advice> advise(const std::vector<MatrixSummary>& matrices,
                                         const Labels* labels);

/// Cosine between the centred off-diagonal entries of each two matrices: 1 where they say the same.
[[nodiscard]] Matrix agreement(const std::vector<TrainingMatrix>& matrices);

}  // namespace kith
