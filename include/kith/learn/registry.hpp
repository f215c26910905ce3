// SPDX-License-Identifier: Apache-2.0
// Every method there is, by name and as values of one type. Methods are listed in method_list.hpp;
// flags, JSON, model files, grids, contract tests and documentation follow from that list.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/core/boxed.hpp"
#include "kith/learn/decision.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"

namespace kith {

namespace trace {
struct ConvexLoss;
}
struct SettingsVariant;  // both defined in method_variants.hpp
struct ModelVariant;
/// The settings of one method, whichever it is. `*settings` is a std::variant.
using AnySettings = Boxed<SettingsVariant>;
/// The model of one method, whichever it is. `*model` is a std::variant.
using AnyModel = Boxed<ModelVariant>;
extern template class Boxed<SettingsVariant>;
extern template class Boxed<ModelVariant>;

/// What `kith methods` shows.
struct MethodInfo {
  std::string name;
  std::string title;  ///< the same with initials in capitals
  std::string paper;
  std::string summary;
  bool probabilities = false;
  bool several_matrices = false;     ///< learns from more than one matrix
  bool learns_from_vectors = false;  ///< and from no matrix
  bool explains = false;             ///< names the training samples that decided a prediction
  std::vector<FieldInfo> fields;
  std::vector<GridAxis> grid;
};
[[nodiscard]] std::vector<MethodInfo> all_methods();

/// A method with its settings, as a user asked for it.
struct MethodChoice {
  std::string name;    ///< as typed: "svm-clip"
  std::string method;  ///< of the registry: "svm"
  AnySettings settings;
  DecisionSettings decision;
  std::vector<std::string> fixed;  ///< settings that were given and are not to be searched
};

/// "svm", or "svm-clip": the method with the setting that has a choice of that name. Throws Error
/// naming the closest method otherwise.
[[nodiscard]] MethodChoice parse_method(std::string_view name);
/// The same with settings as a user typed them, "key=value" each. A setting that is given twice, or
/// by the name and again, is refused: one of the two would be ignored.
[[nodiscard]] MethodChoice parse_method(std::string_view name,
                                        std::span<const std::string> assignments);
/// Whether parse_method would take it.
[[nodiscard]] bool is_method(std::string_view name);
/// Sets one field (or `priors`, `costs`) from what a user typed.
void set(MethodChoice& choice, std::string_view key, std::string_view text);

/// The function of loss own. Throws Error(kInvalidArgument) where the method or its loss is
/// another.
void set_own_loss(AnySettings& settings, std::shared_ptr<const trace::ConvexLoss> loss);

[[nodiscard]] std::string_view method_name(const AnySettings& settings);
[[nodiscard]] MethodInfo method_info(const AnySettings& settings);
/// Whether it learns from a sparse matrix in which some pairs are not known.
[[nodiscard]] bool takes_missing_pairs(const AnySettings& settings);
/// Whether its models keep the similarities between training samples.
[[nodiscard]] bool keeps_pairs(const AnySettings& settings);
/// Whether it averages similarities to and from training samples, where they differ; others use
/// those *to* them alone.
[[nodiscard]] bool takes_both_directions(const AnySettings& settings);
/// The field of that role with its value, where the method has one.
[[nodiscard]] std::optional<FieldInfo> field_with(const AnySettings& settings, FieldRole role);
/// The role of a field; kOwn where there is no such field.
[[nodiscard]] FieldRole role_of(const AnySettings& settings, std::string_view field);
/// Switches probabilities and bounds that only certify, where the method has them. No wish of the
/// user: nothing is fixed by it.
void switch_evidence(MethodChoice& choice, bool on);
/// Leaves out a costly proof that was asked for.
void leave_out_proof(AnySettings& settings);
/// Switches probabilities on where the method can have them and they are a setting of it.
void switch_probability(MethodChoice& choice);
/// Whether it goes by the neighbours of a sample: those most similar to it.
[[nodiscard]] bool takes_neighbours(const AnySettings& settings);
/// Whether it learns from vectors, and from no matrix.
[[nodiscard]] bool learns_from_vectors(const AnySettings& settings);
/// Whether a fit chooses by samples that it holds out itself.
[[nodiscard]] bool tunes_itself(const AnySettings& settings);
/// Throws Error naming the method, and those that do, where it learns from one matrix and several
/// were given; and where it learns from vectors and there are none, or from a matrix and there are
/// vectors alone.
void check_input_kind(const MethodChoice& choice, std::size_t matrices, bool vectors);
[[nodiscard]] Json settings_json(const AnySettings& settings);
/// The settings of `method` with the fields of `json`; throws on unknown methods and fields.
[[nodiscard]] AnySettings settings_of(std::string_view method, const Json& json);
/// An empty model of `method`, to be filled by `archive`.
[[nodiscard]] AnyModel model_of(std::string_view method);

[[nodiscard]] Fitted<AnyModel> fit(SharedWork& work, const AnySettings& settings, RunContext& ctx);
/// All settings of one method; shares what that method can share. Throws Error(kInvalidArgument)
/// where a model holds NaN or infinity and a prediction needs a number.
[[nodiscard]] FittedPath<AnyModel> fit_path(SharedWork& work, Path<AnySettings> path,
                                            RunContext& ctx);
[[nodiscard]] Prediction predict(const AnyModel& model, const QueryBlock& queries, RunContext& ctx);
/// One prediction per model, all of one method; a lazy method shares its work between them. The
/// queries have all training samples, of which each model is given those it needs.
[[nodiscard]] std::vector<Prediction> predict_path(std::span<const AnyModel> models,
                                                   const QueryBlock& queries, RunContext& ctx);
/// Queries over all training samples, as predictions of the model take them.
[[nodiscard]] QueryBlock over_needed(const AnyModel& model, const QueryBlock& queries);
/// Whether predictions need the self-similarity of each new sample.
[[nodiscard]] bool needs_self_similarities(const AnyModel& model);
/// The training samples whose similarities a prediction needs: those that the model names, none for
/// a method that learns from vectors, else all `samples` of the training set.
[[nodiscard]] std::vector<Index> needed_columns(const AnyModel& model, Index samples);

/// Throws Error(kInvalidArgument) naming the methods that can, where models of this one cannot name
/// the training samples that decided a prediction.
void check_explains(const AnySettings& settings);
/// Of each query, with its label. Throws as check_explains does, and where the model cannot, though
/// others of its method can.
[[nodiscard]] std::vector<Explanation> explain(const AnyModel& model, const QueryBlock& queries,
                                               std::span<const int> labels, RunContext& ctx);

void archive(const AnyModel& model, SavingArchive& archiver);
void archive(AnyModel& model, LoadingArchive& archiver);
/// Whether its models have a learned_similarity.
[[nodiscard]] bool learns_metric(const AnySettings& settings);
/// The similarities that the learned metric gives each pair of the vectors. Throws
/// Error(kInvalidArgument) where the method learns none.
[[nodiscard]] Matrix learned_similarity(const AnyModel& model, const Block& vectors,
                                        const RunContext& ctx);

}  // namespace kith
