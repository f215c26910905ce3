// SPDX-License-Identifier: Apache-2.0
#include "measure/pairs.hpp"

namespace kith::detail {

void mirror_upper(RowMatrix& values, const RunContext& ctx) {
  const Index n = values.rows();
  // In square tiles: a column of a large matrix touches a page per entry.
  parallel_chunks(static_cast<std::size_t>(n), kPairColumns, ctx.threads,
                  [&](std::size_t begin, std::size_t end) {
                    const auto first = static_cast<Index>(begin);
                    const auto last = static_cast<Index>(end);
                    for (Index tile = 0; tile < last; tile += kPairColumns) {
                      for (Index i = first; i < last; ++i) {
                        const Index stop = std::min(tile + kPairColumns, i);
                        for (Index j = tile; j < stop; ++j) values(i, j) = values(j, i);
                      }
                    }
                  });
}

}  // namespace kith::detail
