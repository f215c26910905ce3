// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/shared_work.hpp"

#include "core/errors.hpp"
#include "kith/condition/symmetric.hpp"
#include "kith/numerics/extreme_eigen.hpp"

namespace kith {

struct SharedWork::Average {
  TrainingSet set;
  SharedWork work;
  explicit Average(TrainingSet mean) : set(std::move(mean)), work(set) {}
};

SharedWork::~SharedWork() = default;

SharedWork::SharedWork(const TrainingSet& train) : train_(train) {
  for (const TrainingMatrix& matrix : train.matrices) {
    if (rows(matrix.block) != train.size() || cols(matrix.block) != train.size()) {
      throw invalid("matrix {} is {} x {}, but there are {} labelled training samples", matrix.name,
                    rows(matrix.block), cols(matrix.block), train.size());
    }
    parts_.push_back(std::make_unique<Part>());
  }
}

const Block& SharedWork::vectors() const {
  if (cols(train_.vectors) == 0) {
    throw invalid("the method learns from vectors, and the training samples have none");
  }
  if (rows(train_.vectors) != train_.size()) {
    throw invalid("{} vectors for {} labelled training samples", rows(train_.vectors),
                  train_.size());
  }
  return train_.vectors;
}

SharedWork::Part& SharedWork::part(Index which) {
  if (which < 0 || static_cast<std::size_t>(which) >= parts_.size()) {
    throw invalid("matrix {} of {} was asked for", which + 1, parts_.size());
  }
  return *parts_[static_cast<std::size_t>(which)];
}

const DenseBlock& SharedWork::dense(Index which) {
  return part(which).dense.get(
      [&] { return to_dense(train_.matrices[static_cast<std::size_t>(which)].block); });
}

bool SharedWork::is_symmetric(Index which) {
  const std::optional<bool>& known = train_.matrices[static_cast<std::size_t>(which)].symmetric;
  return part(which).is_symmetric.get(
      [&] { return known ? *known : exactly_symmetric(dense(which)); });
}

Eigen::Map<const Matrix> SharedWork::symmetric(Index which) {
  const DenseBlock& block = dense(which);
  const bool as_it_is = is_symmetric(which);
  // Row-major and column-major are the same bytes for a symmetric matrix.
  if (as_it_is) return {block.values().data(), block.rows(), block.cols()};
  const Matrix& mean = part(which).mean.get([&] { return symmetric_mean(block); });
  return {mean.data(), mean.rows(), mean.cols()};
}

const SharedDecomposition& SharedWork::eigen(const RunContext& ctx, Index which) {
  // A matrix of its own is moved in and becomes U: the decomposition then peaks at 3 n^2 doubles.
  return part(which).eigen.get([&] {
    check_decomposition_fits(dense(which).rows());
    Matrix S = is_symmetric(which) ? Matrix(symmetric(which)) : symmetric_mean(dense(which));
    return std::make_shared<const SymmetricEigen>(symmetric_eigen(std::move(S), ctx));
  });
}

const SharedNegativePart& SharedWork::negative_part(const RunContext& ctx, Index which) {
  return part(which).negative.get([&]() -> SharedNegativePart {
    const TrainingMatrix& matrix = train_.matrices[static_cast<std::size_t>(which)];
    if (matrix.whole != nullptr && matrix.times_given) {
      const Index n = train_.size();
      const NegativeCount count = matrix.whole->negative_count(ctx);
      if (count.negative == 0) {
        return std::make_shared<const NegativePart>(
            NegativePart{.lambda = Vector(0),
                         .U = Matrix(n, 0),
                         .residual = 0,
                         .floor = *matrix.times_given * count.floor});
      }
      if (too_many_negative(n, count.least(n))) return nullptr;
    }
    std::optional<NegativePart> found = kith::negative_part(symmetric(which), ctx);
    return found ? std::make_shared<const NegativePart>(*std::move(found)) : nullptr;
  });
}

const SharedNegativePart& SharedWork::positive_part(const RunContext& ctx, Index which) {
  return part(which).positive.get([&]() -> SharedNegativePart {
    std::optional<NegativePart> found =
        kith::negative_part(Matrix(-symmetric(which)), ctx, Accuracy::kOfPart);
    return found ? std::make_shared<const NegativePart>(*std::move(found)) : nullptr;
  });
}

SharedWork& SharedWork::average() {
  if (parts_.size() == 1) return *this;
  return average_
      .get([&] {
        RowMatrix sum = dense(0).values();
        for (Index i = 1; i < std::ssize(parts_); ++i) sum += dense(i).values();
        sum /= static_cast<double>(parts_.size());
        TrainingSet mean{.matrices = {}, .labels = train_.labels, .ids = train_.ids, .weights = {}};
        mean.matrices.push_back({"average", DenseBlock(std::move(sum))});
        mean.weights = train_.weights;
        return std::make_unique<Average>(std::move(mean));
      })
      ->work;
}

double SharedWork::shift(const RunContext& ctx, Index which) {
  return part(which).shift.get([&] { return shift_to_psd(symmetric(which), ctx); });
}

}  // namespace kith
