// SPDX-License-Identifier: Apache-2.0
// Which methods are compared how, what is starred, and what stands beside the means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kith/evaluate/results.hpp"
#include "support/errors.hpp"

namespace kith::comparison_test {
namespace {

using test::message_of;
using testing::HasSubstr;

/// Five times as many samples as in a test part, three of four of class b; each partition tests a
/// fifth in turn.
ExperimentRecord experiment(int partitions, const std::string& protocol, Index tested) {
  const Index samples = 5 * tested;
  ExperimentRecord record;
  record.name = "made";
  record.protocol = {{"name", protocol}};
  record.labels.names = {"a", "b"};
  for (Index i = 0; i < samples; ++i) record.labels.ids.push_back(i % 4 == 0 ? 0 : 1);
  for (int p = 0; p < partitions; ++p) {
    Partition partition;
    for (Index i = 0; i < samples; ++i) {
      (i / tested == p % 5 ? partition.test : partition.train).push_back(i);
    }
    partition.fold_of.assign(partition.train.size(), 0);
    record.partitions.push_back(partition);
  }
  return record;
}

class Made {
 public:
  explicit Made(int partitions, const std::string& protocol = "kith", Index tested = 40)
      : record(experiment(partitions, protocol, tested)),
        number(store.add_experiment(record, NewData::kAppend)) {}

  /// A method that misses the first `wrong` test samples of each partition, beginning at `first`.
  void add(const std::string& name, const std::vector<int>& wrong, std::size_t first = 0) {
    const std::int64_t candidate = store.add_candidate(number, {.name = name, .method = "svm"});
    for (std::size_t p = 0; p < wrong.size(); ++p) {
      TestResult result;
      const std::vector<Index>& test = record.partitions[p].test;
      for (std::size_t i = 0; i < test.size(); ++i) {
        const int truth = record.labels.ids[static_cast<std::size_t>(test[i])];
        const bool missed = i >= first && i < first + static_cast<std::size_t>(wrong[p]);
        result.prediction.labels.push_back(missed ? 1 - truth : truth);
      }
      store.put({candidate, static_cast<int>(p), kTestFold}, result);
    }
  }
  [[nodiscard]] ExperimentResult result(SignificanceTest test = SignificanceTest::kAuto,
                                        Metric metric = Metric::kError) const {
    return summarise(store, number, metric, "", test);
  }

  Store store{":memory:"};
  ExperimentRecord record;
  std::int64_t number;
};

TEST(Comparison, ChoosesTheTestByProtocolPartitionsAndMetric) {
  const auto chosen = [](int partitions, const char* protocol, Metric metric) {
    return chosen_test(SignificanceTest::kAuto, metric, static_cast<std::size_t>(partitions),
                       protocol, "made");
  };
  EXPECT_EQ(chosen(20, "kith", Metric::kError), SignificanceTest::kCorrectedT);
  EXPECT_EQ(chosen(20, "tr", Metric::kError), SignificanceTest::kWilcoxon);
  EXPECT_EQ(chosen(1, "kith", Metric::kError), SignificanceTest::kMcnemar);
  EXPECT_EQ(chosen(1, "kith", Metric::kAuc), SignificanceTest::kNone);
  EXPECT_THAT(message_of([] {
                (void)chosen_test(SignificanceTest::kMcnemar, Metric::kError, 3, "kith", "made");
              }),
              HasSubstr("corrected-t"));
  EXPECT_THAT(message_of([] {
                (void)chosen_test(SignificanceTest::kCorrectedT, Metric::kError, 1, "kith", "made");
              }),
              HasSubstr("mcnemar"));
}

TEST(Comparison, FindsMethodsThatAreClearlyWorseAndKeepsTheOthers) {
  Made made(10);
  made.add("best", {2, 3, 2, 1, 2, 3, 2, 1, 2, 2});
  made.add("close", {3, 2, 3, 1, 2, 2, 3, 2, 2, 1});
  made.add("worse", {14, 15, 16, 15, 14, 15, 16, 14, 15, 16});
  const ExperimentResult result = made.result();
  EXPECT_EQ(result.test, SignificanceTest::kCorrectedT);
  EXPECT_TRUE(result.could_tell);
  EXPECT_TRUE(result.methods[0].leads && result.methods[0].best);
  EXPECT_TRUE(result.methods[1].best);
  EXPECT_FALSE(result.methods[2].best);
  const Difference& worse = *result.methods[2].to_best;
  EXPECT_NEAR(worse.estimate.mean, 13.0 / 40, 1e-12);
  EXPECT_GT(worse.estimate.low, 0.2);
  EXPECT_LT(worse.estimate.high, 0.45);
  EXPECT_DOUBLE_EQ(worse.p_adjusted, std::min(1.0, 2 * worse.p_value));
  EXPECT_GT(worse.bayes->above, 0.999);
  const Difference& close = *result.methods[1].to_best;
  EXPECT_LT(close.estimate.low, 0);
  EXPECT_GT(close.estimate.high, 0);
  ASSERT_EQ(result.pairs.size(), 3U);
  EXPECT_NEAR(result.pairs[1].difference.estimate.mean, -worse.estimate.mean, 1e-15);
}

TEST(Comparison, ComparesTheSameSamplesOnOnePartition) {
  Made made(1);
  made.add("best", {2});
  made.add("same samples", {20}, 20);
  made.add("a few more", {4});
  const ExperimentResult result = made.result();
  EXPECT_EQ(result.test, SignificanceTest::kMcnemar);
  EXPECT_TRUE(result.could_tell);
  EXPECT_FALSE(result.methods[1].best) << "20 of 40 missed, 2 by the best, none by both";
  EXPECT_TRUE(result.methods[2].best) << "2 samples say nothing";
  PairedErrors pairs{.both = 0, .first_only = 20, .second_only = 2, .neither = 18};
  EXPECT_DOUBLE_EQ(result.methods[1].to_best->p_value, mcnemar_mid_p(pairs));
  const Interval interval = paired_interval(pairs);
  EXPECT_DOUBLE_EQ(result.methods[1].to_best->estimate.low, interval.low);
  EXPECT_DOUBLE_EQ(result.methods[1].to_best->estimate.high, interval.high);
}

TEST(Comparison, StarsNothingWhereNothingCouldBeSignificant) {
  for (const auto& [partitions, protocol, words] :
       {std::tuple(3, "tr", "at least 5 partitions, and there are 3"),
        std::tuple(1, "tr", "at least 5 partitions, and there is one"),
        std::tuple(2, "kith", "at least 3 partitions, and there are 2")}) {
    Made made(partitions, protocol);
    made.add("best", std::vector<int>(static_cast<std::size_t>(partitions), 1));
    made.add("hopeless", std::vector<int>(static_cast<std::size_t>(partitions), 39));
    const ExperimentResult result = made.result();
    EXPECT_FALSE(result.could_tell);
    EXPECT_TRUE(result.methods[0].leads);
    EXPECT_FALSE(result.methods[0].best);
    EXPECT_FALSE(result.methods[1].best);
    EXPECT_THAT(result.test_note, HasSubstr(words));
  }
  Made early(20);
  early.add("best", {1, 1});
  early.add("hopeless", {39, 38});
  EXPECT_FALSE(early.result().could_tell);
  EXPECT_THAT(early.result().test_note, HasSubstr("only 2 of 20 partitions are finished"));
  Made few(1, "kith", 4);
  few.add("best", {0});
  few.add("hopeless", {4});
  EXPECT_FALSE(few.result().could_tell) << "4 of 4 against 0 of 4 is p = 0.0625";
  EXPECT_THAT(few.result().test_note, HasSubstr("too few test samples for 2 methods"));
  Made alone(10);
  alone.add("only", {1, 2, 1, 2, 1, 2, 1, 2, 1, 2});
  EXPECT_FALSE(alone.result().could_tell);
  EXPECT_FALSE(alone.result().methods[0].best);
  EXPECT_EQ(alone.result().test_note, "");
}

TEST(Comparison, StarsNothingWhileABetterMethodIsUnfinished) {
  Made made(20);
  made.add("poor", std::vector<int>(20, 20));
  made.add("poorer", std::vector<int>(20, 39));
  EXPECT_TRUE(made.result().could_tell);
  EXPECT_TRUE(made.result().methods[0].best);
  made.add("good", std::vector<int>(12, 1));
  const ExperimentResult result = made.result();
  EXPECT_TRUE(result.methods[0].leads);
  EXPECT_FALSE(result.could_tell);
  for (const MethodResult& method : result.methods) EXPECT_FALSE(method.best) << method.name;
  EXPECT_THAT(result.test_note, HasSubstr("good has a better mean than poor, on 12 of 20"));
  Made behind(20);
  behind.add("good", std::vector<int>(20, 1));
  behind.add("poor", std::vector<int>(12, 20));
  EXPECT_TRUE(behind.result().methods[0].best) << "who is behind does not matter";
}

TEST(Comparison, TakesTheTestThatIsAskedFor) {
  Made made(10);
  made.add("best", {2, 3, 2, 1, 2, 3, 2, 1, 2, 2});
  made.add("close", {3, 3, 3, 2, 2, 3, 3, 2, 2, 2});
  const ExperimentResult wilcoxon = made.result(SignificanceTest::kWilcoxon);
  EXPECT_FALSE(wilcoxon.methods[1].best);
  EXPECT_THAT(wilcoxon.test_note, HasSubstr("far more often"));
  EXPECT_TRUE(made.result().methods[1].best) << "partitions overlap; so little is no proof";
  const ExperimentResult none = made.result(SignificanceTest::kNone);
  EXPECT_FALSE(none.could_tell);
  EXPECT_FALSE(none.methods[0].best);
  EXPECT_TRUE(std::isnan(none.methods[1].to_best->p_value));
  EXPECT_FALSE(std::isnan(none.methods[1].to_best->estimate.low)) << "the interval stays";
  EXPECT_THAT(none.test_note, HasSubstr("No test was asked for"));
}

TEST(Comparison, HasTheErrorOfTheMajorityClass) {
  Made made(5);
  made.add("a", {1, 2, 3, 4, 5});
  const ExperimentResult result = made.result();
  EXPECT_EQ(result.baseline.name, "b");
  const auto of = [&](Metric metric) {
    return result.baseline.metrics[static_cast<std::size_t>(metric)];
  };
  EXPECT_NEAR(of(Metric::kError), 0.25, 1e-12);
  EXPECT_NEAR(of(Metric::kBalancedError), 0.5, 1e-12);
  EXPECT_NEAR(of(Metric::kLogLoss), -0.25 * std::log(0.25) - 0.75 * std::log(0.75), 1e-12);
  EXPECT_NEAR(of(Metric::kAuc), 0.5, 1e-12);
}

TEST(Comparison, CountsSamplesThatWereNeverTested) {
  Made made(7);
  made.add("a", {1, 2, 3});  // partitions 0 to 2 are finished: samples 0 to 119
  const ExperimentResult result = made.result();
  EXPECT_EQ(result.tested.least, 0);
  EXPECT_EQ(result.tested.most, 1);
  EXPECT_EQ(result.tested.never, 80);
  Made whole(7);
  whole.add("a", {1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(whole.result().tested.least, 1);
  EXPECT_EQ(whole.result().tested.most, 2);
  EXPECT_EQ(whole.result().tested.never, 0);
}

TEST(Comparison, HasTheRecallOfEachClassWithItsInterval) {
  Made made(5);
  made.add("a", {4, 4, 4, 4, 4});  // one of the first four samples is of class a
  const std::vector<Estimate> recall = made.result().methods[0].recall;
  ASSERT_EQ(recall.size(), 2U);
  EXPECT_NEAR(recall[0].mean, 0.9, 1e-12);  // 1 of 10
  EXPECT_NEAR(recall[1].mean, 0.9, 1e-12);  // 3 of 30
  for (const Estimate& one : recall) {
    EXPECT_LT(one.low, one.mean);
    EXPECT_GT(one.high, one.mean);
    EXPECT_LE(one.high, 1);
  }
}

TEST(Comparison, IsInTheJson) {
  Made made(10);
  made.add("best", {2, 3, 2, 1, 2, 3, 2, 1, 2, 2});
  made.add("worse", {14, 15, 16, 15, 14, 15, 16, 14, 15, 16});
  const ExperimentResult result = made.result();
  const Json json = results_json(made.store, {result});
  EXPECT_EQ(json.at("test").at("name"), "corrected-t");
  EXPECT_EQ(json.at("test").at("possible"), true);
  EXPECT_EQ(json.at("baseline").at("class"), "b");
  EXPECT_EQ(json.at("test_counts").at("never"), 0);
  const Json& worse = json.at("methods").at(1);
  EXPECT_EQ(worse.at("p_value"), result.methods[1].to_best->p_value);
  EXPECT_EQ(worse.at("p_adjusted"), result.methods[1].to_best->p_adjusted);
  EXPECT_EQ(worse.at("difference").at("low"), result.methods[1].to_best->estimate.low);
  EXPECT_GT(worse.at("bayes").at("worse"), 0.99);
  EXPECT_EQ(worse.at("recall").size(), 2U);
  EXPECT_EQ(json.at("methods").at(0).at("leads"), true);
  EXPECT_TRUE(json.at("methods").at(0).at("difference").is_null());
  EXPECT_EQ(json.at("pairs").at(0).at("methods"), Json({0, 1}));
}

}  // namespace
}  // namespace kith::comparison_test
