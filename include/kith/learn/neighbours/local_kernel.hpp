// SPDX-License-Identifier: Apache-2.0
// The k x k block of similarities among the neighbours of a query, decomposed, with the query's own
// similarities to them: what kri and krr work on ([TR] 4.3).
#pragma once

#include <functional>
#include <span>

#include "kith/condition/spectrum.hpp"
#include "kith/learn/neighbours/voters.hpp"
#include "kith/learn/treatment.hpp"

namespace kith {

/// Similarities among the training samples, dense or sparse, both directions averaged. A pair that
/// is not known counts as 0 here.
struct TrainingPairs {
  Block block;

  /// Exactly symmetric.
  [[nodiscard]] Matrix among(std::span<const Index> samples) const;
};
[[nodiscard]] TrainingPairs training_pairs(SharedWork& work);
template <class A>
void archive(Archived<A, TrainingPairs>& pairs, A& archiver);

/// The model of a method that does all of its work on the neighbours of a query.
template <class Settings>
struct LocalModel {
  Voters voters;
  TrainingPairs pairs;
  Settings settings;
};
/// The parts that these models have beside settings of their own.
template <class Model, class A>
void archive_local(Model& model, A& archiver) {
  archive(model.voters, archiver);
  archive(model.pairs, archiver);
  archiver("neighbours", model.settings.neighbours);
  archiver("spectrum", model.settings.spectrum);
  archiver("test_treatment", model.settings.test_treatment);
}

/// block = U diag(lambda) U'; the query's similarities in that basis.
struct LocalKernel {
  Vector lambda;
  Matrix U;
  Vector rotated;

  /// Eigenvalues of the mended block: as they are for none, or clip, flip and shift.
  [[nodiscard]] Vector eigenvalues(Spectrum spectrum) const;
  /// U' times the query's similarities under the block's own rule: unchanged for shift and none.
  /// [TR] does not say whether a query is treated like the block, and it decides the result
  /// (docs/methods/krr.md).
  [[nodiscard]] Vector treated(Spectrum spectrum, Treatment treatment) const;
};
[[nodiscard]] LocalKernel local_kernel(const TrainingPairs& pairs, const Neighbours& neighbours);
/// The same with the block of the neighbours given.
[[nodiscard]] LocalKernel local_kernel(Matrix block, const Neighbours& neighbours);

/// Finds the neighbours of each query once, decomposes the block of each distinct count once, and
/// hands it to `body` with the steps (positions in `counts`) that asked for that count. Queries run
/// in parallel; `body` writes to slots of its query alone.
using NeighbourhoodFunction =
    std::function<void(Index query, const Neighbours& chosen, const LocalKernel& kernel,
                       std::span<const std::size_t> steps)>;
void for_each_neighbourhood(const Voters& voters, const TrainingPairs& pairs,
                            std::span<const Index> counts, const QueryBlock& queries,
                            const NeighbourhoodFunction& body, const RunContext& ctx);

}  // namespace kith
