// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "store_records.hpp"
#include "support/files.hpp"

namespace kith::store_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kTest = kTestFold;

TEST(Store, GivesBackAnExperimentAfterItWasClosed) {
  const TempFolder folder;
  const std::string path = folder.path("s.kith");
  const ExperimentRecord record = some_experiment();
  std::int64_t number = 0;
  {
    Store store(path);
    EXPECT_EQ(store.path(), path);
    EXPECT_THAT(store.experiments(), IsEmpty());
    number = store.add_experiment(record);
  }
  const Store store(path, StoreAccess::kReadOnly);
  EXPECT_THAT(store.experiments(), ElementsAre(number));
  expect_same(store.experiment(number), record);
}

TEST(Store, KeepsNamesOfAnyLanguageAndOddCharacters) {
  const TempFolder folder;
  ExperimentRecord record = some_experiment("\xe6\x9d\xb1\xe4\xba\xac 'quoted\" \n\t;--");
  record.labels.names = {"", "\xce\xb1\xce\xb2\xce\xb3"};
  record.ids = {"", "\"", "'", "\\", "\x01\x7f", std::string("nul\0l", 5)};
  CandidateRecord candidate = some_candidate("svm \xc3\xa9 'x'");
  candidate.settings = {{"priors", "\xc3\xa4=0.5"}, {"z", 1}, {"a", 2}};
  const std::string path = folder.path("st\xc3\xb6re %41?mode=ro#x.kith");
  {
    Store store(path);
    store.add_candidate(store.add_experiment(record), candidate);
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  const Store store(path, StoreAccess::kReadOnly);
  const std::int64_t number = store.experiments().at(0);
  expect_same(store.experiment(number), record);
  EXPECT_EQ(store.candidate(store.candidates(number).at(0)), candidate);
}

TEST(Store, KeepsAnExperimentOfNothing) {
  Store store(":memory:");
  const ExperimentRecord record;
  expect_same(store.experiment(store.add_experiment(record)), record);
}

TEST(Store, RefusesNamesThatAreNotUtf8) {
  Store store(":memory:");
  ExperimentRecord record = some_experiment();
  record.ids[2] = "\xff";
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { store.add_experiment(record); }),
              HasSubstr("UTF-8"));
  EXPECT_THAT(store.experiments(), IsEmpty());
}

TEST(Store, GivesBackResultsBitForBit) {
  const TempFolder folder;
  const std::string path = folder.path("s.kith");
  const FoldResult fold{awkward_numbers(), 1.5};
  const TestResult test = some_test_result();
  TestResult bare;
  bare.prediction.scores = Matrix(0, 3);
  bare.prediction.probabilities = Matrix(4, 0);
  std::int64_t candidate = 0;
  {
    Store store(path);
    candidate = store.add_candidate(store.add_experiment(some_experiment()), some_candidate());
    store.put({candidate, 0, 0}, fold);
    store.put({candidate, 0, 1}, FoldResult{});
    store.put({candidate, 0, kTest}, test);
    store.put({candidate, 1, kTest}, bare);
  }
  const Store store(path, StoreAccess::kReadOnly);
  EXPECT_EQ(bits(store.fold_result({candidate, 0, 0}).value().losses), bits(fold.losses));
  EXPECT_EQ(store.fold_result({candidate, 0, 0}).value().seconds, 1.5);
  EXPECT_THAT(store.fold_result({candidate, 0, 1}).value().losses, IsEmpty());
  expect_same(store.test_result({candidate, 0, kTest}).value(), test);
  expect_same(store.test_result({candidate, 1, kTest}).value(), bare);
}

TEST(Store, KeepsScoresInSinglePrecision) {
  Store store(":memory:");
  const std::int64_t candidate =
      store.add_candidate(store.add_experiment(some_experiment()), some_candidate());
  TestResult given;
  given.prediction.scores = (Matrix(2, 3) << 0.1, 1.0 / 3, -2e300, 2e300, 1e-300, -7).finished();
  store.put({candidate, 0, kTest}, given);
  const Matrix kept = store.test_result({candidate, 0, kTest})->prediction.scores;
  constexpr double kMost = std::numeric_limits<float>::max();
  const Matrix expected = (Matrix(2, 3) << 0.1F, 1.0F / 3, -kMost, kMost, 0, -7).finished();
  EXPECT_EQ(kept, expected);
}

TEST(Store, SaysWhichUnitsItHas) {
  Store store(":memory:");
  const std::int64_t experiment = store.add_experiment(some_experiment());
  const std::int64_t first = store.add_candidate(experiment, some_candidate("first"));
  const std::int64_t second = store.add_candidate(experiment, some_candidate("second"));
  store.put({first, 1, 0}, FoldResult{});
  store.put({second, 1, kTest}, TestResult{});
  EXPECT_TRUE(store.has({first, 1, 0}));
  EXPECT_FALSE(store.has({first, 0, 0}));
  EXPECT_FALSE(store.has({first, 1, 1}));
  EXPECT_FALSE(store.has({first, 1, kTest}));
  EXPECT_FALSE(store.has({second, 1, 0}));
  EXPECT_TRUE(store.has({second, 1, kTest}));
  EXPECT_FALSE(store.fold_result({second, 1, 0}).has_value());
  EXPECT_FALSE(store.test_result({first, 1, kTest}).has_value());
}

TEST(Store, LeavesAFinishedUnitAsItIs) {
  Store store(":memory:");
  const std::int64_t candidate =
      store.add_candidate(store.add_experiment(some_experiment()), some_candidate());
  store.put({candidate, 0, 0}, FoldResult{{1}, 1});
  store.put({candidate, 0, 0}, FoldResult{{2}, 2});
  EXPECT_THAT(store.fold_result({candidate, 0, 0}).value().losses, ElementsAre(1));
  store.put({candidate, 0, kTest}, some_test_result());
  store.put({candidate, 0, kTest}, TestResult{});
  expect_same(store.test_result({candidate, 0, kTest}).value(), some_test_result());
}

TEST(Store, RefusesUnitsOfNobodyAndOfTheWrongKind) {
  Store store(":memory:");
  const std::int64_t candidate =
      store.add_candidate(store.add_experiment(some_experiment()), some_candidate());
  const auto refused = [&](const UnitKey& key, const auto& result) {
    return error_of(ErrorCode::kInvalidArgument, [&] { store.put(key, result); });
  };
  EXPECT_THAT(refused({candidate + 1, 0, 0}, FoldResult{}), HasSubstr("no candidate 2"));
  EXPECT_THAT(refused({candidate, 0, kTest}, FoldResult{}), HasSubstr("an inner fold"));
  EXPECT_THAT(refused({candidate, 0, 1}, TestResult{}), HasSubstr("a test part"));
  EXPECT_THAT(refused({candidate, -1, 1}, FoldResult{}), HasSubstr("partition -1"));
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { (void)store.experiment(9); }),
              HasSubstr("no experiment 9"));
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { (void)store.candidate(9); }),
              HasSubstr("no candidate 9"));
  EXPECT_THAT(
      error_of(ErrorCode::kInvalidArgument, [&] { store.add_candidate(9, some_candidate()); }),
      HasSubstr("no experiment 9"));
}

TEST(Store, FindsAnEqualExperimentByItsName) {
  Store store(":memory:");
  const std::int64_t number = store.add_experiment(some_experiment());
  ExperimentRecord again = some_experiment();
  again.about = {{"command", "another day"}};
  again.protocol = {{"folds", 2.0}, {"name", "tr"}, {"test-fraction", 0.2}, {"repeats", 2}};
  EXPECT_EQ(store.add_experiment(again), number);
  EXPECT_THAT(store.experiments(), ElementsAre(number));
  EXPECT_EQ(store.experiment(number).about, some_experiment().about);
}

TEST(Store, FindsARecordWithNumbersThatJsonDoesNotHave) {
  Store store(":memory:");
  ExperimentRecord record = some_experiment();
  record.protocol["limit"] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(store.add_experiment(record), store.add_experiment(record));
}

std::string refused_change(const std::function<void(ExperimentRecord&)>& change) {
  const TempFolder folder;
  Store store(folder.path("s.kith"));
  store.add_experiment(some_experiment());
  ExperimentRecord other = some_experiment();
  change(other);
  const std::string message =
      error_of(ErrorCode::kInvalidArgument, [&] { store.add_experiment(other, NewData::kAppend); });
  EXPECT_THAT(message, AllOf(HasSubstr(folder.path("s.kith")), HasSubstr("\"voting\"")));
  EXPECT_EQ(store.experiments().size(), 1U);
  return message;
}

TEST(Store, SaysWhatDiffersInAnExperimentOfTheSameName) {
  EXPECT_THAT(refused_change([](auto& r) { r.fingerprint = 5; }),
              AllOf(HasSubstr("fingerprint of the data is fedcba9876543210 in the store and "
                              "0000000000000005 now"),
                    Not(HasSubstr("labels")), Not(HasSubstr("protocol"))));
  EXPECT_THAT(refused_change([](auto& r) { r.labels.ids[3] = 0; }),
              HasSubstr("1 of 6 labels differ (number 4 is \"yes\" in the store and \"no\" now)"));
  EXPECT_THAT(refused_change([](auto& r) { r.labels.ids.pop_back(); }),
              HasSubstr("number of labels is 6 in the store and 5 now"));
  EXPECT_THAT(refused_change([](auto& r) { r.labels.names.push_back("perhaps"); }),
              HasSubstr("the classes are no and yes in the store, no, yes and perhaps now"));
  EXPECT_THAT(refused_change([](auto& r) { r.ids[5] = "g"; }),
              HasSubstr("1 of 6 sample ids differ (number 6 is \"f\" in the store and \"g\" now)"));
  EXPECT_THAT(refused_change([](auto& r) { r.ids.clear(); }),
              HasSubstr("number of sample ids is 6 in the store and 0 now"));
  EXPECT_THAT(
      refused_change([](auto& r) { r.protocol["folds"] = 5; }),
      AllOf(HasSubstr("protocol: folds is 2 in the store and 5 now"), Not(HasSubstr("repeats"))));
  EXPECT_THAT(refused_change([](auto& r) { r.protocol.erase("name"); }),
              HasSubstr("protocol: name is \"tr\" in the store and not given now"));
  EXPECT_THAT(refused_change([](auto& r) { r.input["missing"] = "zero"; }),
              HasSubstr("input: missing is not given in the store and \"zero\" now"));
  EXPECT_THAT(refused_change([](auto& r) { r.partitions.pop_back(); }),
              HasSubstr("number of partitions is 2 in the store and 1 now"));
  EXPECT_THAT(refused_change([](auto& r) {
                r.partitions[1].fold_of = {0, 1, 0, 1};
              }),
              HasSubstr("1 of 2 partitions put samples into other parts, the first of them "
                        "partition 2"));
}

TEST(Store, NamesEveryDifferenceAtOnce) {
  EXPECT_THAT(refused_change([](auto& r) {
                r.fingerprint = 1;
                r.protocol["folds"] = 5;
                r.input["shift"] = 0.25;
              }),
              AllOf(HasSubstr("fingerprint"), HasSubstr("folds is 2"), HasSubstr("shift is 0.1")));
}

TEST(Store, TakesASecondDataSetOnlyWhereToldTo) {
  Store store(":memory:");
  store.add_experiment(some_experiment("voting"));
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] { store.add_experiment(some_experiment("protein")); }),
              AllOf(HasSubstr(":memory:"), HasSubstr("holds data set \"voting\", not \"protein\""),
                    HasSubstr("[[append]]")));
  store.add_experiment(some_experiment("protein"), NewData::kAppend);
  EXPECT_EQ(store.experiments().size(), 2U);
  EXPECT_EQ(store.experiment(store.experiments()[1]).name, "protein");
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] { store.add_experiment(some_experiment("sonar")); }),
              HasSubstr("data sets \"voting\" and \"protein\", not \"sonar\""));
}

TEST(Store, RefusesASecondDataSetUnderAnotherProtocol) {
  Store store(":memory:");
  store.add_experiment(some_experiment("voting"));
  ExperimentRecord other = some_experiment("protein");
  other.protocol["folds"] = 5;
  EXPECT_THAT(
      error_of(ErrorCode::kInvalidArgument, [&] { store.add_experiment(other, NewData::kAppend); }),
      AllOf(HasSubstr("\"voting\""), HasSubstr("\"protein\""),
            HasSubstr("folds is 2 in the store and 5 now")));
  EXPECT_EQ(store.experiments().size(), 1U);
}

TEST(Store, FindsEqualCandidatesAndSaysWhatDiffersInOthers) {
  Store store(":memory:");
  const std::int64_t experiment = store.add_experiment(some_experiment());
  const std::int64_t number = store.add_candidate(experiment, some_candidate());
  EXPECT_EQ(store.add_candidate(experiment, some_candidate()), number);
  const auto refused = [&](const std::function<void(CandidateRecord&)>& change) {
    CandidateRecord other = some_candidate();
    change(other);
    return error_of(ErrorCode::kInvalidArgument, [&] { store.add_candidate(experiment, other); });
  };
  EXPECT_THAT(refused([](auto& c) { c.settings["spectrum"] = "flip"; }),
              HasSubstr("spectrum is \"clip\" in the store and \"flip\" now"));
  EXPECT_THAT(refused([](auto& c) { c.method = "knn"; }), HasSubstr("the method is svm in"));
  EXPECT_THAT(refused([](auto& c) { c.grid = Json::array(); }), HasSubstr("the grid is [{"));
  EXPECT_THAT(store.candidates(experiment), ElementsAre(number));
}

TEST(Store, KeepsCandidatesOfDataSetsApart) {
  Store store(":memory:");
  const std::int64_t a = store.add_experiment(some_experiment("a"));
  const std::int64_t b = store.add_experiment(some_experiment("b"), NewData::kAppend);
  const std::int64_t a1 = store.add_candidate(a, some_candidate());
  const std::int64_t b1 = store.add_candidate(b, some_candidate());
  const std::int64_t a2 = store.add_candidate(a, some_candidate("another"));
  EXPECT_THAT(store.candidates(a), ElementsAre(a1, a2));
  EXPECT_THAT(store.candidates(b), ElementsAre(b1));
}

TEST(Store, CanBeMoved) {
  const TempFolder folder;
  Store first(folder.path("a.kith"));
  Store second(std::move(first));
  second.add_experiment(some_experiment());
  second = Store(folder.path("b.kith"));
  EXPECT_THAT(second.experiments(), IsEmpty());
  EXPECT_EQ(Store(folder.path("a.kith")).experiments().size(), 1U);
}

TEST(Store, ChangesWhatIsForPeopleAlone) {
  const TempFolder folder;
  const std::string path = folder.path("s.kith");
  ExperimentRecord record = some_experiment();
  {
    Store store(path);
    const std::int64_t number = store.add_experiment(record);
    store.change_about(number, [](Json& about) { about["notes"] = {"one"}; });
    EXPECT_THROW(store.change_about(number + 1, [](Json&) {}), Error);
    EXPECT_EQ(store.add_experiment(record), number);  // it is the same data set
  }
  record.about["notes"] = {"one"};
  const Store store(path, StoreAccess::kReadOnly);
  expect_same(store.experiment(store.experiments().at(0)), record);
}

}  // namespace
}  // namespace kith::store_test
