// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/compression.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "kith/core/error.hpp"
#include "measure/pairs.hpp"

namespace kith {
namespace {

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

/// zstd and its memory, of one thread.
class Compressor {
 public:
  explicit Compressor(Index level) : context_(ZSTD_createCCtx()), level_(static_cast<int>(level)) {
    if (!context_) throw std::bad_alloc();
  }

  [[nodiscard]] double length(std::string_view text) {
    out_.resize(ZSTD_compressBound(text.size()));
    const std::size_t length = ZSTD_compressCCtx(context_.get(), out_.data(), out_.size(),
                                                 text.data(), text.size(), level_);
    if (ZSTD_isError(length) != 0) {
      throw Error(ErrorCode::kInternal,
                  fmt::format("zstd could not compress a string: {}", ZSTD_getErrorName(length)));
    }
    return static_cast<double>(length);
  }
  /// Of both strings, one behind the other, in the better order.
  [[nodiscard]] double length_together(std::string_view x, std::string_view y) {
    together_.assign(x).append(y);
    const double xy = length(together_);
    together_.assign(y).append(x);
    return std::min(xy, length(together_));
  }

 private:
  std::unique_ptr<ZSTD_CCtx, FreeContext> context_;
  int level_;
  std::vector<char> out_;
  std::string together_;
};

double distance_of_lengths(double together, double x, double y) {
  return (together - std::min(x, y)) / std::max(x, y);
}

std::vector<double> compressed_lengths(std::span<const std::string> texts, Index level,
                                       const RunContext& ctx) {
  std::vector<double> lengths(texts.size());
  parallel_chunks(texts.size(), 16, ctx.threads, [&](std::size_t begin, std::size_t end) {
    Compressor zstd(level);
    for (std::size_t i = begin; i < end; ++i) {
      ctx.check_stop();
      lengths[i] = zstd.length(texts[i]);
    }
  });
  return lengths;
}

}  // namespace

RowMatrix compression_matrix(std::span<const std::string> rows, const CompressionSettings& settings,
                             const RunContext& ctx,
                             std::optional<std::span<const std::string>> columns) {
  const std::span<const std::string> others = columns.value_or(rows);
  const std::vector<double> of_rows = compressed_lengths(rows, settings.level, ctx);
  const std::vector<double> of_others =
      columns ? compressed_lengths(others, settings.level, ctx) : of_rows;
  const auto row_of = [&](Index row) {
    const auto i = static_cast<std::size_t>(row);
    return [&, i, zstd = Compressor(settings.level)](Index column) mutable {
      const auto j = static_cast<std::size_t>(column);
      return distance_of_lengths(zstd.length_together(rows[i], others[j]), of_rows[i],
                                 of_others[j]);
    };
  };
  return detail::all_pairs(std::ssize(rows), std::ssize(others), !columns, "compression distances",
                           ctx, row_of);
}

}  // namespace kith
