// SPDX-License-Identifier: Apache-2.0
// A method fitted and asked once, for tests that look at what comes out.
#pragma once

#include "kith/core/context.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/shared_work.hpp"
#include "support/training_sets.hpp"

namespace kith::test {

template <class Settings>
auto fit_once(const TrainingSet& set, const Settings& settings) {
  SharedWork work(set);
  RunContext ctx;
  return fit(work, settings, ctx);
}

/// Of queries over all training samples, or over those that the model needs.
template <class Model>
Prediction predict_once(const Model& model, const QueryBlock& queries) {
  RunContext ctx;
  return predict(model, over_needed(model, queries), ctx);
}

/// Of the similarities to training samples.
template <class Model>
Prediction predict_once(const Model& model, const Matrix& rows) {
  return predict_once(model, query_block(rows));
}

template <class Model>
Matrix decide(const Model& model, const QueryBlock& queries) {
  RunContext ctx;
  return decision_values(model, over_needed(model, queries), ctx);
}

template <class Model>
Matrix decide(const Model& model, const Matrix& rows) {
  return decide(model, query_block(rows));
}

}  // namespace kith::test
