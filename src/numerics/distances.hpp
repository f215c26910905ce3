// SPDX-License-Identifier: Apache-2.0
// Squared distances of vectors from their products, |x|^2 + |z|^2 - 2 x'z, by one rule of accuracy:
// where the difference has cancelled, the distance is summed anew from the differences.
#pragma once

#include "kith/core/parallel.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// A squared distance this small beside the squared norms it is the difference of has lost too many
/// digits. All others keep twelve.
inline constexpr double kCancelled = 1e-3;

/// Makes the products P(i, j) = x_i'z_j squared distances. `direct(i, j)` sums one from the
/// differences.
template <class Direct>
void make_squared_distances(Matrix& P, const Vector& x_squares, const Vector& z_squares,
                            int threads, const Direct& direct) {
  parallel_for(static_cast<std::size_t>(P.cols()), threads, [&](std::size_t column) {
    const auto j = static_cast<Index>(column);
    for (Index i = 0; i < P.rows(); ++i) {
      const double squares = x_squares(i) + z_squares(j);
      const double distance = squares - 2 * P(i, j);
      P(i, j) = distance > kCancelled * squares ? distance : direct(i, j);  // also where it is NaN
    }
  });
}

/// |x_i - z_j|^2 for the rows of X and Z; exactly 0 for rows that are the same.
[[nodiscard]] Matrix squared_distances(const Eigen::Ref<const RowMatrix>& X,
                                       const Eigen::Ref<const RowMatrix>& Z, int threads);
/// All pairs of rows, exactly symmetric.
[[nodiscard]] Matrix squared_distances(const Eigen::Ref<const RowMatrix>& X, int threads);

}  // namespace kith
