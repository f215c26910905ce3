// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "kith/core/error.hpp"
#include "kith/evaluate/statistics.hpp"

namespace kith::results_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kTestSize = 10;

/// 30 samples of classes no and yes in turn; every partition tests ten of them.
ExperimentRecord experiment(const std::string& name, int partitions) {
  ExperimentRecord record;
  record.name = name;
  record.fingerprint = 0xabc;
  record.protocol = {{"name", "tr"}};
  record.labels.names = {"no", "yes"};
  for (int i = 0; i < 30; ++i) record.labels.ids.push_back(i % 2);
  for (int p = 0; p < partitions; ++p) {
    Partition partition;
    const Index first = Index{p % 3} * 10;
    for (Index i = 0; i < 30; ++i) {
      (i >= first && i < first + 10 ? partition.test : partition.train).push_back(i);
    }
    for (int i = 0; i < 20; ++i) partition.fold_of.push_back(i % 2);
    record.partitions.push_back(partition);
  }
  return record;
}

/// A test part on which the first `wrong` samples are mistaken. Half of them are of each class.
TestResult outcome(const ExperimentRecord& record, int p, int wrong, double cost = 1) {
  TestResult result;
  const Partition& partition = record.partitions[static_cast<std::size_t>(p)];
  for (std::size_t i = 0; i < kTestSize; ++i) {
    const int truth = record.labels.ids[static_cast<std::size_t>(partition.test[i])];
    result.prediction.labels.push_back(static_cast<int>(i) < wrong ? 1 - truth : truth);
  }
  result.chosen = {{"spectrum", "clip"}, {"cost", cost}};
  result.seconds = 2;
  return result;
}

/// A store under construction.
class Filled {
 public:
  explicit Filled(const std::string& name = "words", int partitions = 6) { open(name, partitions); }

  void open(const std::string& name, int partitions) {
    record = experiment(name, partitions);
    number = store.add_experiment(record, NewData::kAppend);
  }
  /// One test result per entry; an empty entry is not finished yet.
  std::int64_t add(const std::string& name, const std::vector<std::optional<int>>& wrong) {
    const std::int64_t candidate = store.add_candidate(
        number, {.name = name,
                 .method = "svm",
                 .settings = {{"spectrum", "clip"}},
                 .grid = Json::array({{{"field", "cost"}, {"values", {1, 10}}}})});
    for (int p = 0; p < static_cast<int>(wrong.size()); ++p) {
      const std::optional<int>& count = wrong[static_cast<std::size_t>(p)];
      if (count) store.put({candidate, p, kTestFold}, outcome(record, p, *count, p < 2 ? 1 : 10));
    }
    return candidate;
  }
  [[nodiscard]] ExperimentResult result(Metric metric = Metric::kError,
                                        const std::string& positive = "") const {
    return summarise(store, number, metric, positive);
  }

  Store store{":memory:"};
  ExperimentRecord record;
  std::int64_t number = 0;
};

TEST(Results, HaveMeanDeviationAndValuesInTheOrderOfThePartitions) {
  Filled filled;
  filled.add("svm", {1, 2, 3, 1, 2, 3});
  const ExperimentResult result = filled.result();
  EXPECT_EQ(result.name, "words");
  EXPECT_EQ(result.samples, 30);
  EXPECT_EQ(result.partitions, 6);
  EXPECT_TRUE(result.complete());
  const MethodResult& svm = result.methods.at(0);
  EXPECT_THAT(svm.values, ElementsAre(0.1, 0.2, 0.3, 0.1, 0.2, 0.3));
  EXPECT_DOUBLE_EQ(svm.mean, 0.2);
  EXPECT_DOUBLE_EQ(svm.sd, std::sqrt(4 * 0.01 / 5));
  EXPECT_EQ(svm.method, "svm");
  EXPECT_EQ(svm.confusion.sum(), 60);
  EXPECT_EQ(svm.confusion.trace(), 48);
}

TEST(Results, TheBestGroupIsNotSignificantlyWorseThanTheBest) {
  Filled filled;
  filled.add("worse", {4, 5, 6, 4, 5, 6});
  filled.add("close", {1, 2, 3, 1, 2, 4});
  filled.add("best", {1, 2, 3, 1, 2, 3});
  const ExperimentResult result = filled.result();
  const MethodResult& worse = result.methods[0];
  const MethodResult& close = result.methods[1];
  const MethodResult& best = result.methods[2];
  EXPECT_TRUE(best.best);
  EXPECT_TRUE(best.leads);
  EXPECT_FALSE(best.to_best.has_value());
  EXPECT_EQ(close.to_best->p_value, wilcoxon_larger(close.values, best.values));
  EXPECT_TRUE(close.best);
  EXPECT_FALSE(close.leads);
  EXPECT_DOUBLE_EQ(worse.to_best->p_value, 1.0 / 64);
  EXPECT_FALSE(worse.best);
}

TEST(Results, LargerIsBetterForScores) {
  Filled filled;
  filled.add("bad", {4, 5, 6, 4, 5, 6});
  filled.add("good", {1, 2, 3, 1, 2, 3});
  const ExperimentResult result = filled.result(Metric::kFScore);
  EXPECT_GT(result.methods[1].mean, result.methods[0].mean);
  EXPECT_TRUE(result.methods[1].best);
  EXPECT_FALSE(result.methods[0].best);
  EXPECT_DOUBLE_EQ(result.methods[0].to_best->p_value, 1.0 / 64);
}

TEST(Results, OfEqualMeansTheFirstIsTheBest) {
  Filled filled("words", 3);
  filled.add("a", {1, 2, 6});
  filled.add("b", {6, 1, 2});  // the same values, summed in another order
  filled.add("c", {2, 6, 1});
  const ExperimentResult result = filled.result();
  EXPECT_TRUE(result.methods[0].leads);
  EXPECT_FALSE(result.methods[1].leads);
  EXPECT_FALSE(result.methods[2].leads);
}

TEST(Results, UnfinishedMethodsAreComparedButCannotBeBest) {
  Filled filled;
  filled.add("as good", {2, {}, {}, {}, {}, {}});
  filled.add("whole", {1, 2, 3, 1, 2, 3});
  filled.add("late", {{}, 3, 4, {}, 4, {}});
  filled.add("none", {});
  const ExperimentResult result = filled.result();
  EXPECT_FALSE(result.complete());
  EXPECT_FALSE(result.methods[0].best);
  EXPECT_TRUE(result.methods[1].best);
  EXPECT_THAT(result.methods[2].partitions, ElementsAre(1, 2, 4));
  EXPECT_DOUBLE_EQ(result.methods[2].to_best->p_value,
                   1.0 / 8);  // over the three partitions both have
  EXPECT_FALSE(result.methods[2].best);
  EXPECT_THAT(result.methods[3].values, IsEmpty());
  EXPECT_TRUE(std::isnan(result.methods[3].mean));
}

TEST(Results, MetricsThatDoNotExistAreNotANumber) {
  Filled filled;
  filled.add("svm", {1, 2, 3, 1, 2, 3});
  const ExperimentResult result = filled.result(Metric::kLogLoss);
  EXPECT_TRUE(std::isnan(result.methods[0].mean));
  EXPECT_FALSE(result.methods[0].best);
}

TEST(Results, F1IsAboutTheClassNamedOrTheLast) {
  Filled filled;
  filled.add("svm", {1, 3, 1, 3, 1, 3});
  const ExperimentResult yes = filled.result(Metric::kF1);
  EXPECT_EQ(yes.positive, "yes");
  EXPECT_EQ(yes.methods[0].values, filled.result(Metric::kF1, "yes").methods[0].values);
  const ExperimentResult no = filled.result(Metric::kF1, "no");
  EXPECT_NE(no.methods[0].values, yes.methods[0].values);
  try {
    (void)filled.result(Metric::kF1, "maybe");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"maybe\""));
    EXPECT_THAT(error.what(), HasSubstr("\"yes\""));
  }
}

TEST(Results, NameTheSearchedSettingsChosenMostOften) {
  Filled filled;
  filled.add("svm", {1, 2, 3, 1, 2, 3});  // cost 1 twice, then 10
  const MethodResult method = filled.result().methods[0];
  EXPECT_EQ(method.usual, Json({{"cost", 10.0}}));
  EXPECT_EQ(method.usual_count, 4);
}

TEST(Results, CountTheSecondsOfFoldsAndTests) {
  Filled filled("words", 2);
  const std::int64_t candidate = filled.add("svm", {1, 2});
  filled.store.put({candidate, 0, 0}, FoldResult{.losses = {1}, .seconds = 0.5});
  filled.store.put({candidate, 1, 1}, FoldResult{.losses = {1}, .seconds = 0.25});
  EXPECT_DOUBLE_EQ(filled.result().methods[0].seconds, 4.75);
}

TEST(Results, KeepTheWorstCertificate) {
  Filled filled("words", 3);
  const std::int64_t candidate = filled.add("svm", {});
  const std::vector<std::pair<std::string, double>> ends = {
      {"solved", 1e-9}, {"iteration limit", 1e-3}, {"reduced accuracy", 1e-5}};
  for (int p = 0; p < 3; ++p) {
    TestResult test = outcome(filled.record, p, 1);
    test.certificate = {{"status", ends[static_cast<std::size_t>(p)].first},
                        {"gap", ends[static_cast<std::size_t>(p)].second},
                        {"kkt_residual", Json()}};
    filled.store.put({candidate, p, kTestFold}, test);
  }
  const MethodResult method = filled.result().methods[0];
  EXPECT_EQ(method.worst_status, "iteration limit");
  EXPECT_EQ(method.worst_gap, 1e-3);
  EXPECT_TRUE(std::isnan(method.worst_kkt_residual));
}

/// Two data sets; on the second one `b` and `c` share their place.
Filled two_data_sets() {
  Filled filled("one", 3);
  filled.add("a", {1, 1, 1});
  filled.add("b", {2, 2, 2});
  filled.add("only here", {0, 0, 0});
  filled.add("c", {3, 3, 3});
  filled.open("two", 2);
  filled.add("c", {2, 1});
  filled.add("a", {3, 3});
  filled.add("b", {1, 2});
  return filled;
}

std::vector<ExperimentResult> all_results(const Store& store, Metric metric = Metric::kError) {
  std::vector<ExperimentResult> results;
  for (const std::int64_t number : store.experiments()) {
    results.push_back(summarise(store, number, metric));
  }
  return results;
}

TEST(RankMethods, AveragesRanksOfTheMethodsEveryDataSetHas) {
  const Filled filled = two_data_sets();
  for (const Metric metric : {Metric::kError, Metric::kFScore}) {
    const RankTable table = rank_methods(all_results(filled.store, metric));
    EXPECT_THAT(table.methods, ElementsAre("a", "b", "c"));
    EXPECT_THAT(table.ranks, ElementsAre(2, 1.75, 2.25));
    EXPECT_TRUE(std::isnan(table.critical_difference)) << "two data sets are too few";
    EXPECT_FALSE(table.friedman.has_value());
    EXPECT_THAT(table.note, HasSubstr("2 data sets are too few"));
  }
}

TEST(RankMethods, TestsFromFiveDataSetsOn) {
  Filled filled("1", 2);
  for (int set = 1; set <= 5; ++set) {
    if (set > 1) filled.open(std::to_string(set), 2);
    filled.add("a", {1, 2});
    filled.add("b", {3, 4});
    filled.add("c", {5, set == 5 ? 0 : 6});
    const RankTable table = rank_methods(all_results(filled.store));
    if (set == 1) continue;
    EXPECT_EQ(table.friedman.has_value(), set == 5);
    EXPECT_EQ(std::isnan(table.critical_difference), set < 5);
  }
  const RankTable table = rank_methods(all_results(filled.store));
  EXPECT_DOUBLE_EQ(table.critical_difference, critical_difference(3, 5));
  EXPECT_THAT(table.note, HasSubstr("the methods differ"));
}

TEST(RankMethods, LeavesOutWhatIsUnfinished) {
  Filled filled("one", 2);
  filled.add("a", {1, 2});
  filled.add("b", {3, 4});
  filled.add("c", {3, 4});
  filled.open("two", 2);
  filled.add("a", {1, 2});
  filled.add("b", {3, 4});
  filled.add("c", {0, {}});
  EXPECT_THAT(rank_methods(all_results(filled.store)).methods, ElementsAre("a", "b"));
}

TEST(RankMethods, NeedsTwoDataSetsAndTwoMethods) {
  Filled filled;
  filled.add("a", {1, 2, 3, 1, 2, 3});
  EXPECT_THAT(rank_methods(all_results(filled.store)).methods, IsEmpty());
  filled.open("two", 2);
  filled.add("a", {1, 2});
  const RankTable table = rank_methods(all_results(filled.store));
  EXPECT_THAT(table.methods, IsEmpty());
  EXPECT_TRUE(std::isnan(table.critical_difference));
}

TEST(ResultsJson, HasTheFieldsOfTheContract) {
  Filled filled;
  filled.add("best", {1, 2, 3, 1, 2, 3});
  filled.add("worse", {4, 5, 6, 4, 5, 6});
  const Json json = results_json(filled.store, {filled.result()});
  const Json& worse = json.at("methods").at(1);
  EXPECT_EQ(worse.at("method"), "worse");
  EXPECT_DOUBLE_EQ(worse.at("mean_error"), 0.5);
  EXPECT_DOUBLE_EQ(worse.at("sd_error"), std::sqrt(0.04 / 5));
  EXPECT_EQ(worse.at("errors"), Json({0.4, 0.5, 0.6, 0.4, 0.5, 0.6}));
  EXPECT_EQ(worse.at("chosen").at(5), Json({{"spectrum", "clip"}, {"cost", 10.0}}));
  EXPECT_DOUBLE_EQ(worse.at("p_value"), 1.0 / 64);
  EXPECT_EQ(worse.at("best"), false);
  EXPECT_EQ(json.at("methods").at(0).at("best"), true);
  EXPECT_TRUE(json.at("methods").at(0).at("p_value").is_null());
  EXPECT_DOUBLE_EQ(worse.at("metrics").at("balanced-error").at("mean"), 0.5);
  EXPECT_FALSE(worse.at("metrics").contains("log-loss"));
  EXPECT_EQ(json.at("n"), 30);
  EXPECT_EQ(json.at("classes"), Json({{"no", 15}, {"yes", 15}}));
  EXPECT_EQ(json.at("fingerprint"), "0000000000000abc");
  EXPECT_EQ(json.at("partitions"), 6);
  EXPECT_EQ(json.at("timing").at("methods").at("worse"), 12);
}

TEST(ResultsJson, HoldsErrorsWhateverMetricDecides) {
  Filled filled;
  filled.add("a", {1, 2, 3, 1, 2, 3});
  const Json json = results_json(filled.store, {filled.result(Metric::kFScore)});
  EXPECT_EQ(json.at("metric"), "f-score");
  EXPECT_DOUBLE_EQ(json.at("methods").at(0).at("mean_error"), 0.2);
}

TEST(ResultsJson, TellsTimesNowhereButUnderTiming) {
  Filled filled = two_data_sets();
  Json json = results_json(filled.store, all_results(filled.store));
  EXPECT_EQ(json.at("timing").at("data_sets").at("two").at("methods").at("a"), 4);
  json.erase("timing");
  EXPECT_EQ(json.dump().find("seconds"), std::string::npos);
}

TEST(ResultsJson, ListsSeveralDataSetsWithTheirRanks) {
  const Filled filled = two_data_sets();
  const Json json = results_json(filled.store, all_results(filled.store));
  EXPECT_EQ(json.at("data_sets").at(1).at("name"), "two");
  EXPECT_EQ(json.at("data_sets").at(1).at("methods").at(0).at("method"), "c");
  EXPECT_EQ(json.at("ranks").at("methods").at(1), Json({{"method", "b"}, {"rank", 1.75}}));
  EXPECT_TRUE(json.at("ranks").at("critical_difference").is_null());
  EXPECT_TRUE(json.at("ranks").at("friedman").is_null());
}

TEST(ResultsJson, IsNullWhereNothingIsFinished) {
  Filled filled;
  filled.add("none", {});
  const Json json = results_json(filled.store, {filled.result()});
  const Json& method = json.at("methods").at(0);
  EXPECT_TRUE(method.at("mean_error").is_null());
  EXPECT_TRUE(method.at("certificate").is_null());
  EXPECT_EQ(method.at("errors"), Json::array());
  EXPECT_EQ(json.at("complete"), false);
}

TEST(Results, CountHowOftenEachMemberOfACommitteeTookPart) {
  Filled filled("words", 3);
  const Json grid = Json::array({{{"field", "cost"}, {"values", {1, 10}}}});
  Json members = Json::array();
  for (const char* name : {"knn", "svm", "never"}) {
    members.push_back({{"name", name}, {"method", name}, {"settings", {}}, {"grid", grid}});
  }
  const std::int64_t number = filled.store.add_candidate(
      filled.number, {.name = "auto", .method = "auto", .settings = {{"members", members}}});
  const auto seat = [](const char* name, double cost) {
    return Json{{"method", name}, {"cost", cost}, {"inner_error", 0.1}};
  };
  const std::vector<Json> seats = {Json::array({seat("svm", 10)}),
                                   Json::array({seat("knn", 1), seat("svm", 1)}),
                                   Json::array({seat("svm", 10)})};
  for (int p = 0; p < 3; ++p) {
    TestResult test = outcome(filled.record, p, 1);
    test.chosen = {{"members", Json::array()}};
    for (const Json& one : seats[static_cast<std::size_t>(p)]) {
      test.chosen["members"].push_back(one);
    }
    filled.store.put({number, p, kTestFold}, test);
  }
  const std::vector<MemberResult> found = filled.result().methods.at(0).members;
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "knn");
  EXPECT_EQ(found[0].partitions, 1);
  EXPECT_EQ(found[1].partitions, 3);
  EXPECT_EQ(found[1].usual, Json({{"cost", 10.0}}));
  EXPECT_EQ(found[1].usual_count, 2);
  EXPECT_EQ(found[2].partitions, 0);
  const Json json = results_json(filled.store, {filled.result()});
  const Json& one = json.at("methods").at(0).at("members").at(1);
  EXPECT_EQ(one.at("method"), "svm");
  EXPECT_EQ(one.at("partitions"), 3);
  EXPECT_EQ(one.at("chosen_most").at("partitions"), 2);
}

}  // namespace
}  // namespace kith::results_test
