// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/neighbours/local_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "data/block_archive.hpp"
#include "kith/core/error.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith {
namespace {

double known(double value) { return std::isnan(value) ? 0 : value; }

/// The mean of both directions; the one that is known where the other is not.
double pair_value(const SparseBlock& block, Index i, Index j) {
  const double forth = block(i, j);
  const double back = block(j, i);
  if (block.absent == Absent::kZero) return 0.5 * (known(forth) + known(back));
  if (std::isnan(forth)) return known(back);
  return std::isnan(back) ? forth : 0.5 * (forth + back);
}

}  // namespace

Matrix TrainingPairs::among(std::span<const Index> samples) const {
  const auto k = static_cast<Index>(samples.size());
  Matrix among(k, k);
  const auto value = [&](Index i, Index j) {
    if (const auto* dense = std::get_if<DenseBlock>(&block)) {
      return 0.5 * (*dense)(i, j) + 0.5 * (*dense)(j, i);
    }
    return pair_value(std::get<SparseBlock>(block), i, j);
  };
  for (Index j = 0; j < k; ++j) {
    for (Index i = j; i < k; ++i) {
      among(i, j) = among(j, i) =
          value(samples[static_cast<std::size_t>(i)], samples[static_cast<std::size_t>(j)]);
    }
  }
  return among;
}

template <class A>
void archive(Archived<A, TrainingPairs>& pairs, A& archiver) {
  bool sparse = is_sparse(pairs.block);
  archiver("pairs_sparse", sparse);
  if (!sparse) {
    if constexpr (A::kLoading) {
      Matrix values;
      archiver("pairs", values);
      pairs.block = DenseBlock(RowMatrix(values));
    } else {
      archiver("pairs", SavedTable(std::get<DenseBlock>(pairs.block).values()));
    }
    return;
  }
  SparseBlock block;
  if constexpr (!A::kLoading) block = std::get<SparseBlock>(pairs.block);
  bool zero = block.absent == Absent::kZero;
  detail::archive_sparse(block, "pairs_columns_in_all", "pairs_", archiver);
  archiver("pairs_absent_is_zero", zero);
  if constexpr (A::kLoading) {
    block.absent = zero ? Absent::kZero : Absent::kMissing;
    pairs.block = std::move(block);
  }
}
template void archive(const TrainingPairs&, SavingArchive&);
template void archive(TrainingPairs&, LoadingArchive&);

Vector LocalKernel::eigenvalues(Spectrum spectrum) const {
  switch (spectrum) {
    case Spectrum::kNone:
      return lambda;
    case Spectrum::kClip:
      return clip_multipliers(lambda).cwiseProduct(lambda);
    case Spectrum::kFlip:
      return flip_multipliers(lambda).cwiseProduct(lambda);
    case Spectrum::kShift:
      return lambda.array() - std::min(0.0, lambda.size() > 0 ? lambda.minCoeff() : 0.0);
    case Spectrum::kSquare:
    case Spectrum::kDiffusion:
      break;
  }
  throw Error(ErrorCode::kInternal, "a block rule without eigenvalues");
}

Vector LocalKernel::treated(Spectrum spectrum, Treatment treatment) const {
  if (treatment == Treatment::kNone) return rotated;
  if (spectrum == Spectrum::kClip) return clip_multipliers(lambda).cwiseProduct(rotated);
  if (spectrum == Spectrum::kFlip) return flip_multipliers(lambda).cwiseProduct(rotated);
  return rotated;
}

LocalKernel local_kernel(Matrix block, const Neighbours& neighbours) {
  if (block.size() == 0) return {};  // a query that no training sample is known to be like
  SymmetricEigen eigen = symmetric_eigen(std::move(block));
  const Eigen::Map<const Vector> s(neighbours.similarities.data(),
                                   static_cast<Index>(neighbours.similarities.size()));
  Vector rotated = eigen.U.transpose() * s;
  return {
      .lambda = std::move(eigen.lambda), .U = std::move(eigen.U), .rotated = std::move(rotated)};
}

}  // namespace kith
