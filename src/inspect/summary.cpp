// SPDX-License-Identifier: Apache-2.0
#include "kith/inspect/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "inspect/duplicates.hpp"
#include "kith/condition/symmetric.hpp"
#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---------------------------------------------------------------- the numbers as they are

void set_range(const DenseBlock& block, MatrixSummary& summary) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  std::int64_t known = 0;
  for (Index i = 0; i < block.rows(); ++i) {
    for (const double value : block.row(i)) {
      if (std::isnan(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
      ++known;
    }
  }
  summary.entries = known;
  summary.missing = static_cast<std::int64_t>(block.rows()) * block.cols() - known;
  summary.min = known > 0 ? low : kNan;
  summary.max = known > 0 ? high : kNan;
  const Vector diagonal = block.values().diagonal();
  summary.diagonal_min = diagonal.minCoeff();
  summary.diagonal_max = diagonal.maxCoeff();
}

void set_range(const SparseBlock& block, MatrixSummary& summary) {
  const auto [low, high] = std::minmax_element(block.values.begin(), block.values.end());
  const auto all = static_cast<std::int64_t>(block.rows()) * block.cols;
  const bool zeros = block.absent == Absent::kZero && block.entries() < all;
  summary.entries = block.absent == Absent::kZero ? all : block.entries();
  summary.missing = all - summary.entries;
  summary.min = block.values.empty() ? (zeros ? 0 : kNan) : zeros ? std::min(0.0, *low) : *low;
  summary.max = block.values.empty() ? (zeros ? 0 : kNan) : zeros ? std::max(0.0, *high) : *high;
  summary.diagonal_min = std::numeric_limits<double>::infinity();
  summary.diagonal_max = -summary.diagonal_min;
  for (Index i = 0; i < block.rows(); ++i) {
    const double own = block(i, i);
    summary.diagonal_min = std::min(summary.diagonal_min, own);  // a missing one is left out
    summary.diagonal_max = std::max(summary.diagonal_max, own);
  }
  if (summary.diagonal_min > summary.diagonal_max) {
    summary.diagonal_min = summary.diagonal_max = kNan;
  }
}

// ---------------------------------------------------------------- neighbours

/// Keeps the nearest neighbours of one sample: the best similarity and how many of those tied at it
/// have another label.
struct Nearest {
  double best = -std::numeric_limits<double>::infinity();
  Index count = 0;
  Index wrong = 0;

  void offer(double similarity, bool other_label) {
    if (similarity < best) return;
    if (similarity > best) *this = {.best = similarity};
    ++count;
    wrong += other_label ? 1 : 0;
  }
};

NeighbourSummary sum_up(const std::vector<Nearest>& nearest) {
  NeighbourSummary summary;
  double errors = 0;
  for (const Nearest& one : nearest) {
    if (one.count == 0) {
      ++summary.isolated;
      errors += 1;
      continue;
    }
    if (one.count > 1) ++summary.tied;
    errors += static_cast<double>(one.wrong) / static_cast<double>(one.count);
  }
  if (!nearest.empty()) summary.error = errors / static_cast<double>(nearest.size());
  return summary;
}

/// `S` symmetric (sum and mean order alike); NaN entries are no neighbours.
NeighbourSummary nearest_dense(const MatrixRef& S, const Labels& labels, const RunContext& ctx) {
  std::vector<Nearest> nearest(static_cast<std::size_t>(S.rows()));
  parallel_chunks(nearest.size(), 64, ctx.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double* column = S.col(static_cast<Index>(i)).data();
      for (std::size_t j = 0; j < nearest.size(); ++j) {
        if (j != i && column[j] >= nearest[i].best) {
          nearest[i].offer(column[j], labels.ids[j] != labels.ids[i]);
        }
      }
    }
  });
  return sum_up(nearest);
}

/// Over listed pairs; a pair listed in one direction only counts twice its value, as if mirrored.
NeighbourSummary nearest_sparse(const SparseBlock& block, double sign, const Labels& labels) {
  std::vector<Nearest> nearest(static_cast<std::size_t>(block.rows()));
  const auto label = [&](Index i) { return labels.ids[static_cast<std::size_t>(i)]; };
  for (Index i = 0; i < block.rows(); ++i) {
    const SparseRow row = block.row(i);
    for (std::size_t e = 0; e < row.size(); ++e) {
      const Index j = row.columns[e];
      if (j == i) continue;
      const double forth = row.values[e];
      const double back = block(j, i);
      const bool one_way = std::isnan(back);
      const double both = sign * (forth + (one_way ? forth : back));
      const bool other = label(i) != label(j);
      nearest[static_cast<std::size_t>(i)].offer(both, other);
      if (one_way) nearest[static_cast<std::size_t>(j)].offer(both, other);
    }
  }
  return sum_up(nearest);
}

// ---------------------------------------------------------------- triangles

TriangleSummary count_triangles(Index n, const std::function<double(Index, Index)>& distance,
                                const SummarySettings& settings, const RunContext& ctx) {
  constexpr double kSlack = 1 + 1e-9;  // rounding of an equality is no violation
  const auto violates = [&](Index i, Index j, Index k) {
    const double a = distance(i, j);
    const double b = distance(j, k);
    const double c = distance(i, k);
    const double longest = std::max({a, b, c});
    return longest > kSlack * (a + b + c - longest);
  };
  TriangleSummary summary;
  if (n < 3) return summary;
  if (n <= settings.every_triple_up_to) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = i + 1; j < n; ++j) {
        for (Index k = j + 1; k < n; ++k) summary.violations += violates(i, j, k) ? 1 : 0;
      }
    }
    summary.checked = static_cast<std::int64_t>(n) * (n - 1) * (n - 2) / 6;
    return summary;
  }
  summary.sampled = true;
  summary.checked = settings.sampled_triples;
  constexpr std::int64_t kChunk = 100000;
  const auto chunks = static_cast<std::size_t>((summary.checked + kChunk - 1) / kChunk);
  std::vector<std::int64_t> found(chunks);
  parallel_for(chunks, ctx.threads, [&](std::size_t chunk) {
    Rng rng = ctx.rng.stream("triangles", chunk);
    const auto size = static_cast<std::uint64_t>(n);
    const std::int64_t begin = static_cast<std::int64_t>(chunk) * kChunk;
    for (std::int64_t t = begin; t < std::min(begin + kChunk, summary.checked); ++t) {
      const auto i = static_cast<Index>(rng.below(size));
      auto j = static_cast<Index>(rng.below(size - 1));
      j += j >= i ? 1 : 0;
      auto k = static_cast<Index>(rng.below(size - 2));
      k += k >= std::min(i, j) ? 1 : 0;
      k += k >= std::max(i, j) ? 1 : 0;
      found[chunk] += violates(i, j, k) ? 1 : 0;
    }
  });
  for (const std::int64_t count : found) summary.violations += count;
  return summary;
}

// ---------------------------------------------------------------- classes and spectrum

std::vector<ClassSummary> class_table(const Labels& labels, const Matrix* S) {
  const std::vector<Index> counts = labels.counts();
  std::vector<ClassSummary> table(counts.size());
  Matrix sums = Matrix::Zero(static_cast<Index>(counts.size()), static_cast<Index>(counts.size()));
  if (S != nullptr) {
    for (Index j = 0; j < S->cols(); ++j) {
      const int b = labels.ids[static_cast<std::size_t>(j)];
      for (Index i = 0; i < S->rows(); ++i) {
        if (i != j) sums(labels.ids[static_cast<std::size_t>(i)], b) += (*S)(i, j);
      }
    }
  }
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const auto own = static_cast<double>(counts[c]);
    const auto rest = static_cast<double>(labels.size()) - own;
    const auto at = static_cast<Index>(c);
    table[c] = {.name = labels.names[c], .count = counts[c], .within = kNan, .between = kNan};
    if (S == nullptr) continue;
    if (own > 1) table[c].within = sums(at, at) / (own * (own - 1));
    if (rest > 0) table[c].between = (sums.row(at).sum() - sums(at, at)) / (own * rest);
  }
  return table;
}

SpectrumSummary spectrum_of(Matrix S) {
  SpectrumSummary summary;
  summary.lambda = symmetric_eigenvalues(std::move(S));
  const double threshold = negative_threshold(summary.lambda);  // -1e-9 max|lambda|
  double negative = 0;
  double all = 0;
  for (const double value : summary.lambda) {
    all += std::abs(value);
    if (value < threshold) {
      ++summary.negative;
      negative -= value;
    } else if (value <= -threshold) {
      ++summary.zero;
    }
  }
  summary.negative_fraction = all > 0 ? negative / all : 0;
  return summary;
}

/// Whether the diagonal of a matrix that is not zero adds up to 0, but for rounding.
bool is_balanced(const Matrix& S) {
  constexpr double kRounding = 1e-9;
  const double norm = S.norm();
  return norm > 0 && std::abs(S.trace()) <= kRounding * norm;
}

/// J S J of a symmetric S.
Matrix double_centred(Matrix S) {
  const Vector means = S.rowwise().mean();
  const double mean = means.mean();
  S.colwise() -= means;
  S.rowwise() -= means.transpose();
  S.array() += mean;
  return S;
}

/// The distances of `n` samples as they were given, where every pair is known; a sample that is not
/// listed with itself is at a distance of 0.
std::optional<DenseBlock> complete_distances(const SimilaritySet& raw, Index n) {
  if (raw.kind != PairKind::kDistance || raw.rows() != n) return std::nullopt;
  if (missing_pairs(raw.block) > n) return std::nullopt;
  DenseBlock dense = to_dense(raw.block);
  if (missing_pairs(raw.block) == 0) return dense;
  RowMatrix values = std::move(dense).take();
  for (Index i = 0; i < n; ++i) {
    if (std::isnan(values(i, i))) values(i, i) = 0;
  }
  if (values.hasNaN()) return std::nullopt;
  return DenseBlock(std::move(values));
}

/// Everything that needs the whole matrix in memory.
void summarise_dense(const SimilaritySet& raw, const DenseBlock& block, const Labels* labels,
                     const SummarySettings& settings, const RunContext& ctx,
                     MatrixSummary& summary) {
  Matrix S = symmetric_mean(block, ctx.threads);
  // Given distances speak for themselves, as long as they are of the samples that were kept.
  const std::optional<DenseBlock> distances = complete_distances(raw, S.rows());
  const bool given = distances.has_value();
  const auto compare = [&](const MatrixRef& near) {
    if (labels != nullptr) summary.neighbours = nearest_dense(near, *labels, ctx);
    summary.duplicates = find_duplicates(near, labels, ctx);
  };
  if (labels != nullptr) summary.classes = class_table(*labels, &S);
  if (given) {
    compare(-symmetric_mean(*distances, ctx.threads));
  } else {
    compare(S);
  }
  if (given && summary.neighbours) summary.neighbours->by = PairKind::kDistance;
  ctx.check_stop();
  const auto implied = [&](Index i, Index j) {
    return std::sqrt(std::max(0.0, S(i, i) + S(j, j) - 2 * S(i, j)));
  };
  const auto as_read = [&](Index i, Index j) {
    return 0.5 * ((*distances)(i, j) + (*distances)(j, i));
  };
  summary.triangles = given ? count_triangles(S.rows(), as_read, settings, ctx)
                            : count_triangles(S.rows(), implied, settings, ctx);
  ctx.check_stop();
  ctx.progress("eigenvalues", 0, 1);
  if (is_balanced(S)) summary.centred = spectrum_of(double_centred(S));
  summary.spectrum = spectrum_of(std::move(S));
}

/// What the known pairs alone can tell.
void summarise_known(const Block& block, double sign, const Labels* labels, const RunContext& ctx,
                     MatrixSummary& summary) {
  if (labels == nullptr) return;
  summary.classes = class_table(*labels, nullptr);
  if (const auto* sparse = std::get_if<SparseBlock>(&block)) {
    summary.neighbours = nearest_sparse(*sparse, sign, *labels);
  } else {
    summary.neighbours = nearest_dense(
        sign * symmetric_mean(std::get<DenseBlock>(block), ctx.threads), *labels, ctx);
  }
  if (sign < 0) summary.neighbours->by = PairKind::kDistance;
}

}  // namespace

MatrixSummary summarise(const SimilaritySet& raw, const TrainingMatrix* conditioned,
                        const Labels* labels, const SummarySettings& settings,
                        const RunContext& ctx) {
  MatrixSummary summary;
  summary.name = raw.name;
  summary.source = raw.source;
  summary.format = raw.format;
  summary.kind = raw.kind;
  summary.applied = raw.applied;
  summary.sparse = is_sparse(raw.block);
  const Block& block = conditioned != nullptr ? conditioned->block : raw.block;
  summary.n = rows(block);
  std::visit([&](const auto& held) { set_range(held, summary); }, block);
  summary.asymmetry = asymmetry(block, ctx.threads).relative;
  summary.symmetric = summary.asymmetry <= kRoundingAsymmetry;
  if (conditioned == nullptr) {
    const double sign = raw.kind == PairKind::kDistance ? -1 : 1;
    summarise_known(block, sign, labels, ctx, summary);
    summary.no_spectrum_because =
        fmt::format("{} pairs have no value; say what they mean with [[missing]]", summary.missing);
    return summary;
  }
  if (summary.n > settings.spectrum_up_to) {
    if (is_sparse(block))
      summarise_known(block, 1, labels, ctx, summary);
    else if (labels != nullptr)
      summary.classes = class_table(*labels, nullptr);
    summary.no_spectrum_because = fmt::format(
        "there are more than {} samples, too many for this picture; an inspection computes it",
        settings.spectrum_up_to);
    return summary;
  }
  try {
    summarise_dense(raw, to_dense(block), labels, settings, ctx, summary);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument || !is_sparse(block)) throw;
    summarise_known(block, 1, labels, ctx, summary);
    summary.no_spectrum_because = error.what();
  }
  return summary;
}

Matrix agreement(const std::vector<TrainingMatrix>& matrices) {
  const auto count = static_cast<Index>(matrices.size());
  std::vector<Matrix> centred;
  for (const TrainingMatrix& matrix : matrices) {
    Matrix S = symmetric_mean(to_dense(matrix.block));
    const auto pairs = static_cast<double>(S.rows() * (S.rows() - 1));
    const double mean = (S.sum() - S.trace()) / std::max(1.0, pairs);
    S.array() -= mean;
    S.diagonal().setZero();
    const double norm = S.norm();
    if (norm > 0) S /= norm;
    centred.push_back(std::move(S));
  }
  Matrix cosine = Matrix::Identity(count, count);
  for (Index a = 0; a < count; ++a) {
    for (Index b = a + 1; b < count; ++b) {
      const Matrix& A = centred[static_cast<std::size_t>(a)];
      const Matrix& B = centred[static_cast<std::size_t>(b)];
      cosine(a, b) = cosine(b, a) = A.cwiseProduct(B).sum();
    }
  }
  return cosine;
}

}  // namespace kith
