// SPDX-License-Identifier: Apache-2.0
// Similarities as features ([TR] 3): a sample is the vector of its similarities to training
// samples, all of them or a random few, the prototypes ([TR] 3.1).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/enum_names.hpp"
#include "kith/data/views.hpp"
#include "kith/learn/multiclass/binary_tasks.hpp"

namespace kith {

/// The samples that a machine over prototypes is trained on.
enum class TrainOn {
  kAll,     ///< the prototypes among them
  kOthers,  ///< all but the prototypes: what Theorem 2 of [TR] bounds the error of
};
constexpr auto enum_names(TrainOn /*of*/) { return named("all", "others"); }

/// The two settings of a method whose features are similarities to prototypes.
template <class Settings>
void describe_prototypes(Settings& settings, FieldVisitor& field) {
  field("prototypes", settings.prototypes, at_least(1), "all", kPrototypesHelp);
  field("train-on", settings.train_on,
        "the samples that the machine is trained on: all of them, or the others, which are no "
        "prototypes ([TR] Theorem 2)");
}

/// Positions of `count` random training samples, ascending; all of them where there is no count or
/// there are no more. A smaller count takes a subset of what a larger one takes.
[[nodiscard]] std::vector<Index> choose_prototypes(std::optional<Index> count, Index samples,
                                                   const RunContext& ctx);

/// What a machine over prototypes is trained on.
struct TrainedOn {
  std::vector<BinaryTask> tasks;
  std::vector<std::string> kept;  ///< names of tasks with a side that has prototypes alone
};
/// The tasks without the samples in `prototypes` (ascending), where they are trained on the others.
/// A side that has no others keeps its own.
[[nodiscard]] TrainedOn trained_on(Tasks tasks, TrainOn rule, std::span<const Index> prototypes,
                                   const Labels& labels);
/// Says so.
void note_kept(const TrainedOn& trained, FitInfo& info);

/// Those columns of a block. Nothing is copied where they are all of its columns.
[[nodiscard]] DenseBlock columns_of(const DenseBlock& block, std::span<const Index> columns);

}  // namespace kith
