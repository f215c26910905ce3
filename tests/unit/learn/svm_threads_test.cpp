// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kith/learn/svm/feature_svm.hpp"
#include "kith/learn/svm/kernel_svm.hpp"
#include "kith/model/archive.hpp"
#include "support/training_sets.hpp"

namespace kith::svm_threads_test {
namespace {

template <class Model>
std::string bytes_of(const Model& model) {
  TensorFile file;
  ArchiveWriter writer(file, "");
  archive(model, static_cast<SavingArchive&>(writer));
  return tensor_file_bytes(file, {"test", 1});
}

/// Models along `path` and their predictions on 1, 2 and 7 threads.
template <class Settings>
void expect_same_bytes(const std::vector<Settings>& path) {
  using Model = typename MethodTraits<Settings>::Model;
  const test::Sample sample = test::make_sample(60, 20, 4, 61);
  const TrainingSet set = test::training_set(sample.S, sample.classes);
  std::vector<std::string> models;
  std::vector<Prediction> predictions;
  for (const int threads : {1, 2, 7}) {
    RunContext ctx;
    ctx.threads = threads;
    SharedWork work(set);
    std::size_t at = 0;
    for (const Fitted<Model>& fitted : fit_path(work, std::span<const Settings>(path), ctx)) {
      const std::string bytes = bytes_of(fitted.model);
      const QueryBlock queries =
          over_needed(fitted.model, test::query_block(sample.rows, sample.self));
      const Prediction prediction = predict(fitted.model, queries, ctx);
      if (threads == 1) {
        models.push_back(bytes);
        predictions.push_back(prediction);
      }
      EXPECT_EQ(bytes, models[at]) << threads << " threads, setting " << at;
      EXPECT_EQ(prediction.scores, predictions[at].scores);
      EXPECT_EQ(prediction.probabilities, predictions[at].probabilities);
      ++at;
    }
  }
}

TEST(SvmThreads, GiveTheSameBytes) {
  expect_same_bytes<SvmSettings>(
      {{.cost = 0.1},
       {.cost = 10},
       {.scope = SpectrumScope::kPair},
       {.spectrum = Spectrum::kNone},
       {.spectrum = Spectrum::kShift},
       {.spectrum = Spectrum::kFlip, .test_treatment = Treatment::kAugmented}});
}

TEST(FeatureSvmThreads, GiveTheSameBytes) {
  expect_same_bytes<FeatureSvmSettings>({{.cost = 0.1},
                                         {.cost = 10},
                                         {.cost = 1, .prototypes = 9},
                                         {.kernel = FeatureKernel::kRbf, .gamma = 0.01},
                                         {.kernel = FeatureKernel::kRbf, .gamma = 1}});
}

}  // namespace
}  // namespace kith::svm_threads_test
