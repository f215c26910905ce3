// SPDX-License-Identifier: Apache-2.0
// Fitted models as Python holds them.
#pragma once

#include <memory>
#include <string>

#include "arrays.hpp"
#include "kith/condition/input_settings.hpp"
#include "kith/pipeline/trained_model.hpp"
#include "running.hpp"
#include "samples.hpp"

namespace kith::python {

/// A fitted model with what `train --json` says of its fit; empty text for one read from a file.
/// Shared with predictions that are still at work.
struct Model {
  std::shared_ptr<const TrainedModel> trained;
  std::string fit_json;
};

/// Throws Error naming a setting that is no rule of the input.
[[nodiscard]] InputSettings input_settings(const Texts& given);

[[nodiscard]] Model fitted(Training training);

/// A model that looks at training similarities when it predicts gets its own: the caller may change
/// the array.
[[nodiscard]] Model on_its_own(Model model, const Borrowed& borrowed);

}  // namespace kith::python
