// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kith/core/error.hpp"
#include "kith/evaluate/experiment.hpp"
#include "kith/evaluate/grid_notes.hpp"
#include "kith/learn/method_variants.hpp"

namespace kith::grid_test {
namespace {

std::vector<Index> neighbours_of(const GridPoints& grid) {
  std::vector<Index> counts;
  for (const AnySettings& settings : grid.settings) {
    counts.push_back(std::get<KnnSettings>(*settings).neighbours);
  }
  return counts;
}

TEST(Candidate, TakesTheGridOfItsMethodWithoutWhatIsFixed) {
  const Candidate svm = parse_candidate("svm-flip");
  ASSERT_EQ(svm.axes.size(), 1U);
  EXPECT_EQ(svm.axes[0].field, "cost");
  EXPECT_EQ(svm.axes[0].values.size(), 9U);
  Candidate krr = parse_candidate("mine=krr-pinv");
  EXPECT_EQ(krr.name, "mine");
  EXPECT_EQ(krr.choice.method, "krr");
  EXPECT_EQ(grid_points(krr, 1000).settings.size(), 19U * 5U);
  fix(krr, "neighbours", "7");
  EXPECT_EQ(grid_points(krr, 1000).settings.size(), 5U);
}

TEST(Candidate, AGridFollowsASettingThatChangesIt) {
  Candidate features = parse_candidate("features-svm-linear");
  EXPECT_EQ(features.axes.size(), 1U);
  fix(features, "cost", "1");
  EXPECT_EQ(features.axes.size(), 0U);
  EXPECT_EQ(grid_points(features, 10).settings.size(), 1U);
  const Candidate rbf = parse_candidate("features-svm-rbf");
  EXPECT_EQ(rbf.axes.size(), 2U);
}

TEST(Candidate, SearchesWhatTheUserAsksFor) {
  Candidate svm = parse_candidate("svm-clip");
  const std::vector<std::string> costs = {"2", "3"};
  search(svm, "cost", costs);
  const GridPoints grid = grid_points(svm, 10);
  ASSERT_EQ(grid.settings.size(), 2U);
  EXPECT_EQ(std::get<SvmSettings>(*grid.settings[1]).cost, 3);
  const std::vector<std::string> bad = {"1", "-1"};
  EXPECT_THROW(search(svm, "cost", bad), Error);
  EXPECT_THROW(search(svm, "no-such", costs), Error);
  const std::vector<std::string> spectra = {"clip", "flip"};
  Candidate any = parse_candidate("svm");
  search(any, "spectrum", spectra);
  EXPECT_EQ(grid_points(any, 10).settings.size(), 18U);
}

TEST(Candidate, IsSearchedAgainWhereItWasFixed) {
  Candidate svm = parse_candidate("svm-clip");
  fix(svm, "cost", "7");
  const std::vector<std::string> costs = {"2", "3"};
  search(svm, "cost", costs);
  fix(svm, "probability", "yes");
  EXPECT_EQ(grid_points(svm, 10).settings.size(), 2U);
}

std::string refusal_of(std::vector<SettingWish> fixed, std::vector<SettingWish> searched = {}) {
  std::vector<Candidate> candidates = parse_candidates("svm-clip,mine=svm,knn");
  fix(candidates[1], "cost", "5");
  try {
    grant(fixed, searched, candidates);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SettingWish, OfAStarIsAboutAllThatHaveTheSetting) {
  std::vector<Candidate> candidates = parse_candidates("svm-clip,mine=svm,knn");
  grant({{{.candidate = "*", .key = "probability", .values = {"yes"}, .said = "set"},
          {.candidate = "knn", .key = "neighbours", .values = {"3"}, .said = "set"}}},
        {{{.candidate = "*", .key = "cost", .values = {"2", "3"}, .said = "grid"}}}, candidates);
  for (const Candidate& svm : std::span(candidates).first(2)) {
    const GridPoints grid = grid_points(svm, 10);
    ASSERT_EQ(grid.settings.size(), 2U) << svm.name;
    EXPECT_EQ(std::get<SvmSettings>(*grid.settings[1]).cost, 3);
    EXPECT_TRUE(std::get<SvmSettings>(*grid.settings[1]).probability);
  }
  EXPECT_THAT(neighbours_of(grid_points(candidates[2], 10)), testing::ElementsAre(3));
}

TEST(SettingWish, IsRefusedWhereItIsAboutNobodyOrASecondTime) {
  const SettingWish all{.candidate = "*", .key = "cost", .values = {"1"}, .said = "first"};
  const SettingWish own{.candidate = "mine", .key = "cost", .values = {"2"}, .said = "second"};
  EXPECT_EQ(refusal_of({all}), "");
  EXPECT_EQ(refusal_of({own}), "");  // what the candidate had fixed was no wish
  for (const std::string& message : {refusal_of({all, own}), refusal_of({own, own}),
                                     refusal_of({all}, {own}), refusal_of({}, {all, own})}) {
    EXPECT_THAT(message, testing::AllOf(testing::StartsWith("second: cost of mine"),
                                        testing::HasSubstr("give it once")));
  }
  EXPECT_THAT(refusal_of({{"svm-clip", "spectrum", {"flip"}, "set"}}),
              testing::HasSubstr("by the name of the method"));
  EXPECT_EQ(refusal_of({{"*", "beta2", {"1"}, "set"}}),
            "set: no method compared has a setting \"beta2\" (did you mean beta?)");
  EXPECT_EQ(refusal_of({}, {{"other", "cost", {"1"}, "grid"}}),
            "grid: \"other\" is not among the methods compared: svm-clip, mine and knn");
}

TEST(Candidate, HasNoProbabilitiesUnlessTheyAreAskedFor) {
  const Candidate svm = parse_candidate("svm");
  EXPECT_FALSE(std::get<SvmSettings>(*svm.choice.settings).probability);
  Candidate costly = parse_candidate("svm");
  fix(costly, "costs", "a:b=5");
  EXPECT_TRUE(std::get<SvmSettings>(*costly.choice.settings).probability);
}

TEST(Candidate, AreByDefaultMethodsForSeveralMatricesWhereThereAreSeveral) {
  for (const Candidate& one : parse_candidates(kSeveralComparison)) {
    EXPECT_TRUE(method_info(one.choice.settings).several_matrices) << one.name;
  }
}

TEST(GridPoints, CapNeighboursAtTheTrainingPartAndCountEqualCapsOnce) {
  const Candidate knn = parse_candidate("knn");
  EXPECT_THAT(neighbours_of(grid_points(knn, 20)),
              testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20));
  EXPECT_EQ(neighbours_of(grid_points(knn, 500)).back(), 128);
}

TEST(BestPlace, PrefersTheSimplerSideAmongEquals) {
  const GridPoints knn = grid_points(parse_candidate("knn"), 20);
  std::vector<double> losses(knn.settings.size(), 3);
  EXPECT_EQ(neighbours_of(knn)[best_place(knn, losses).point], 20);  // larger neighbours
  losses[4] = losses[2] = 1;
  EXPECT_EQ(neighbours_of(knn)[best_place(knn, losses).point], 5);
  const GridPoints svm = grid_points(parse_candidate("svm-clip"), 20);
  EXPECT_EQ(best_place(svm, std::vector<double>(svm.settings.size(), 2)).point,
            0U);  // smaller cost
}

TEST(BestPlace, ComparesTheAxesInTheirOrder) {
  const GridPoints grid = grid_points(parse_candidate("krr-pinv"), 4);  // neighbours, then ridge
  std::vector<double> losses(grid.settings.size(), 1);
  const auto place = [&] { return best_place(grid, losses).point; };
  const auto best = [&] { return std::get<KrrSettings>(*grid.settings[place()]); };
  EXPECT_EQ(best().neighbours, 4);
  EXPECT_EQ(best().ridge, 10);
  losses[place()] = 2;  // now: more neighbours before a larger ridge
  EXPECT_EQ(best().neighbours, 4);
  EXPECT_EQ(best().ridge, 1);
}

TEST(CandidateRecord, SaysAllThatResultsDependOn) {
  Candidate svm = parse_candidate("svm-clip");
  fix(svm, "costs", "a:b=5");
  const ExperimentData nothing{};
  const CandidateRecord record = candidate_record(svm, nothing);
  EXPECT_EQ(record.settings["spectrum"], "clip");
  EXPECT_EQ(record.settings["costs"], "a:b=5");
  EXPECT_FALSE(record.settings.contains("cost"));
  EXPECT_EQ(record.grid[0]["field"], "cost");
  EXPECT_NE(record, candidate_record(parse_candidate("svm-flip"), nothing));
}

/// "cost:3" for an end, "cost/1" for an axis on which nothing changes with the second input.
std::vector<std::string> findings_of(const Candidate& method, const std::vector<double>& losses,
                                     Index samples = 20) {
  std::vector<std::string> said;
  for (const AxisFinding& one : axis_findings(method, samples, losses)) {
    if (!one.end.empty()) said.push_back(one.field + ":" + one.end);
    for (const std::size_t input : one.flat) {
      said.push_back(one.field + "/" + std::to_string(input));
    }
  }
  return said;
}

Candidate with_costs(const std::vector<std::string>& costs) {
  Candidate svm = parse_candidate("svm");
  search(svm, "cost", costs);
  return svm;
}

TEST(AxisFindings, NameTheEndThatIsBetterThanWhatIsBesideIt) {
  const Candidate svm = with_costs({"1", "2", "3"});
  EXPECT_THAT(findings_of(svm, {3, 2, 1}), testing::ElementsAre("cost:3"));
  EXPECT_THAT(findings_of(svm, {1, 2, 3}), testing::ElementsAre("cost:1"));
  EXPECT_THAT(findings_of(svm, {2, 1, 2}), testing::IsEmpty());
  EXPECT_THAT(findings_of(svm, {1, 1, 2}), testing::IsEmpty());  // no better than its neighbour
}

TEST(AxisFindings, TwoValuesAreTwoEnds) {
  const Candidate svm = with_costs({"1", "2"});
  EXPECT_THAT(findings_of(svm, {1, 2}), testing::ElementsAre("cost:1"));
  EXPECT_THAT(findings_of(svm, {2, 1}), testing::ElementsAre("cost:2"));
  EXPECT_THAT(findings_of(svm, {2, 2}), testing::ElementsAre("cost/0"));
  EXPECT_THAT(findings_of(with_costs({"1"}), {1}), testing::IsEmpty());
}

TEST(AxisFindings, GoByNumbersHoweverTheyAreListed) {
  const Candidate svm = with_costs({"2", "10", "1"});
  EXPECT_THAT(findings_of(svm, {2, 1, 3}), testing::ElementsAre("cost:10"));
  EXPECT_THAT(findings_of(svm, {2, 3, 1}), testing::ElementsAre("cost:1"));
  EXPECT_THAT(findings_of(svm, {1, 2, 2}), testing::IsEmpty());
}

TEST(AxisFindings, NameAxesOnWhichNothingChanges) {
  Candidate svm = with_costs({"1", "2", "3"});
  EXPECT_THAT(findings_of(svm, {2, 2, 2}), testing::ElementsAre("cost/0"));
  // Two inputs: each is judged by itself.
  EXPECT_THAT(findings_of(svm, {2, 2, 2, 1, 1, 1}), testing::ElementsAre("cost/0", "cost/1"));
  EXPECT_THAT(findings_of(svm, {2, 2, 2, 3, 2, 4}), testing::ElementsAre("cost/0"));
  EXPECT_THAT(findings_of(svm, {2, 2, 2, 3, 2, 1}), testing::ElementsAre("cost:3", "cost/0"));
  EXPECT_THAT(findings_of(svm, {2, 1, 2, 3, 2, 4}), testing::IsEmpty());
  const std::vector<std::string> spectra = {"clip", "flip"};
  search(svm, "spectrum", spectra);  // the last axis, the fastest; it has no ends
  EXPECT_THAT(findings_of(svm, {5, 5, 4, 4, 3, 3}), testing::ElementsAre("cost:3", "spectrum/0"));
  EXPECT_THAT(findings_of(svm, {5, 4, 5, 4, 5, 4}), testing::ElementsAre("cost/0"));
}

TEST(AxisFindings, NumbersOfNeighboursEndWhereTheSamplesEnd) {
  const Candidate knn = parse_candidate("knn");
  std::vector<double> losses(grid_points(knn, 20).settings.size(), 3);
  losses.back() = 1;  // 20, of 20 samples
  EXPECT_THAT(findings_of(knn, losses), testing::IsEmpty());
}

TEST(AxisFindings, OfNumbersOfNeighboursTheLargestIsAnEndAndTheSmallestIsNatural) {
  Candidate knn = parse_candidate("knn");
  const std::vector<std::string> counts = {"1", "3", "5"};
  search(knn, "neighbours", counts);
  EXPECT_THAT(findings_of(knn, {3, 2, 1}), testing::ElementsAre("neighbours:5"));
  EXPECT_THAT(findings_of(knn, {1, 2, 3}), testing::IsEmpty());
  EXPECT_THAT(findings_of(knn, {3, 2, 1}, 5), testing::IsEmpty());  // there are no more samples
}

TEST(AxisFindings, AnEndThatCouldBeLowerIsOne) {
  const auto ends_of = [](const char* method, const char* field,
                          const std::vector<std::string>& values) {
    Candidate one = parse_candidate(method);
    search(one, field, values);
    return findings_of(one, {1, 2, 3});
  };
  EXPECT_THAT(ends_of("knn", "neighbours", {"2", "5", "9"}), testing::ElementsAre("neighbours:2"));
  EXPECT_THAT(ends_of("knn", "neighbours", {"1", "5", "9"}), testing::IsEmpty());
  EXPECT_THAT(ends_of("mixture-sda", "components", {"2", "3", "4"}),
              testing::ElementsAre("components:2"));
  EXPECT_THAT(ends_of("mixture-sda", "components", {"1", "2", "3"}), testing::IsEmpty());
}

TEST(AxisFindings, AreSpelledWithTheFlagThatMendsThem) {
  ExperimentData data;
  data.matrices.sets.resize(1);
  Candidate mine = parse_candidate("mine=svm");
  mine.inputs.resize(2);
  mine.inputs[1].settings.scale = ScaleRule::kCosine;
  const std::vector<AxisFinding> findings = {{.field = "cost", .end = "3", .flat = {}},
                                             {.field = "ridge", .end = {}, .flat = {0, 1}},
                                             {.field = "gamma", .end = {}, .flat = {1}}};
  const std::vector<std::string> notes = search_notes(mine, data, findings);
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_THAT(notes[1], testing::Not(testing::HasSubstr(" with ")));  // whatever the input
  EXPECT_THAT(notes[2], testing::HasSubstr("the same error with "));
  EXPECT_THAT(notes[0], testing::AllOf(testing::StartsWith("mine: cost "),
                                       testing::HasSubstr("(3)"), testing::HasSubstr("[[grid]]")));
  EXPECT_THAT(notes[1],
              testing::AllOf(testing::HasSubstr("ridge"), testing::HasSubstr("the same error")));
}

TEST(Auto, IsACommitteeOfTheMethodsThatItNames) {
  const auto names = [](const Candidate& committee) {
    std::string text;
    for (const Candidate& one : committee.members) text += (text.empty() ? "" : ",") + one.name;
    return text;
  };
  const Candidate one = parse_candidate("auto");
  EXPECT_TRUE(one.is_committee());
  EXPECT_EQ(names(one), kAutoMembers);
  const Candidate several = parse_candidate("mine=auto", 2);
  EXPECT_EQ(several.name, "mine");
  EXPECT_EQ(names(several), std::string(kAutoMembers) + "," + std::string(kAutoSeveralMembers));
  EXPECT_EQ(parts_of(one).size(), one.members.size());
  EXPECT_EQ(parts_of(one.members[0]).size(), 1U);
  EXPECT_THROW((void)parse_candidate("=auto"), Error);
  EXPECT_THROW((void)parse_candidates("auto,auto"), Error);
  const CandidateRecord record = candidate_record(one, ExperimentData{});
  EXPECT_EQ(record.settings["members"].size(), one.members.size());
}

TEST(Auto, IsMadeOfTheMembersThatItIsGiven) {
  std::vector<Candidate> candidates = parse_candidates("auto,svm-flip,mine=auto");
  const std::vector<Candidate> members = parse_candidates("knn,near=svm-knn");
  set_members(members, candidates);
  EXPECT_EQ(candidates[0].members.size(), 2U);
  EXPECT_FALSE(candidates[1].is_committee());
  EXPECT_EQ(candidates[2].members[1].name, "near");
  std::vector<Candidate> none = parse_candidates("knn");
  EXPECT_THROW(set_members(members, none), Error);
  EXPECT_THROW(set_members(parse_candidates("knn,auto"), candidates), Error);
}

TEST(BestPlace, IsTheFirstInputAmongEquals) {
  const GridPoints grid = grid_points(with_costs({"1", "2", "3"}), 20);
  EXPECT_EQ(best_place(grid, std::vector<double>{2, 1, 2, 2, 1, 1}), (GridPlace{0, 1}));
  EXPECT_EQ(best_place(grid, std::vector<double>{2, 2, 2, 2, 1, 1}), (GridPlace{1, 1}));
}

}  // namespace
}  // namespace kith::grid_test
