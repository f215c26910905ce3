// SPDX-License-Identifier: Apache-2.0
// One training part with its held-out samples, conditioned from the raw tables. Everything that is
// measured (ranges, spectra, centroids) is measured on the training part; a held-out sample is only
// ever a query.
#pragma once

#include <span>
#include <vector>

#include "kith/evaluate/experiment.hpp"
#include "kith/pipeline/trained_model.hpp"

namespace kith::detail {

struct FoldPart {
  PreparedTraining training;
  QueryBlock queries;
  std::vector<int> truth;  ///< classes of the held-out samples

  FoldPart(const ExperimentData& data, const InputVariant& input, std::span<const Index> train,
           std::span<const Index> held_out, MissingPairs missing, RunContext& ctx);
};

}  // namespace kith::detail
