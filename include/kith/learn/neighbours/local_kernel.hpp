// SPDX-License-Identifier: Apache-2.0
// The k x k block of similarities among the neighbours of a query, decomposed, with the query's own
// similarities to them: what kri and krr work on ([TR] 4.3).
#pragma once

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
template <class A>
void archive(Archived<A, TrainingPairs>& pairs, A& archiver);

/// The model of a method that does all of its work on the neighbours of a query.
template <class Settings>
struct LocalModel {
  Voters voters;
  TrainingPairs pairs;
  Settings settings;
};
/// Whether they are of the same table in memory, so that one look at its numbers does for both.
template <class Settings>
[[nodiscard]] bool same_numbers(const LocalModel<Settings>& a, const LocalModel<Settings>& b) {
  const auto* first = std::get_if<DenseBlock>(&a.pairs.block);
  const auto* second = std::get_if<DenseBlock>(&b.pairs.block);
  return first != nullptr && second != nullptr && first->rows() == second->rows() &&
         first->values().data() == second->values().data();
}
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
[[nodiscard]] LocalKernel local_kernel(Matrix block, const Neighbours& neighbours);

}  // namespace kith
