// SPDX-License-Identifier: Apache-2.0
// What is compared, and on what, as Python hands it over.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "kith/evaluate/experiment.hpp"
#include "samples.hpp"

namespace kith::python {

/// (training samples, test samples, inner fold of each training sample)
using GivenPartition = std::tuple<std::vector<Index>, std::vector<Index>, std::vector<int>>;

/// What is compared and how, as Python hands it over.
struct GivenPlan {
  std::string name;
  std::string protocol;
  std::vector<std::string> methods;
  std::vector<std::string> among;  ///< what committees are made of; empty: the usual methods
  std::map<std::string, Texts> among_estimators;  ///< their own settings, by member
  std::vector<std::string> doubts;                ///< about the input
  std::map<std::string, Texts> estimators;  ///< by candidate: their own settings, others come first
  std::map<std::string, Texts> settings;    ///< by candidate, "*" for all
  std::map<std::string, std::map<std::string, std::vector<std::string>>> grids;  ///< likewise
  Texts partition_settings;
  std::vector<GivenPartition> partitions;  ///< empty: drawn; folds of one that has none are drawn
  std::string partition_file;              ///< in place of `partitions`; empty: none
  std::vector<std::string> sizes;          ///< "20%" or "50", of a learning curve; empty: none
  std::string test = "auto";               ///< of significance
};

/// What is learned from: pairs as they are, pairs that are measured, or vectors, which may stand
/// beside measures.
struct GivenData {
  std::vector<GivenMatrix> matrices;
  std::vector<GivenMeasure> measures;
  std::optional<GivenSamples> vectors;
  std::vector<std::string> ids;  ///< of `matrices`; samples bring their own
  bool ordered = true;           ///< the rows of the first matrix have an order of their own
};

/// The same without Python.
struct OwnData {
  MatchedSets sets;
  std::vector<RawMatrix> samples;
  std::optional<VectorData> vectors;

  [[nodiscard]] Index size() const {
    if (!samples.empty()) return size_of(samples.front().samples);
    return vectors ? rows(vectors->values) : sets.sets.front().rows();
  }
  [[nodiscard]] std::size_t tables() const { return samples.size() + sets.sets.size(); }
};

/// `borrowed` as in matched_sets.
[[nodiscard]] OwnData own_data(const GivenData& given, Borrowed* borrowed = nullptr);

/// As the command line makes it of --similarity, --data and --measure; takes the matrices of `own`.
[[nodiscard]] ExperimentData experiment_data(OwnData& own, const Labels& labels,
                                             const InputSettings& input, RunContext& ctx);

/// The methods of the plan, or `usual` where it names none, with its settings and grids.
[[nodiscard]] std::vector<Candidate> candidates_of(const GivenPlan& plan, std::string_view usual,
                                                   ProtocolName protocol, std::size_t matrices);

}  // namespace kith::python
