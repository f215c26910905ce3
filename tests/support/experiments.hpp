// SPDX-License-Identifier: Apache-2.0
// Experiments on one made table, for the tests of `evaluate`.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/evaluate/experiment.hpp"
#include "support/training_sets.hpp"

namespace kith::test {

inline MatchedSets tables_of(const Matrix& S) {
  SimilaritySet set;
  set.name = "made";
  set.block = DenseBlock(RowMatrix(S));
  return {.sets = {set}, .ids = {}};
}

inline ExperimentData data_of(const Matrix& S, std::span<const int> classes,
                              InputSettings input = {}) {
  RunContext ctx;
  return make_experiment_data(tables_of(S), numbered_labels(classes), input, ctx);
}

inline ExperimentPlan plan_of(const ExperimentData& data,
                              std::initializer_list<const char*> methods,
                              PartitionSettings partitions = {.repeats = 3, .folds = 4}) {
  ExperimentPlan plan;
  plan.name = "made";
  plan.protocol.partitions = partitions;
  plan.partitions = draw_partitions(data.labels, partitions, RngStreams(1));
  for (const char* method : methods) plan.candidates.push_back(parse_candidate(method));
  return plan;
}

/// Every unit of every candidate as text, times left out.
inline std::string everything(const Store& store, std::int64_t experiment) {
  std::string text;
  const std::vector<Partition> partitions = store.experiment(experiment).partitions;
  for (const std::int64_t candidate : store.candidates(experiment)) {
    text += store.candidate(candidate).name + "\n";
    for (int p = 0; p < static_cast<int>(partitions.size()); ++p) {
      for (int f = 0; f < partitions[static_cast<std::size_t>(p)].folds(); ++f) {
        text += Json(store.fold_result({candidate, p, f})->losses).dump() + "\n";
      }
      const TestResult result = *store.test_result({candidate, p, kTestFold});
      text += result.chosen.dump() + result.certificate.dump() +
              Json(result.prediction.labels).dump() + "\n";
      const Matrix& scores = result.prediction.scores;
      for (Index i = 0; i < scores.size(); ++i) text += Json(scores.data()[i]).dump() + " ";
    }
  }
  return text;
}

inline std::string run(const ExperimentData& data, const ExperimentPlan& plan, int threads = 1) {
  Store store(":memory:");
  RunContext ctx;
  ctx.threads = threads;
  return everything(store, run_experiment(data, plan, store, NewData::kRefuse, ctx).experiment);
}

/// Asks for a stop at the report of this number.
struct StopAfter final : ProgressSink {
  explicit StopAfter(int reports) : left(reports) {}
  void progress(std::string_view, double, double, std::string_view) override {
    if (--left == 0) source.request_stop();
  }
  void message(std::string_view) override {}
  StopSource source;
  int left;
};

/// The run ends at that report; what it has finished is in the store.
inline void run_interrupted(const ExperimentData& data, const ExperimentPlan& plan, Store& store,
                            int reports) {
  StopAfter sink(reports);
  RunContext ctx;
  ctx.sink = &sink;
  ctx.stop = StopToken(sink.source);
  EXPECT_THROW((void)run_experiment(data, plan, store, NewData::kRefuse, ctx), Error);
}

}  // namespace kith::test
