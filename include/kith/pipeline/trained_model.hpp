// SPDX-License-Identifier: Apache-2.0
// From tables and labels to a model that predicts: what `kith train` and `kith predict` do, for C++
// and Python as well.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/condition/pipeline.hpp"
#include "kith/data/labels.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/learn/registry.hpp"
#include "kith/model/model_file.hpp"

namespace kith {

/// A table as it was given, of the samples that are trained on.
struct GivenTable {
  Block block;
  std::string score_column;  ///< as of SimilaritySet
  bool zeros = false;        ///< pairs that are not known are 0
};

/// A training set under the input rules, with the rules for new rows.
struct PreparedTraining {
  TrainingSet set;
  std::vector<InputRule> rules;      ///< one per matrix
  std::vector<std::string> applied;  ///< in words
  std::vector<Index> kept;           ///< positions among the given samples
  /// One per matrix where they were measured from raw data; empty: they were read.
  std::vector<MeasureRule> measures{};
  std::vector<std::string> feature_names{};  ///< of vectors, where they have names
  std::vector<GivenTable> given{};           ///< one per matrix where they were read
};

/// The settings with from-distance=auto settled for a method: negative where it goes by neighbours,
/// which are then the nearest by the distances as given; else double-centre.
[[nodiscard]] InputSettings settled(InputSettings settings, const AnySettings& method);

/// Every matrix under the input rules; where there are several, errors name the matrix.
[[nodiscard]] std::vector<ConditionedInput> condition_all(std::span<const SimilaritySet> sets,
                                                          const InputSettings& settings,
                                                          const RunContext& ctx,
                                                          MissingPairs missing);

/// Conditions every matrix; samples dropped from one are dropped from all. `labels` are of the
/// given samples. `missing` says whether the method can do without some pairs (takes_missing_pairs
/// in the registry). Throws Error unless at least two classes are left.
[[nodiscard]] PreparedTraining prepare_training(const MatchedSets& matrices, const Labels& labels,
                                                const InputSettings& settings, RunContext& ctx,
                                                MissingPairs missing = MissingPairs::kRefused);

/// The same from raw data, which are matched: each matrix is measured by these samples and labels
/// alone.
[[nodiscard]] PreparedTraining prepare_training(std::span<const RawMatrix> matrices,
                                                const Labels& labels, const InputSettings& settings,
                                                RunContext& ctx);

/// The vectors alone, for a method that learns from them. Throws Error unless there are at least
/// two classes and a feature.
[[nodiscard]] PreparedTraining prepare_training(const VectorData& samples, const Labels& labels);

/// The rows and columns `samples` of every table, in that order.
[[nodiscard]] MatchedSets select_samples(const MatchedSets& matrices,
                                         std::span<const Index> samples);

/// The method of a record whose model is a committee (pipeline/committee).
inline constexpr std::string_view kCommittee = "auto";

struct TrainedModel {
  ModelRecord record;
  AnyModel model;
  /// Of a committee; `model` is then nothing. Rows reach the members as they were given.
  std::vector<TrainedModel> members{};
  /// Of a member: which matrix of the committee each of its own is.
  std::vector<Index> sources{};

  [[nodiscard]] bool is_committee() const { return !members.empty(); }
};

/// Which matrices of its committee a member uses, by their names there.
[[nodiscard]] std::vector<std::string> names_of_matrices(const TrainedModel& member,
                                                         const ModelRecord& committee);

/// The members of a committee as they were asked for, such as "svm-flip"; none of other models.
[[nodiscard]] std::vector<std::string> names_of_members(const TrainedModel& model);

struct Training {
  TrainedModel model;
  FitInfo info;
  double seconds = 0;  ///< the fit alone
};

[[nodiscard]] Training train(const PreparedTraining& prepared, const MethodChoice& choice,
                             RunContext& ctx);
/// The same with what was computed for other fits of `prepared.set`.
[[nodiscard]] Training train(const PreparedTraining& prepared, const MethodChoice& choice,
                             SharedWork& work, RunContext& ctx);

/// The evidence of a fit as `train --json` prints it: objective, gap, residual, status, ...
[[nodiscard]] Json certificate_json(const FitInfo& info);
/// How the fit of a model ended, as its file says; none: the file does not say.
struct TrainingEnd {
  SolveStatus status = SolveStatus::kSolved;
  double gap = std::numeric_limits<double>::quiet_NaN();  ///< NaN where there is none
};
[[nodiscard]] std::optional<TrainingEnd> training_end(const ModelRecord& record);
/// The settings of the method that a model was fitted with, without its priors and costs.
[[nodiscard]] AnySettings method_settings(const ModelRecord& record);
/// Whether predictions of the model come with probabilities.
[[nodiscard]] bool has_probabilities(const TrainedModel& model);
/// Whether it averages similarities to and from training samples, where they differ.
[[nodiscard]] bool takes_both_directions(const TrainedModel& model);
/// Whether predictions need the self-similarity of each new sample.
[[nodiscard]] bool needs_self_similarities(const TrainedModel& model);
/// Of each matrix of the record whether that is so of it; never of measured ones, since new samples
/// bring their own.
[[nodiscard]] std::vector<bool> self_similarities_needed(const TrainedModel& model);
/// What `info --json` prints: what a model is, what it needs, and what it was trained on.
[[nodiscard]] Json model_json(const TrainedModel& model);
/// What `train --json` prints of a fit.
[[nodiscard]] Json training_json(const Training& training);

void save(const TrainedModel& model, const std::string& path);
[[nodiscard]] TrainedModel load_trained(const std::string& path);
/// What `save` would write, and the same back; `name` stands for the file in messages.
[[nodiscard]] std::string trained_bytes(const TrainedModel& model);
[[nodiscard]] TrainedModel load_trained_bytes(std::string_view bytes, const std::string& name);

/// Raw rows as read, one QueryMatrix per training matrix, over `record.positions` in that order (or
/// over all training samples); vectors for a model that takes them. Conditions rows, predicts, and
/// applies priors and costs. `names`, one per matrix or none, are for errors.
[[nodiscard]] Prediction predict(const TrainedModel& model, QueryBlock raw, RunContext& ctx,
                                 std::span<const QueryNames> names = {});

}  // namespace kith
