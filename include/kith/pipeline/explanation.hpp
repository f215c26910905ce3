// SPDX-License-Identifier: Apache-2.0
// Which training samples decided a prediction, as a user knows them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kith/learn/explanation.hpp"
#include "kith/pipeline/trained_model.hpp"

namespace kith {

/// `predict` with the training samples that decided each prediction. Throws Error where the method
/// cannot name them.
///
/// Of a committee, votes: each member has the same share of the vote, 1 / members, and divides it
/// among the samples by the magnitude of what they contribute to its own explanation. A term counts
/// for the class of its sample where it speaks for that class, else against it. Members that cannot
/// name samples are left out; Error where all are.
struct ExplainedPrediction {
  Prediction prediction;
  std::vector<Explanation> explanations;  ///< one per query
  std::vector<std::string> left_out{};    ///< "ridge: why it names none" of members
};
[[nodiscard]] ExplainedPrediction predict_and_explain(const TrainedModel& model, QueryBlock raw,
                                                      RunContext& ctx,
                                                      std::span<const QueryNames> names = {});

/// A training sample as a user knows it.
struct ExplainedSample {
  Index position = 0;      ///< among the given ones, counted from 0
  std::string id;          ///< empty: samples are known by position
  std::string class_name;  ///< empty: the sample is no column of the model
};
[[nodiscard]] ExplainedSample explained_sample(const ModelRecord& record, Index sample);

/// The `count` largest contributions: what `predict --explain COUNT --json` prints. Samples without
/// ids are numbers, the first of which is `counted_from`.
[[nodiscard]] Json explanation_json(const ModelRecord& record, const Explanation& explanation,
                                    Index count, Index counted_from = 1);

}  // namespace kith
