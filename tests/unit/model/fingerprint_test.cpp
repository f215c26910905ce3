// SPDX-License-Identifier: Apache-2.0
#include "kith/model/fingerprint.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace kith::fingerprint_test {
namespace {

TrainingSet small_set() {
  RowMatrix values(2, 2);
  values << 1, 0.5, 0.25, 1;
  TrainingSet train;
  train.matrices = {{"s", DenseBlock(values)}};
  train.labels = {{0, 1}, {"a", "b"}};
  train.ids = {"x", "y"};
  return train;
}

SparseBlock sparse() { return {2, {0, 1, 2}, {0, 1}, {1, 1}, Absent::kMissing}; }

TEST(Fingerprint, IsTheSameForACopyAndForOtherNamesOfMatrices) {
  TrainingSet other = small_set();
  other.matrices[0].name = "renamed";
  EXPECT_EQ(fingerprint(other), fingerprint(small_set()));
}

TEST(Fingerprint, ReadsAViewAsItReadsOwnedNumbers) {
  const std::vector<double> numbers = {1, 0.5, 0.25, 1};
  TrainingSet view = small_set();
  view.matrices[0].block = DenseBlock(numbers.data(), 2, 2, nullptr);
  EXPECT_EQ(fingerprint(view), fingerprint(small_set()));
}

TEST(Fingerprint, ChangesWithAnythingAFitLooksAt) {
  const std::vector<std::function<void(TrainingSet&)>> changes = {
      [](TrainingSet&) {},
      [](TrainingSet& t) { t.matrices.push_back(t.matrices[0]); },
      [](TrainingSet& t) {
        RowMatrix turned = std::get<DenseBlock>(t.matrices[0].block).values().transpose();
        t.matrices[0].block = DenseBlock(turned);
      },
      [](TrainingSet& t) { t.matrices[0].block = sparse(); },
      [](TrainingSet& t) {
        SparseBlock zero = sparse();
        zero.absent = Absent::kZero;
        t.matrices[0].block = zero;
      },
      [](TrainingSet& t) {
        t.labels.ids = {1, 0};
      },
      [](TrainingSet& t) {
        t.labels.names = {"a", "c"};
      },
      [](TrainingSet& t) {
        t.ids = {"xy", ""};
      },
      [](TrainingSet& t) { t.ids.clear(); },
      [](TrainingSet& t) { t.weights = Vector::Ones(2); },
  };
  std::vector<std::uint64_t> seen;
  for (const auto& change : changes) {
    TrainingSet train = small_set();
    change(train);
    const std::uint64_t value = fingerprint(train);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), value), 0) << "change " << seen.size();
    seen.push_back(value);
  }
}

TEST(Fingerprint, OfRawSamplesChangesWithEachOfThem) {
  const StringData strings{.source = "s.tsv", .ids = {"a", "b"}, .values = {"oak", "elm"}};
  const std::uint64_t known = fingerprint(RawData(strings));
  StringData renamed = strings;
  renamed.source = "moved.tsv";
  EXPECT_EQ(fingerprint(RawData(renamed)), known);
  StringData other = strings;
  other.values = {"oake", "lm"};
  EXPECT_NE(fingerprint(RawData(other)), known);
  other = strings;
  other.ids.clear();
  EXPECT_NE(fingerprint(RawData(other)), known);
  const SequenceData same_words{.source = "s.tsv", .ids = strings.ids, .values = strings.values};
  EXPECT_NE(fingerprint(RawData(same_words)), known);
  const RawData one_by_two = SetData{.source = "", .ids = {}, .values = {{"x", "y"}}};
  const RawData two_by_one = SetData{.source = "", .ids = {}, .values = {{"x"}, {"y"}}};
  EXPECT_NE(fingerprint(one_by_two), fingerprint(two_by_one));
}

}  // namespace
}  // namespace kith::fingerprint_test
