// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/details.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "store_records.hpp"

namespace kith::details_test {
namespace {

/// Candidate 1 of a store with the six samples of store_records.hpp; partition p was answered with
/// `said`, and its probabilities are those of `probabilities`.
class Details : public testing::Test {
 protected:
  Details() : record_(some_experiment()) {
    const std::int64_t experiment = store_.add_experiment(record_);
    CandidateRecord candidate = some_candidate();
    candidate.grid =
        Json::array({{{"field", "neighbours"},
                      {"values", {"1", "2", "64", "128"}},
                      {"simpler", "larger"},
                      {"at_most_samples", true}},
                     {{"field", "ridge"}, {"values", {"0.1", "1"}}, {"simpler", "larger"}}});
    candidate_ = store_.add_candidate(experiment, candidate);
  }

  void put(int partition, const std::vector<int>& said, const std::vector<double>& losses,
           const Matrix& probabilities = {}) {
    TestResult result;
    result.prediction.labels = said;
    result.prediction.probabilities = probabilities;
    result.inner_losses = losses;
    result.certificate = {{"status", "solved"}, {"gap", 1e-9}, {"iterations", 7}};
    result.seconds = 1;
    store_.put({candidate_, partition, kTestFold}, result);
    store_.put({candidate_, partition, 0}, FoldResult{{1}, 0.5});
  }

  MethodDetails details() { return method_details(store_, candidate_, record_); }

  ExperimentRecord record_;
  Store store_{":memory:"};
  std::int64_t candidate_ = 0;
};

TEST_F(Details, CountSamplesOverFinishedPartitions) {
  put(0, {1, 1}, {});  // samples 4 (of class 0) and 5 (of class 1)
  const MethodDetails found = details();
  EXPECT_EQ(found.tested, (std::vector<int>{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(found.wrong, (std::vector<int>{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(found.said, (std::vector<int>{-1, -1, -1, -1, 1, 1}));
  ASSERT_EQ(found.partitions.size(), 1U);
  EXPECT_EQ(found.partitions[0].seconds, 1.5);
  EXPECT_EQ(found.partitions[0].iterations, 7);
  EXPECT_TRUE(std::isnan(found.partitions[0].kkt_residual));
}

TEST_F(Details, ClassesThatAreEquallyFrequentAreATie) {
  record_.partitions[1] = record_.partitions[0];
  put(0, {1, 1}, {});
  put(1, {0, 1}, {});
  EXPECT_EQ(details().said, (std::vector<int>{-1, -1, -1, -1, 2, 1}));  // 2: of two classes none
}

TEST_F(Details, ValidationIsTheLossPerHeldOutSampleOverTheCappedGrid) {
  // Two samples are left where a fold is held out: 2, 64 and 128 neighbours are one value.
  put(0, {0, 1}, {4, 3, 2, 1});
  put(1, {0, 1}, {0, 1, 2, 3});
  const MethodDetails found = details();
  ASSERT_EQ(found.axes.size(), 2U);
  EXPECT_EQ(found.axes[0].values, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(found.axes[1].field, "ridge");
  EXPECT_EQ(found.validation, (std::vector<double>{0.5, 0.5, 0.5, 0.5}));
}

TEST_F(Details, LossesThatDoNotFitTheGridAreLeftOut) {
  put(0, {0, 1}, {4, 3});
  EXPECT_TRUE(details().validation.empty());
}

TEST_F(Details, CalibrationComparesWhatWasSaidWithWhatWasRight) {
  Matrix probabilities(2, 2);
  // Right for sample 4, wrong for sample 5; exact in the single precision of a store.
  probabilities << 0.9375, 0.0625, 0.96875, 0.03125;
  put(0, {0, 0}, {}, probabilities);
  const std::vector<CalibrationBin> bins = details().calibration;
  ASSERT_EQ(bins.size(), 10U);
  EXPECT_EQ(bins[9].count, 2);
  EXPECT_DOUBLE_EQ(bins[9].said, 0.953125);
  EXPECT_DOUBLE_EQ(bins[9].right, 0.5);
  EXPECT_EQ(bins[5].count, 0);
}

TEST_F(Details, WithoutProbabilitiesThereIsNoCalibration) {
  put(0, {0, 0}, {});
  EXPECT_TRUE(details().calibration.empty());
}

}  // namespace
}  // namespace kith::details_test
