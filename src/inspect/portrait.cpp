// SPDX-License-Identifier: Apache-2.0
#include "kith/inspect/portrait.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kith/condition/symmetric.hpp"
#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/positions.hpp"
#include "kith/numerics/extreme_eigen.hpp"

namespace kith {
namespace {

/// Calls see(i, j, value) for every known pair but the zeros that a sparse table does not list.
template <class See>
void for_listed_pairs(const Block& block, const See& see) {
  if (const auto* dense = std::get_if<DenseBlock>(&block)) {
    for (Index i = 0; i < dense->rows(); ++i) {
      const std::span<const double> row = dense->row(i);
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (!std::isnan(row[j])) see(i, static_cast<Index>(j), row[j]);
      }
    }
    return;
  }
  const auto& sparse = std::get<SparseBlock>(block);
  for (Index i = 0; i < sparse.rows(); ++i) {
    const SparseRow row = sparse.row(i);
    for (std::size_t e = 0; e < row.size(); ++e) see(i, Index{row.columns[e]}, row.values[e]);
  }
}

bool has_unlisted_zeros(const Block& block) {
  const auto* sparse = std::get_if<SparseBlock>(&block);
  return sparse != nullptr && sparse->absent == Absent::kZero;
}

/// `sign` makes larger mean nearer.
std::vector<Index> picture_order(const Block& block, double sign, const Labels* labels) {
  std::vector<Index> order = all_positions(rows(block));
  if (labels == nullptr) return order;
  std::vector<double> sum(order.size());
  std::vector<double> count(order.size());
  for_listed_pairs(block, [&](Index i, Index j, double value) {
    if (i == j) return;
    const auto a = static_cast<std::size_t>(i);
    const auto b = static_cast<std::size_t>(j);
    if (labels->ids[a] != labels->ids[b]) return;
    sum[a] += sign * value;
    sum[b] += sign * value;
    count[a] += 1;
    count[b] += 1;
  });
  if (has_unlisted_zeros(block)) {
    std::vector<double> size(static_cast<std::size_t>(labels->class_count()));
    for (const int label : labels->ids) size[static_cast<std::size_t>(label)] += 1;
    for (std::size_t i = 0; i < count.size(); ++i) {
      count[i] = 2 * (size[static_cast<std::size_t>(labels->ids[i])] - 1);
    }
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = count[i] > 0 ? sum[i] / count[i] : -std::numeric_limits<double>::infinity();
  }
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    return labels->ids[i] != labels->ids[j] ? labels->ids[i] < labels->ids[j] : sum[i] > sum[j];
  });
  return order;
}

/// The range of the colours: 1 % of the pixels beside the diagonal may lie beyond either end.
void set_range(Picture& picture, std::span<const double> means) {
  std::vector<double> known;
  const auto side = static_cast<std::size_t>(picture.side);
  for (std::size_t at = 0; at < means.size(); ++at) {
    if (!std::isnan(means[at]) && at / side != at % side) known.push_back(means[at]);
  }
  if (known.empty()) {
    std::copy_if(means.begin(), means.end(), std::back_inserter(known),
                 [](double mean) { return !std::isnan(mean); });
  }
  if (known.empty()) return;
  const auto quantile = [&](double share) {
    const auto at =
        known.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(known.size() - 1));
    std::nth_element(known.begin(), at, known.end());
    return *at;
  };
  picture.low = quantile(0.01);
  picture.high = quantile(0.99);
  if (picture.low < picture.high) return;
  const auto [low, high] = std::minmax_element(known.begin(), known.end());
  picture.low = *low;
  picture.high = *high;
}

Picture draw(const Block& block, std::span<const Index> order, const PortraitSettings& settings) {
  Picture picture;
  const auto n = static_cast<Index>(order.size());
  if (n == 0) return picture;
  const Index most = n <= settings.most_pixels
                         ? settings.most_pixels
                         : std::min(settings.most_pixels, settings.most_means);
  picture.samples_per_pixel = (n + most - 1) / most;
  picture.side = (n + picture.samples_per_pixel - 1) / picture.samples_per_pixel;
  std::vector<Index> pixel_of(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    pixel_of[static_cast<std::size_t>(order[place])] =
        static_cast<Index>(place) / picture.samples_per_pixel;
  }
  const auto pixels = static_cast<std::size_t>(picture.side * picture.side);
  std::vector<double> mean(pixels);
  std::vector<std::int64_t> count(pixels);
  for_listed_pairs(block, [&](Index i, Index j, double value) {
    const auto at = static_cast<std::size_t>(pixel_of[static_cast<std::size_t>(i)] * picture.side +
                                             pixel_of[static_cast<std::size_t>(j)]);
    mean[at] += value;
    ++count[at];
  });
  if (has_unlisted_zeros(block)) {
    const auto samples = [&](Index pixel) {
      return std::min(picture.samples_per_pixel, n - pixel * picture.samples_per_pixel);
    };
    for (std::size_t at = 0; at < pixels; ++at) {
      const auto place = static_cast<Index>(at);
      count[at] = samples(place / picture.side) * samples(place % picture.side);
    }
  }
  for (std::size_t at = 0; at < pixels; ++at) {
    mean[at] = count[at] > 0 ? mean[at] / static_cast<double>(count[at])
                             : std::numeric_limits<double>::quiet_NaN();
  }
  set_range(picture, mean);
  const double span = picture.high > picture.low ? picture.high - picture.low : 1;
  picture.levels.resize(pixels);
  for (std::size_t at = 0; at < pixels; ++at) {
    if (std::isnan(mean[at])) continue;
    const double share = std::clamp((mean[at] - picture.low) / span, 0.0, 1.0);
    picture.levels[at] = static_cast<std::uint8_t>(1 + std::lround(share * (kPictureLevels - 1)));
  }
  return picture;
}

/// `S` symmetric; NaN entries are no neighbours, equals go by position.
std::vector<Index> find_neighbours(const Matrix& S, double sign, Index nearest, int threads) {
  const auto n = static_cast<std::size_t>(S.rows());
  const auto k = static_cast<std::size_t>(nearest);
  std::vector<Index> found(n * k, -1);
  parallel_chunks(n, 64, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<Index> others;
    for (std::size_t i = begin; i < end; ++i) {
      const auto column = static_cast<Index>(i);
      others.clear();
      for (Index j = 0; j < S.rows(); ++j) {
        if (j != column && !std::isnan(S(j, column))) others.push_back(j);
      }
      const std::size_t kept = std::min(k, others.size());
      std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(kept),
                        others.end(), [&](Index a, Index b) {
                          const double near_a = sign * S(a, column);
                          const double near_b = sign * S(b, column);
                          return near_a != near_b ? near_a > near_b : a < b;
                        });
      std::copy_n(others.begin(), kept, found.begin() + static_cast<std::ptrdiff_t>(i * k));
    }
  });
  return found;
}

std::optional<PlaneMap> map_to_plane(Matrix S, const RunContext& ctx) {
  if (S.rows() < 3) return std::nullopt;
  const Vector row_mean = S.rowwise().mean();
  const double grand = row_mean.mean();
  S.colwise() -= row_mean;
  S.rowwise() -= row_mean.transpose();
  S.array() += grand;
  const double squared = S.squaredNorm();
  if (!(squared > 0)) return std::nullopt;
  const ExtremePairs top = extreme_eigenpairs(S, 2, SpectrumEnd::kLargest, ctx);
  PlaneMap map;
  map.x = std::sqrt(std::max(0.0, top.lambda(0))) * top.U.col(0);
  map.y = std::sqrt(std::max(0.0, top.lambda(1))) * top.U.col(1);
  map.largest[0] = top.lambda(0);
  map.largest[1] = top.lambda(1);
  map.smallest = smallest_eigenvalue(S, ctx).upper;
  map.squared_share = top.lambda.squaredNorm() / squared;
  return map;
}

}  // namespace

Portrait portray(const SimilaritySet& raw, const TrainingMatrix* conditioned, const Labels* labels,
                 const PortraitSettings& settings, const RunContext& ctx) {
  Portrait portrait;
  portrait.summary = summarise(raw, conditioned, labels, settings.summary, ctx);
  const Block& block = conditioned != nullptr ? conditioned->block : raw.block;
  const bool distances = conditioned == nullptr && raw.kind == PairKind::kDistance;
  const double sign = distances ? -1 : 1;
  portrait.order = picture_order(block, sign, labels);
  portrait.picture = draw(block, portrait.order, settings);
  ctx.check_stop();
  if (portrait.summary.n > settings.most_compared) return portrait;
  try {
    Matrix S = symmetric_mean(to_dense(block), ctx.threads);
    portrait.nearest = settings.nearest;
    portrait.neighbours = find_neighbours(S, sign, settings.nearest, ctx.threads);
    const bool mapped = portrait.summary.n <= settings.most_mapped;
    if (mapped && conditioned != nullptr && S.allFinite())
      portrait.map = map_to_plane(std::move(S), ctx);
  } catch (const Error& error) {
    // A sparse table that is too large to be made dense has no map.
    if (error.code() != ErrorCode::kInvalidArgument || !is_sparse(block)) throw;
  }
  return portrait;
}

}  // namespace kith
