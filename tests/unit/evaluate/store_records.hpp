// SPDX-License-Identifier: Apache-2.0
// Records to put into stores, and their comparison bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kith/evaluate/store.hpp"

namespace kith {

/// Six samples of two classes, two partitions.
inline ExperimentRecord some_experiment(const std::string& name = "voting") {
  ExperimentRecord record;
  record.name = name;
  record.fingerprint = 0xfedcba9876543210U;
  record.protocol = {{"name", "tr"}, {"repeats", 2}, {"folds", 2}, {"test-fraction", 0.2}};
  record.input = {{"symmetrise", "auto"}, {"shift", 0.1}};
  record.about = {{"command", "kith evaluate"}};
  record.labels = {.ids = {0, 1, 0, 1, 0, 1}, .names = {"no", "yes"}};
  record.labels.groups = {.ids = {0, 1, 1, 0, 2, 2}, .names = {"p1", "p2", "p3"}};
  record.ids = {"a", "b", "c", "d", "e", "f"};
  record.partitions = {{{0, 1, 2, 3}, {4, 5}, {0, 0, 1, 1}}, {{2, 3, 4, 5}, {0, 1}, {1, 0, 1, 0}}};
  return record;
}

inline CandidateRecord some_candidate(const std::string& name = "svm") {
  return {.name = name,
          .method = "svm",
          .settings = {{"spectrum", "clip"}, {"tolerance", 1e-6}},
          .grid = Json::array({{{"field", "cost"}, {"values", {0.1, 1, 10}}, {"simpler", "low"}}})};
}

/// Numbers that are lost first where something is not kept bit for bit.
inline std::vector<double> awkward_numbers() {
  using Limits = std::numeric_limits<double>;
  return {0.1,
          -0.0,
          Limits::infinity(),
          -Limits::infinity(),
          Limits::max(),
          Limits::min(),
          Limits::denorm_min(),
          1.0 / 3,
          Limits::quiet_NaN(),
          std::bit_cast<double>(0xfff8000000000abcU)};
}

/// The same for numbers of single precision.
inline std::vector<double> awkward_singles() {
  using Limits = std::numeric_limits<float>;
  return {0.1F,
          -0.0F,
          Limits::infinity(),
          -Limits::infinity(),
          Limits::max(),
          Limits::min(),
          Limits::denorm_min(),
          1.0F / 3,
          Limits::quiet_NaN(),
          std::bit_cast<float>(0xffc00abcU)};
}

inline TestResult some_test_result() {
  TestResult result;
  result.chosen = {{"cost", 0.1}, {"spectrum", "clip"}};
  result.inner_losses = awkward_numbers();
  result.prediction.labels = {1, 0};
  result.prediction.scores = Matrix(2, 5);
  const std::vector<double> numbers = awkward_singles();
  for (Index i = 0; i < 10; ++i) {
    result.prediction.scores(i % 2, i / 2) = numbers[static_cast<std::size_t>(i)];
  }
  result.prediction.probabilities = Matrix::Constant(2, 2, 0.5);
  result.certificate = {{"status", "solved"}, {"gap", 1e-9}};
  result.seconds = 0.25;
  return result;
}

template <class Numbers>
std::vector<std::uint64_t> bits(const Numbers& numbers) {
  std::vector<std::uint64_t> out;
  for (Index i = 0; i < static_cast<Index>(numbers.size()); ++i) {
    out.push_back(std::bit_cast<std::uint64_t>(numbers.data()[i]));
  }
  return out;
}

inline void expect_same(const Matrix& a, const Matrix& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  EXPECT_EQ(bits(a), bits(b));
}

inline void expect_same(const TestResult& a, const TestResult& b) {
  EXPECT_EQ(a.chosen.dump(), b.chosen.dump());
  EXPECT_EQ(bits(a.inner_losses), bits(b.inner_losses));
  EXPECT_EQ(a.prediction.labels, b.prediction.labels);
  expect_same(a.prediction.scores, b.prediction.scores);
  expect_same(a.prediction.probabilities, b.prediction.probabilities);
  EXPECT_EQ(a.certificate.dump(), b.certificate.dump());
  EXPECT_EQ(a.seconds, b.seconds);
}

inline void expect_same(const ExperimentRecord& a, const ExperimentRecord& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.fingerprint, b.fingerprint);
  EXPECT_EQ(a.protocol.dump(), b.protocol.dump());
  EXPECT_EQ(a.input.dump(), b.input.dump());
  EXPECT_EQ(a.about.dump(), b.about.dump());
  EXPECT_EQ(a.labels.ids, b.labels.ids);
  EXPECT_EQ(a.labels.names, b.labels.names);
  EXPECT_EQ(a.labels.groups.ids, b.labels.groups.ids);
  EXPECT_EQ(a.labels.groups.names, b.labels.groups.names);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.partitions, b.partitions);
}

/// What unit (partition, fold) of every test holds: recognisable, so that a mixed-up row is found.
inline FoldResult fold_result_of(const UnitKey& key) {
  return {{static_cast<double>(key.candidate), static_cast<double>(key.partition),
           static_cast<double>(key.fold), 0.1},
          0.5};
}

}  // namespace kith
