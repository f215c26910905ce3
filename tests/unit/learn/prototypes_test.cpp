// SPDX-License-Identifier: Apache-2.0
// Prototypes as [TR] Theorem 2 has them: the machine is trained on the other samples.
#include "kith/learn/svm/prototypes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "kith/learn/svm/feature_svm.hpp"
#include "kith/learn/svm/lp_machine.hpp"
#include "kith/learn/svm/p_svm.hpp"
#include "support/fitting.hpp"

namespace kith::prototypes_test {
namespace {

using test::decide;
using test::fit_once;
using test::make_sample;
using test::Sample;
using test::training_set;

constexpr Index kSamples = 36;
constexpr Index kCount = 8;

/// Three classes; the prototypes weigh `weight`.
TrainingSet weighted_set(const Sample& sample, double weight) {
  TrainingSet set = training_set(sample.S, sample.classes);
  set.weights = Vector::Ones(kSamples);
  set.weights(choose_prototypes(kCount, kSamples, {})).setConstant(weight);
  return set;
}

/// Decisions of new samples where prototypes weigh 1 and where they weigh 9.
template <class Settings>
std::pair<Matrix, Matrix> by_weight(Settings settings, Multiclass multiclass, TrainOn rule) {
  const Sample sample = make_sample(kSamples, 10, 3, 5);
  settings.prototypes = kCount;
  settings.train_on = rule;
  settings.multiclass = multiclass;
  settings.probability = false;
  return {decide(fit_once(weighted_set(sample, 1), settings).model, sample.rows),
          decide(fit_once(weighted_set(sample, 9), settings).model, sample.rows)};
}

template <class Settings>
void expect_only_others_have_a_say(const Settings& settings) {
  for (const Multiclass rule : {Multiclass::kOneVsOne, Multiclass::kOneVsRest}) {
    const auto [light, heavy] = by_weight(settings, rule, TrainOn::kOthers);
    EXPECT_EQ(light, heavy);
    const auto [all_light, all_heavy] = by_weight(settings, rule, TrainOn::kAll);
    EXPECT_GT((all_light - all_heavy).norm(), 1e-3 * all_light.norm());
    EXPECT_GT((all_light - light).norm(), 1e-3 * light.norm());
  }
}

TEST(Prototypes, HaveNoSayWhereMachinesAreTrainedOnTheOthers) {
  expect_only_others_have_a_say(FeatureSvmSettings{.cost = 0.1});
  expect_only_others_have_a_say(LpMachineSettings{.cost = 1});
  expect_only_others_have_a_say(PSvmSettings{.epsilon = 0.01});
}

TEST(Prototypes, AreNoSupportsOfAMachineWithAKernelOnTheOthers) {
  const Sample sample = make_sample(kSamples, 10, 3, 5);
  const FeatureSvmSettings settings{.kernel = FeatureKernel::kRbf,
                                    .gamma = 0.05,
                                    .prototypes = kCount,
                                    .train_on = TrainOn::kOthers};
  const FeatureSvmModel model = fit_once(weighted_set(sample, 1), settings).model;
  EXPECT_LE(model.supports.rows(), kSamples - kCount);
  EXPECT_EQ(model.columns, choose_prototypes(kCount, kSamples, {}));
}

TEST(Prototypes, AreTrainedOnWhereASideHasNoOtherSample) {
  const Sample sample = make_sample(kSamples, 5, 3, 5);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const auto all = fit_once(set, LpMachineSettings{});
  const auto others = fit_once(set, LpMachineSettings{.train_on = TrainOn::kOthers});
  EXPECT_EQ(decide(others.model, sample.rows), decide(all.model, sample.rows));
  EXPECT_TRUE(all.info.notes.empty());
  ASSERT_EQ(others.info.notes.size(), 1U);
  EXPECT_THAT(others.info.notes.front(), testing::HasSubstr("a side has no others"));
  // A single sample that is no prototype: its class is trained on it alone.
  const std::vector<Index> prototypes = choose_prototypes(kSamples - 1, kSamples, {});
  const std::vector<BinaryTask> tasks = binary_tasks(set.labels);
  const TrainedOn trained = trained_on(tasks, TrainOn::kOthers, prototypes, set.labels);
  EXPECT_EQ(trained.kept.size(), 3U);
  for (const BinaryTask& task : trained.tasks) EXPECT_GE(task.size(), 13);
  EXPECT_EQ(trained_on(tasks, TrainOn::kOthers, std::vector<Index>{0, 1}, set.labels).kept.size(),
            0U);
}

}  // namespace
}  // namespace kith::prototypes_test
