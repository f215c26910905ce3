// SPDX-License-Identifier: Apache-2.0
// The nearest training samples of a query, as every neighbour method finds them ([TR] 4): by
// psi(x, x_i) + psi(x_i, x) where both directions are known ([TR] 6.2), and never by the order of
// the file unless the user asks for it.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/settings.hpp"
#include "kith/data/views.hpp"

namespace kith {

/// Who comes first among equally similar samples.
enum class TieRule { kRandom, kFile };
constexpr auto enum_names(TieRule /*of*/) { return named("random", "file"); }

/// An order of the training samples that settles ties: random by the run's seed, or that of the
/// file.
struct TieOrder {
  std::vector<Index> place;      ///< of each sample; the lower goes first among equals
  std::vector<Index> sample_at;  ///< the other way round
};
[[nodiscard]] TieOrder tie_order(Index samples, TieRule rule, const RunContext& ctx);
[[nodiscard]] TieOrder tie_order(std::vector<Index> place);

/// Training samples, nearest first, with the similarities they were found by.
struct Neighbours {
  std::vector<Index> samples;
  std::vector<double> similarities;
};

/// The rows of one query matrix, dense or sparse, with both directions averaged where both are
/// known. Over the same training samples as `ties` in `nearest`.
class NeighbourRows {
 public:
  explicit NeighbourRows(const QueryMatrix& query);

  [[nodiscard]] Index queries() const;
  [[nodiscard]] Index samples() const;
  /// At most `count` of them; fewer where fewer have a known similarity. Where an absent pair means
  /// 0, zeros are neighbours like any other. O(n + count log count), over listed pairs alone when
  /// sparse.
  [[nodiscard]] Neighbours nearest(Index query, Index count, const TieOrder& ties) const;

 private:
  Block rows_;
};

}  // namespace kith
