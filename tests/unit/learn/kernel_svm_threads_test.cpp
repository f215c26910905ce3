// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kith/learn/svm/kernel_svm.hpp"
#include "kith/model/archive.hpp"
#include "support/training_sets.hpp"

namespace kith {
namespace {

std::string bytes_of(SvmModel model) {
  TensorFile file;
  ArchiveWriter writer(file, "");
  archive(model, writer);
  return tensor_file_bytes(file, {"test", 1});
}

TEST(SvmThreads, GiveTheSameBytes) {
  const test::Sample sample = test::make_sample(60, 20, 4, 61);
  const TrainingSet set = test::training_set(sample.S, sample.classes);
  const std::vector<SvmSettings> path = {
      {.cost = 0.1},
      {.cost = 10},
      {.scope = SpectrumScope::kPair},
      {.spectrum = Spectrum::kNone},
      {.spectrum = Spectrum::kShift},
      {.spectrum = Spectrum::kFlip, .test_treatment = SvmTreatment::kAugmented}};
  std::vector<std::string> models;
  std::vector<Prediction> predictions;
  for (const int threads : {1, 2, 7}) {
    RunContext ctx;
    ctx.threads = threads;
    SharedWork work(set);
    std::size_t at = 0;
    for (const Fitted<SvmModel>& fitted : fit_path(work, path, ctx)) {
      const std::string bytes = bytes_of(fitted.model);
      const Prediction prediction =
          predict(fitted.model, test::query_block(sample.rows, sample.self), ctx);
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

}  // namespace
}  // namespace kith
