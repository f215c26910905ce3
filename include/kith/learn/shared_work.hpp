// SPDX-License-Identifier: Apache-2.0
// The work that every method on one training block shares: made once per fold, passed to each fit,
// each part computed on first use.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "kith/condition/spectrum.hpp"
#include "kith/core/context.hpp"
#include "kith/data/views.hpp"

namespace kith {

/// A value computed by the first caller; others wait for it. Where the computation throws, the next
/// caller computes it.
template <class T>
class OnFirstUse {
 public:
  const T& get(const std::function<T()>& compute) {
    const std::lock_guard lock(mutex_);
    if (!value_) value_.emplace(compute());
    return *value_;
  }

 private:
  std::mutex mutex_;
  std::optional<T> value_;
};

/// Holds a reference to its training set: it must not outlive it. Safe to use from several threads.
class SharedWork {
 public:
  explicit SharedWork(const TrainingSet& train);
  ~SharedWork();
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;

  [[nodiscard]] const TrainingSet& train() const { return train_; }
  /// The vectors of the samples. Throws Error(kInvalidArgument) where there are none.
  [[nodiscard]] const Block& vectors() const;
  /// Matrix `which` as dense rows.
  [[nodiscard]] const DenseBlock& dense(Index which = 0);
  /// The mean of S and its transpose: the block's own memory where it is exactly symmetric.
  [[nodiscard]] Eigen::Map<const Matrix> symmetric(Index which = 0);
  /// Its decomposition.
  [[nodiscard]] const SharedDecomposition& eigen(const RunContext& ctx = {}, Index which = 0);
  /// Its negative eigenpairs, where they are few and proved to be all; null: the decomposition is
  /// needed.
  [[nodiscard]] const SharedNegativePart& negative_part(const RunContext& ctx, Index which = 0);
  /// The same of -S: its positive ones.
  [[nodiscard]] const SharedNegativePart& positive_part(const RunContext& ctx, Index which = 0);
  /// The least t >= 0 for which it becomes positive semidefinite with t on its diagonal; needs no
  /// full decomposition.
  [[nodiscard]] double shift(const RunContext& ctx, Index which = 0);
  /// The same for the mean of all matrices as the only one; with one matrix, this work itself.
  [[nodiscard]] SharedWork& average();

 private:
  struct Average;
  struct Part {
    OnFirstUse<DenseBlock> dense;
    OnFirstUse<bool> is_symmetric;
    OnFirstUse<Matrix> mean;
    OnFirstUse<SharedDecomposition> eigen;
    OnFirstUse<SharedNegativePart> negative;
    OnFirstUse<SharedNegativePart> positive;
    OnFirstUse<double> shift;
  };
  [[nodiscard]] Part& part(Index which);
  [[nodiscard]] bool is_symmetric(Index which);

  const TrainingSet& train_;
  std::vector<std::unique_ptr<Part>> parts_;
  OnFirstUse<std::unique_ptr<Average>> average_;
};

}  // namespace kith
