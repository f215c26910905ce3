// SPDX-License-Identifier: Apache-2.0
// `mixture-sda` ([TR] (19)): similarity discriminant analysis with several prototypes per class.
#pragma once

#include <string>

#include "kith/learn/generative/max_entropy.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct MixtureSdaSettings {
  Index components = 2;
  std::string class_components = "same";  ///< or "CLASS:COUNT/CLASS:COUNT", the c_h of (19)
  SupportRule support = SupportRule::kAuto;
};
void describe(MixtureSdaSettings& settings, FieldVisitor& field);

/// A mixture of exponentials, each of the similarity to a prototype of its own.
struct SdaMixture {
  Vector log_weights;
  Vector lambda;
  Vector log_z;
  SolveInfo info;           ///< objective: the log-likelihood reached
  double largest_fall = 0;  ///< of the log-likelihood from one step to the next; 0: it never fell
};
/// Expectation and maximisation. `U`: samples x prototypes, similarities in units of the support.
/// Means are kept off the ends by half a sample's share or the distance of the average, without
/// which the likelihood on an interval has no bound.
[[nodiscard]] SdaMixture fit_mixture(const MatrixRef& U, const Support& support,
                                     const RunContext& ctx);

/// How many components each class is to have. Throws Error(kInvalidArgument) for a text of another
/// form, a class that there is not, one that is named twice and a count below 1.
[[nodiscard]] std::vector<Index> component_counts(const MixtureSdaSettings& settings,
                                                  const Labels& labels);

struct MixtureSdaModel {
  std::vector<Index> counts;      ///< training samples of each class
  std::vector<Index> columns;     ///< the prototypes, ascending
  std::vector<Index> prototypes;  ///< the class each of them stands for
  Support support;
  Matrix log_weights;  ///< columns x classes
  Matrix lambda;
  Matrix log_z;
};

[[nodiscard]] FittedPath<MixtureSdaModel> fit_path(SharedWork& work, Path<MixtureSdaSettings> path,
                                                   RunContext& ctx);
[[nodiscard]] Prediction predict(const MixtureSdaModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
[[nodiscard]] std::vector<Index> needed_columns(const MixtureSdaModel& model);
template <class A>
void archive(Archived<A, MixtureSdaModel>& model, A& archiver) {
  archiver("counts", model.counts);
  archiver("columns", model.columns);
  archiver("prototypes", model.prototypes);
  archive(model.support, archiver);
  archiver("log_weights", model.log_weights);
  archiver("lambda", model.lambda);
  archiver("log_z", model.log_z);
}

template <>
struct MethodTraits<MixtureSdaSettings> : MethodDefaults<MixtureSdaModel> {
  static constexpr std::string_view name = "mixture-sda";
  static constexpr std::string_view title = "mixture-SDA";
  static constexpr std::string_view paper = "[TR] (19)";
  static constexpr std::string_view summary =
      "similarity discriminant analysis with several prototypes for each class";
  static Grid grid(const MixtureSdaSettings& /*settings*/) {
    return {{.field = "components",
             .values = {"1", "2", "3", "4", "5", "6", "7", "8"},
             .simpler = Simpler::kSmaller}};
  }
};

}  // namespace kith
