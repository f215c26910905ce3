// SPDX-License-Identifier: Apache-2.0
// Nested cross-validation of many methods on one data set ([TR] 6.2, [CGR] 4.2), into a store.
//
// A unit of work is one method on one inner fold of one partition, or its refit and test on that
// partition. Units of the same fold share one conditioned training block, one decomposition, one
// neighbour order (SharedWork); folds run in parallel. What a unit finds depends on data, protocol,
// partition, fold and its own settings alone, so threads, other methods, and a run that was killed
// and went on leave no trace in it.
//
// A unit is stored as soon as it is finished. Where several inputs are searched, a fold goes
// through them one after another, and all methods see an input before the next is conditioned: only
// one conditioned block and its decompositions are in memory. The units of a fold are then finished
// while its last input is at hand, and a run that is killed loses, of each fold that was at work,
// the methods that had not come to their end there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kith/condition/input_settings.hpp"
#include "kith/condition/pipeline.hpp"
#include "kith/core/context.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/evaluate/grid.hpp"
#include "kith/evaluate/partitions.hpp"
#include "kith/evaluate/sizes.hpp"
#include "kith/evaluate/store.hpp"
#include "kith/measure/raw_matrix.hpp"

namespace kith {

/// The tables as read, with their labels and what is to be done to them inside each training part.
struct ExperimentData {
  MatchedSets matrices;
  Labels labels;
  InputSettings input;
  std::vector<bool> symmetric;  ///< of each table: its two directions are the same
  /// Of each table that is dense and symmetric: itself, for what it says of its blocks; else null.
  std::vector<std::shared_ptr<WholeMatrix>> whole{};
  /// Of each table (none here: of no table): there where it is measured anew on each training part,
  /// by the labels of that part alone. The table has then seen every label; it shows what breaks an
  /// input rule, and no fit sees it.
  std::vector<std::optional<RawMatrix>> by_part{};
  /// The samples as vectors, for methods that learn from them; there may be no table beside them.
  Block vectors{};
  /// The tables that other settings of the measure give, where these are searched.
  struct Alternative {
    std::vector<std::pair<std::string, std::string>> measure;
    MatchedSets matrices;
    std::vector<bool> symmetric;
  };
  std::vector<Alternative> alternatives{};
  std::vector<std::string> not_measured{};  ///< settings that a budget left out, in words
  double measuring = 0;  ///< seconds that the slowest way to measure the tables took
  /// There where samples were dropped: all that were given.
  struct Given {
    std::vector<std::string> ids;  ///< or none
    Index samples = 0;
    std::vector<Index> kept;  ///< positions of those that are left, ascending
  };
  std::optional<Given> given{};

  /// Of table m, or nothing.
  [[nodiscard]] const RawMatrix* measured_by_part(std::size_t m) const {
    return m < by_part.size() && by_part[m] ? &*by_part[m] : nullptr;
  }

  [[nodiscard]] Index samples() const { return labels.size(); }
};

/// `missing = drop-sample` is done here, once: which pairs are known depends on no label and no
/// method. Throws Error unless at least two classes are left.
[[nodiscard]] ExperimentData make_experiment_data(MatchedSets matrices, const Labels& labels,
                                                  const InputSettings& input, RunContext& ctx);

/// The same from raw samples, which are matched. A measure that learns from no label is measured
/// once; one that does (value-difference) on each training part.
[[nodiscard]] ExperimentData make_experiment_data(std::span<const RawMatrix> matrices,
                                                  const Labels& labels, const InputSettings& input,
                                                  RunContext& ctx);

/// Vectors alone, for methods that learn from them.
[[nodiscard]] ExperimentData make_experiment_data(const VectorData& samples, const Labels& labels);

/// Partitions of the samples that were given, without those that were dropped. Throws Error where
/// check_partitions does, of the samples given or of those left.
[[nodiscard]] std::vector<Partition> without_dropped(std::vector<Partition> partitions,
                                                     const ExperimentData& data);
/// Throws Error naming partition, group and samples where a group of the data is parted.
void check_groups(std::span<const Partition> partitions, const ExperimentData& data);
/// Draws the inner folds of those partitions of the samples given that have none, by `draw_folds`.
void draw_missing_folds(std::vector<Partition>& partitions, const ExperimentData& data,
                        const PartitionSettings& settings, const RngStreams& rng);
/// A file names the samples that were given, by id or position: what it says of dropped ones is
/// passed over when it is read, and they stand in no part when it is written. Folds that the file
/// leaves open (`train`) are drawn by `draw_folds`. Throws as check_groups does.
[[nodiscard]] std::vector<Partition> read_partitions(const std::string& path,
                                                     const ExperimentData& data,
                                                     const PartitionSettings& settings = {},
                                                     const RngStreams& rng = RngStreams(1));
void write_partitions(const std::string& path, std::span<const Partition> partitions,
                      const ExperimentData& data);

/// The tables as a whole under the input rules, which no fit sees. Throws Error in the words of
/// `train` where one breaks a rule (a missing pair, a diagonal that cannot be scaled by), or where
/// a candidate does not learn from what there is: one table or several, vectors or none.
/// Transforms, which break no rule and cost n^3, are left out unless they are asked for.
enum class Transforms { kLeftOut, kApplied };
std::vector<ConditionedInput> check_input(const ExperimentData& data,
                                          std::span<const Candidate> candidates,
                                          Transforms transforms, RunContext& ctx);

/// What the pairs are and where they come from: of each table its name, source and kind, and how it
/// was measured from `samples`, of which there are none or one per table.
[[nodiscard]] Json matrices_json(const ExperimentData& data, std::span<const RawMatrix> samples);

/// XXH64 over the raw numbers, vectors, labels and ids, and over raw samples and the settings of
/// their measure where training parts are measured from them.
[[nodiscard]] std::uint64_t fingerprint(const ExperimentData& data);

/// Repeats, folds and grids by the name of a paper.
enum class ProtocolName { kKith, kTr, kCgr, kCy, kKtbb, kZgzz };
constexpr auto enum_names(ProtocolName /*of*/) {
  return named("kith", "tr", "cgr", "cy", "ktbb", "zgzz");
}
struct Protocol {
  ProtocolName name = ProtocolName::kKith;
  PartitionSettings partitions;
};
/// What the protocol changes in the input (cgr: scale to [0, 1]), in the numbers of partitions and
/// folds (cy: 10 and 5; ktbb: 5 and 5, of equal classes; zgzz: 10 and 5, 30 % for testing) and in
/// the grids (cy: cost 1; ktbb: costs up to 1e3).
void apply(ProtocolName protocol, InputSettings& input);
/// What of the input is searched: nothing by the papers, everything by `kith`. The scale cosine
/// only where new rows bring their self-similarities, as raw samples do, or others that are said to
/// (`self`): a model must not ask for what its user may not have.
[[nodiscard]] InputSearch input_search(ProtocolName protocol, std::span<const RawMatrix> samples,
                                       bool self = false);
void apply(ProtocolName protocol, PartitionSettings& partitions);
void apply(ProtocolName protocol, Candidate& candidate);

/// Everything `evaluate` needs to know beside the data.
struct ExperimentPlan {
  std::string name;  ///< of the data set
  Protocol protocol;
  std::vector<Partition> partitions;
  /// The same with some of their training samples (draw_sizes): a learning curve. None: there is no
  /// such curve.
  std::vector<SizedPartitions> sizes{};
  std::vector<Candidate> candidates{};
  Json about = Json::object();
  std::vector<std::string> doubts{};  ///< about the input, which the store keeps among its notes
  bool portraits = false;             ///< whether the store is to have pictures of the tables
  bool partitions_given = false;  ///< by a file: fractions and strata are then not ours to state
  /// Where the work begins. Results do not depend on it; processes that share a store begin at
  /// different places, so that they rarely do the same.
  std::size_t first_task = 0;
};

/// A method that could not be fitted to a training part: its first error, which ends its units of
/// that size but nobody else's.
struct UnitFailure {
  std::string name;
  int partition = 0;
  std::string message;
  std::string size{};  ///< of the training part; empty: all of it
};
/// What `evaluate --json` says of them: [{"method", "partition" (counted from 1), "message"}, ...],
/// with the "size" where only some training samples were used.
[[nodiscard]] Json failures_json(std::span<const UnitFailure> failures);

struct ExperimentRun {
  std::int64_t experiment = 0;        ///< its number in the store
  std::vector<UnitFailure> failures;  ///< in the order of the candidates
};

/// Adds what is new to the store and computes what is missing in it. Interrupted (Error
/// kInterrupted), everything finished is in the store. Throws before any work where the whole table
/// breaks an input rule.
[[nodiscard]] ExperimentRun run_experiment(const ExperimentData& data, const ExperimentPlan& plan,
                                           Store& store, NewData rule, RunContext& ctx);

}  // namespace kith
