// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kith/evaluate/experiment.hpp"
#include "support/experiments.hpp"
#include "support/files.hpp"
#include "support/raw_matrices.hpp"

namespace kith::inputs_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

const InputSearch kAll{
    .conversions = true, .scales = true, .cosine = true, .spread = true, .matrices = true};

std::vector<int> halves(Index n) {
  std::vector<int> classes;
  for (Index i = 0; i < n; ++i) classes.push_back(static_cast<int>(i) % 2);
  return classes;
}

SimilaritySet set_of(const Matrix& values, PairKind kind, const char* name = "made") {
  SimilaritySet set;
  set.name = name;
  set.kind = kind;
  set.block = DenseBlock(RowMatrix(values));
  return set;
}

ExperimentData data_of(std::vector<SimilaritySet> sets, const InputSettings& input = {}) {
  RunContext ctx;
  const Index n = sets.front().rows();
  return make_experiment_data(MatchedSets{.sets = std::move(sets), .ids = {}},
                              test::numbered_labels(halves(n)), input, ctx);
}

Matrix distances() {
  Matrix D = Matrix::Constant(8, 8, 3);
  D.diagonal().setZero();
  return D;
}

/// Self-similarities from 1 to 8, others 0.5.
Matrix similarities() {
  Matrix S = Matrix::Constant(8, 8, 0.5);
  for (Index i = 0; i < 8; ++i) S(i, i) = 1.0 + static_cast<double>(i);
  return S;
}

std::vector<Candidate> resolved(ExperimentData& data, const char* methods,
                                const InputSearch& search = kAll,
                                std::span<const RawMatrix> samples = {}) {
  std::vector<Candidate> candidates = parse_candidates(methods);
  RunContext ctx;
  resolve_inputs(data, samples, search, candidates, ctx);
  return candidates;
}

/// What is said of a field by every variant, in their order.
std::vector<std::string> values_of(const Candidate& candidate, const ExperimentData& data,
                                   const char* field) {
  std::vector<std::string> values;
  for (const InputVariant& one : candidate.inputs) {
    const Json json = variant_json(one, data);
    values.push_back(json.contains(field) ? json[field].get<std::string>() : "");
  }
  return values;
}

std::string refusal(const std::function<void()>& action) {
  return error_of(ErrorCode::kInvalidArgument, action);
}

TEST(Inputs, DistancesAreConvertedAsSuitsTheMethod) {
  ExperimentData data = data_of({set_of(distances(), PairKind::kDistance)});
  const std::vector<Candidate> all = resolved(data, "knn,svm-knn,svm-clip,ridge");
  for (const std::size_t near : {0U, 1U}) {
    EXPECT_THAT(values_of(all[near], data, "from-distance"), ElementsAre("negative", "exp"));
  }
  for (const std::size_t machine : {2U, 3U}) {
    EXPECT_THAT(values_of(all[machine], data, "from-distance"),
                ElementsAre("double-centre", "negative", "negative-square", "exp"));
  }
  for (const InputVariant& one : all[2].inputs) {
    EXPECT_EQ(one.settings.rescale, Rescale::kSpread);
    EXPECT_EQ(one.settings.scale, ScaleRule::kNone);
    EXPECT_FALSE(one.settings.gamma.has_value());
  }
  EXPECT_EQ(count_variants(all), 4U);  // those of neighbours are among the others
}

TEST(Inputs, WhatTheUserSaidOfTheDataIsNotSearched) {
  ExperimentData data = data_of({set_of(distances(), PairKind::kDistance)},
                                {.from_distance = FromDistance::kMaxMinus});
  for (const Candidate& one : resolved(data, "knn,svm-clip")) {
    EXPECT_THAT(values_of(one, data, "from-distance"), ElementsAre("max-minus")) << one.name;
  }
  ExperimentData scaled =
      data_of({set_of(similarities(), PairKind::kSimilarity)}, {.scale = ScaleRule::kUnit});
  EXPECT_THAT(values_of(resolved(scaled, "svm-clip")[0], scaled, "scale"), ElementsAre("unit"));
}

TEST(Inputs, NothingIsSearchedUnlessItIsAskedFor) {
  ExperimentData data = data_of({set_of(distances(), PairKind::kDistance)});
  const std::vector<Candidate> plain = resolved(data, "knn,svm-clip", {});
  EXPECT_THAT(values_of(plain[0], data, "from-distance"), ElementsAre("negative"));
  EXPECT_THAT(values_of(plain[1], data, "from-distance"), ElementsAre("double-centre"));
  EXPECT_EQ(plain[0].inputs[0].settings.rescale, Rescale::kNone);
}

TEST(Inputs, ScalesAreSearchedWhereTheyChangeMoreThanAFactor) {
  const auto scales = [](const Matrix& S, const InputSettings& input = {}) {
    ExperimentData data = data_of({set_of(S, PairKind::kSimilarity)}, input);
    return values_of(resolved(data, "svm-clip")[0], data, "scale");
  };
  EXPECT_THAT(scales(similarities()), ElementsAre("none", "unit", "cosine"));
  Matrix alike = similarities();
  alike.diagonal().setConstant(2);
  EXPECT_THAT(scales(alike), ElementsAre("none", "unit"));  // equal roots are a factor
  alike.diagonal().setOnes();
  alike(0, 1) = alike(1, 0) = 0;
  EXPECT_THAT(scales(alike), ElementsAre("none"));  // from 0 to 1 already
  Matrix negative = similarities();
  negative(3, 3) = 0;
  EXPECT_THAT(scales(negative), ElementsAre("none", "unit"));
  EXPECT_THAT(scales(similarities(), {.diagonal = DiagonalRule::kOne}),
              ElementsAre("none", "unit"));
}

TEST(Inputs, OfSimilaritiesAreTheSameForAllMethods) {
  ExperimentData data = data_of({set_of(similarities(), PairKind::kSimilarity)});
  for (const InputSearch& search : {kAll, InputSearch{}}) {
    const std::vector<Candidate> all = resolved(data, "knn,svm-clip,ridge", search);
    EXPECT_EQ(all[0].inputs, all[1].inputs);  // so that one block serves them all
    EXPECT_EQ(count_variants(all), all[2].inputs.size());
  }
}

TEST(Inputs, FieldsThatAreListedTakeThePlaceOfTheDefaults) {
  ExperimentData data = data_of({set_of(similarities(), PairKind::kSimilarity)});
  std::vector<Candidate> candidates = parse_candidates("svm-clip,knn");
  search(candidates[0], "scale", std::vector<std::string>{"none", "cosine"});
  fix(candidates[1], "scale", "unit");
  fix(candidates[1], "diagonal", "one");
  RunContext ctx;
  resolve_inputs(data, {}, kAll, candidates, ctx);
  EXPECT_THAT(values_of(candidates[0], data, "scale"), ElementsAre("none", "cosine"));
  EXPECT_THAT(values_of(candidates[1], data, "scale"), ElementsAre("unit"));
  EXPECT_THAT(values_of(candidates[1], data, "diagonal"), ElementsAre("one"));
}

TEST(Inputs, GammaMattersToExpAlone) {
  ExperimentData data = data_of({set_of(distances(), PairKind::kDistance)});
  std::vector<Candidate> candidates = parse_candidates("ridge-clip");
  search(candidates[0], "gamma", std::vector<std::string>{"0.5", "2"});
  search(candidates[0], "from-distance", std::vector<std::string>{"negative", "exp"});
  RunContext ctx;
  resolve_inputs(data, {}, kAll, candidates, ctx);
  ASSERT_EQ(candidates[0].inputs.size(), 3U);  // negative once, exp with each gamma
  EXPECT_EQ(count_variants(candidates), 3U);
}

TEST(Inputs, AFieldOfTheCommitteeIsThatOfItsMembers) {
  ExperimentData data = data_of({set_of(distances(), PairKind::kDistance)});
  std::vector<Candidate> candidates = parse_candidates("auto");
  fix(candidates[0], "from-distance", "exp");
  RunContext ctx;
  resolve_inputs(data, {}, kAll, candidates, ctx);
  for (const Candidate& member : candidates[0].members) {
    EXPECT_THAT(values_of(member, data, "from-distance"), ElementsAre("exp")) << member.name;
  }
}

TEST(Inputs, RefusesWhatDoesNotApply) {
  const auto resolve = [](const Matrix& values, PairKind kind, const char* key, const char* value) {
    ExperimentData data = data_of({set_of(values, kind)});
    std::vector<Candidate> candidates = parse_candidates("svm-clip");
    fix(candidates[0], key, value);
    RunContext ctx;
    resolve_inputs(data, {}, kAll, candidates, ctx);
  };
  EXPECT_THAT(
      refusal([&] { resolve(similarities(), PairKind::kSimilarity, "from-distance", "exp"); }),
      AllOf(HasSubstr("svm-clip"), HasSubstr("about distances")));
  EXPECT_THAT(refusal([&] { resolve(similarities(), PairKind::kSimilarity, "band", "3"); }),
              HasSubstr("setting of measures"));
  EXPECT_THAT(refusal([&] { resolve(similarities(), PairKind::kSimilarity, "scale", "no-such"); }),
              AllOf(HasSubstr("scale"), HasSubstr("no-such")));
  EXPECT_THAT(refusal([&] { resolve(distances(), PairKind::kDistance, "gamma", "-1"); }),
              HasSubstr("gamma"));
}

TEST(Inputs, AMethodForOneTableChoosesOneOfSeveral) {
  ExperimentData data = data_of({set_of(similarities(), PairKind::kSimilarity, "first"),
                                 set_of(distances(), PairKind::kDistance, "second")});
  const std::vector<Candidate> all = resolved(data, "knn,average-svm");
  EXPECT_THAT(values_of(all[0], data, "matrix"),
              ElementsAre("first", "first", "first", "second", "second"));
  EXPECT_THAT(values_of(all[0], data, "from-distance"), ElementsAre("", "", "", "negative", "exp"));
  ASSERT_EQ(all[1].inputs.size(), 1U);
  EXPECT_EQ(all[1].inputs[0].matrix, kEveryMatrix);
}

TEST(Inputs, SettingsOfTheMeasureAreSearchedWhereTheyAreListed) {
  SeriesData series{.source = "t.csv", .ids = {}, .values = {}};
  Rng rng(3);
  for (Index i = 0; i < 8; ++i) {
    std::vector<double> one;
    one.reserve(6);
    for (int k = 0; k < 6; ++k) one.push_back(rng.normal());
    series.values.push_back(one);
  }
  const std::vector<RawMatrix> samples = {test::raw_matrix("made", Measure::kDtw, series)};
  RunContext ctx;
  ExperimentData data =
      make_experiment_data(samples, test::numbered_labels(halves(8)), InputSettings{}, ctx);
  EXPECT_TRUE(resolved(data, "knn,svm-clip", kAll, samples)[0].inputs[0].measure.empty());
  EXPECT_TRUE(data.alternatives.empty());

  std::vector<Candidate> candidates = parse_candidates("knn,svm-clip");
  for (Candidate& one : candidates) search(one, "band", std::vector<std::string>{"1", "3"});
  resolve_inputs(data, samples, {}, candidates, ctx);
  EXPECT_THAT(values_of(candidates[0], data, "band"), ElementsAre("1", "3"));
  ASSERT_EQ(data.alternatives.size(), 2U);  // measured once for all methods
  for (std::size_t k = 0; k < 2; ++k) {
    MeasureSettings settings{.measure = Measure::kDtw};
    set_field(settings, "dtw", "band", k == 0 ? "1" : "3");
    EXPECT_EQ(to_dense(data.alternatives[k].matrices.sets[0].block).values(),
              to_dense(measure(series, settings, ctx).block).values());
    EXPECT_EQ(candidates[1].inputs[k].tables, k + 1);
  }
  std::vector<Candidate> wrong = parse_candidates("knn");
  fix(wrong[0], "band", "0.5");
  EXPECT_NE(refusal([&] { resolve_inputs(data, samples, {}, wrong, ctx); }), "");
}

TEST(Inputs, ASettingGivenToTheMeasureIsNotSearched) {
  VectorData points{.source = "x.csv", .ids = {}, .values = DenseBlock(RowMatrix(similarities()))};
  RawMatrix matrix = test::raw_matrix("made", Measure::kPolynomial, points);
  matrix.measure.degree = 2;
  matrix.given = {{.field = "degree", .said = "--degree 2"}};
  RunContext ctx;
  const Index n = rows(points.values);
  ExperimentData data = make_experiment_data(
      std::span(&matrix, 1), test::numbered_labels(halves(n)), InputSettings{}, ctx);
  const auto ask = [&](const std::string& key, const std::vector<std::string>& values) {
    std::vector<Candidate> candidates = parse_candidates("knn");
    search(candidates[0], key, values);
    resolve_inputs(data, std::span(&matrix, 1), {}, candidates, ctx);
  };
  const auto refused = [&](const std::string& key, const std::vector<std::string>& values) {
    return refusal([&] { ask(key, values); });
  };
  EXPECT_THAT(refused("degree", {"1", "2"}), AllOf(HasSubstr("knn: degree is set by --degree 2"),
                                                   HasSubstr("[[grid=degree=1,2]]")));
  EXPECT_THAT(refused("measure.degree", {"3"}), HasSubstr("and measure.degree=3 asks"));
  ask("degree", {"2"});  // says the same twice
  ask("coef0", {"0", "1"});
}

TEST(Inputs, ASettingThatAMeasureCannotDoWithoutMayBeSearchedAsWell) {
  SequenceData strands{.source = "s.fasta", .ids = {}, .values = {}};
  for (const char* one : {"ACGT", "ACGA", "TTGT", "TTGA", "ACCT", "TTCA"}) {
    strands.values.emplace_back(one);
  }
  RawMatrix matrix = test::raw_matrix("made", Measure::kNeedlemanWunsch, strands);
  matrix.measure.matrix = "dnafull";  // has no usual gap costs
  matrix.measure.gap_open = 8;
  matrix.measure.gap_extend = 2;
  matrix.given = {{.field = "gap-open", .said = "--gap-open 8"}};
  RunContext ctx;
  ExperimentData data = make_experiment_data(
      std::span(&matrix, 1), test::numbered_labels(halves(6)), InputSettings{}, ctx);
  std::vector<Candidate> candidates = parse_candidates("knn");
  search(candidates[0], "gap-open", std::vector<std::string>{"8", "12"});
  resolve_inputs(data, std::span(&matrix, 1), {}, candidates, ctx);
  EXPECT_THAT(values_of(candidates[0], data, "gap-open"), ElementsAre("8", "12"));
}

TEST(Inputs, OfAMeasureThatLearnsFromTheLabelsAreNotSearched) {
  CategoryData votes{.source = "v.csv", .ids = {}, .values = {}};
  for (Index i = 0; i < 8; ++i) votes.values.push_back({i % 3 == 0 ? "y" : "n", i < 4 ? "a" : "b"});
  const std::vector<RawMatrix> samples = {
      test::raw_matrix("made", Measure::kValueDifference, votes)};
  RunContext ctx;
  ExperimentData data =
      make_experiment_data(samples, test::numbered_labels(halves(8)), InputSettings{}, ctx);
  std::vector<Candidate> candidates = parse_candidates("knn");
  search(candidates[0], "exponent", std::vector<std::string>{"1", "2"});
  EXPECT_THAT(refusal([&] { resolve_inputs(data, samples, {}, candidates, ctx); }),
              HasSubstr("learns from the labels"));
}

TEST(Inputs, AMethodOnVectorsHasNone) {
  ExperimentData data = data_of({set_of(similarities(), PairKind::kSimilarity)});
  data.vectors = DenseBlock(RowMatrix(similarities()));
  EXPECT_EQ(resolved(data, "vector-svm")[0].inputs.size(), 1U);
  std::vector<Candidate> candidates = parse_candidates("vector-svm");
  candidates[0].input_axes = {{.field = "scale", .values = {"unit"}}};
  RunContext ctx;
  EXPECT_THAT(refusal([&] { resolve_inputs(data, {}, kAll, candidates, ctx); }),
              HasSubstr("learns from vectors"));
}

/// Kept apart: the losses of a candidate over its inputs, and those of candidates fixed to each.
TEST(SearchedInput, LossesAreThoseOfEveryInputOneAfterAnother) {
  test::Sample sample = test::make_sample(40, 0, 2, 3, test::Likeness::kGaussian);
  const Matrix D = (2 - 2 * sample.S.array()).max(0).sqrt();
  RunContext ctx;
  ExperimentData data =
      make_experiment_data(MatchedSets{.sets = {set_of(D, PairKind::kDistance)}, .ids = {}},
                           test::numbered_labels(sample.classes), InputSettings{}, ctx);
  ExperimentPlan plan = test::plan_of(data, {"svm-clip"}, {.repeats = 2, .folds = 3});
  resolve_inputs(data, {}, kAll, plan.candidates, ctx);
  const std::size_t variants = plan.candidates[0].inputs.size();
  ASSERT_EQ(variants, 4U);
  for (std::size_t v = 0; v < variants; ++v) {
    Candidate one = plan.candidates[0];
    one.name = "fixed-" + std::to_string(v);
    one.inputs = {plan.candidates[0].inputs[v]};
    plan.candidates.push_back(one);
  }
  Store store(":memory:");
  const std::int64_t experiment =
      run_experiment(data, plan, store, NewData::kRefuse, ctx).experiment;
  const std::vector<std::int64_t> numbers = store.candidates(experiment);
  for (int p = 0; p < 2; ++p) {
    for (int f = 0; f < 3; ++f) {
      std::vector<double> joined;
      for (std::size_t v = 0; v < variants; ++v) {
        const std::vector<double> own = store.fold_result({numbers[v + 1], p, f})->losses;
        joined.insert(joined.end(), own.begin(), own.end());
      }
      EXPECT_EQ(store.fold_result({numbers[0], p, f})->losses, joined);
    }
    // What is tested is the first input of least inner loss, with that input's own choice.
    std::size_t best = 0;
    const auto least = [&](std::size_t v) {
      return std::ranges::min(store.test_result({numbers[v + 1], p, kTestFold})->inner_losses);
    };
    for (std::size_t v = 1; v < variants; ++v) best = least(v) < least(best) ? v : best;
    const TestResult searched = *store.test_result({numbers[0], p, kTestFold});
    const TestResult fixed = *store.test_result({numbers[best + 1], p, kTestFold});
    EXPECT_EQ(searched.chosen, fixed.chosen);
    EXPECT_EQ(searched.prediction.labels, fixed.prediction.labels);
    EXPECT_EQ(searched.prediction.scores, fixed.prediction.scores);
  }
}

TEST(SearchedInput, IsChosenInsideTheTrainingPart) {
  const test::Sample sample = test::make_sample(45, 0, 3, 4, test::Likeness::kGaussian);
  Matrix D = (2 - 2 * sample.S.array()).max(0).sqrt();
  std::vector<int> classes = sample.classes;
  const auto run = [&](const ExperimentPlan* given, ExperimentPlan* made) {
    RunContext ctx;
    ExperimentData data =
        make_experiment_data(MatchedSets{.sets = {set_of(D, PairKind::kDistance)}, .ids = {}},
                             test::numbered_labels(classes), InputSettings{}, ctx);
    ExperimentPlan plan = given != nullptr ? *given
                                           : test::plan_of(data, {"knn", "svm-clip", "auto=auto"},
                                                           {.repeats = 1, .folds = 3});
    resolve_inputs(data, {}, kAll, plan.candidates, ctx);
    Store store(":memory:");
    const std::int64_t experiment =
        run_experiment(data, plan, store, NewData::kRefuse, ctx).experiment;
    if (made != nullptr) *made = plan;
    std::vector<std::pair<std::vector<double>, Json>> all;
    for (const std::int64_t c : store.candidates(experiment)) {
      const TestResult test = *store.test_result({c, 0, kTestFold});
      all.emplace_back(test.inner_losses, test.chosen);
    }
    return all;
  };
  ExperimentPlan plan;
  const auto clean = run(nullptr, &plan);
  Rng rng(9);
  for (const Index i : plan.partitions[0].test) {
    for (Index j = 0; j < D.cols(); ++j) D(i, j) = D(j, i) = i == j ? 0 : 50 * rng.uniform();
    int& c = classes[static_cast<std::size_t>(i)];
    c = (c + 1) % 3;
  }
  EXPECT_EQ(run(&plan, nullptr), clean);
}

}  // namespace
}  // namespace kith::inputs_test
