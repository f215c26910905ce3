// SPDX-License-Identifier: Apache-2.0
// The label of least expected cost, where a method has probabilities and the user gave priors or
// costs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/core/settings.hpp"
#include "kith/learn/learner.hpp"

namespace kith {

/// As a user types them: a file, or "a=0.2,b=0.8" and "a:b=5" (a sample of a called b costs 5).
struct DecisionSettings {
  std::string priors;
  std::string costs;
};
void describe(DecisionSettings& settings, FieldVisitor& field);
/// Their names: a method with probabilities takes them beside its own.
[[nodiscard]] std::vector<std::string> decision_names();
[[nodiscard]] bool is_of_decision(std::string_view key);
/// Adds those that were given to the settings of a record; `without_decision` takes them out.
void add_decision(const DecisionSettings& settings, Json& record);
[[nodiscard]] Json without_decision(Json record);

/// Priors over the classes and costs(truth, said), both ready to use. Empty: neither was given, and
/// the method's own label stands.
struct DecisionRule {
  Vector priors;           ///< that the user expects among new samples; sums to 1
  Vector training_shares;  ///< of each class among the training samples
  Matrix costs;            ///< 0 on the diagonal and 1 elsewhere unless stated

  [[nodiscard]] bool empty() const { return priors.size() == 0 && costs.size() == 0; }
};

/// Throws Error naming the entry, the class that does not exist or the number that breaks its rule.
[[nodiscard]] DecisionRule make_decision_rule(const DecisionSettings& settings,
                                              const Labels& labels);

/// Reweights the probabilities by priors / training shares and sets the labels of least expected
/// cost (ties: the more probable class, then the first). Throws Error when there are no
/// probabilities.
void apply(const DecisionRule& rule, Prediction& prediction);

}  // namespace kith
