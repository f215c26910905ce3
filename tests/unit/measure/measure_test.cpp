// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kith/core/text.hpp"
#include "kith/measure/edit.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "support/files.hpp"

namespace kith::measure_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const StringData kTrees{
    .source = "wood/trees.tsv.gz", .ids = {"a", "b", "c"}, .values = {"oak", "ok", ""}};
const StringData kBushes{.source = "bushes.tsv", .ids = {"q"}, .values = {"oaks"}};

TEST(Measure, KeepsIdsAndSaysWhatItComputed) {
  const SimilaritySet set = measure(kTrees, {.measure = Measure::kEdit}, RunContext{});
  EXPECT_EQ(set.name, "trees");
  EXPECT_EQ(set.source, "wood/trees.tsv.gz");
  EXPECT_EQ(set.kind, PairKind::kSimilarity);
  EXPECT_THAT(set.row_ids, ElementsAre("a", "b", "c"));
  EXPECT_THAT(set.column_ids, ElementsAre("a", "b", "c"));
  EXPECT_THAT(set.applied, ElementsAre("measure edit"));
  EXPECT_EQ(to_dense(set.block)(0, 1), 2.0 / 3.0);
}

TEST(Measure, SetsQueriesAgainstTrainingSamples) {
  const SimilaritySet set =
      measure(kBushes, kTrees, {.measure = Measure::kEditDistance}, RunContext{});
  EXPECT_EQ(set.kind, PairKind::kDistance);
  EXPECT_THAT(set.row_ids, ElementsAre("q"));
  EXPECT_THAT(set.column_ids, ElementsAre("a", "b", "c"));
  EXPECT_THAT(to_dense(set.block).row(0), ElementsAre(1.0, 2.0, 4.0));
}

const VectorData kSizes{.source = "train.csv",
                        .ids = {},
                        .values = DenseBlock((RowMatrix(2, 3) << 1, 2, 5, 3, 4, 7).finished()),
                        .columns = {"h", "w", "d"}};

TEST(Measure, MatchesColumnsOfVectorsByName) {
  const MeasureSettings settings{.measure = Measure::kLinear};
  const auto rows_of = [&](const VectorData& queries) {
    return RowMatrix(to_dense(measure(queries, kSizes, settings, RunContext{}).block).values());
  };
  VectorData queries{.source = "new.csv",
                     .ids = {},
                     .values = DenseBlock((RowMatrix(1, 3) << 1, 100, 10).finished()),
                     .columns = {"d", "h", "w"}};
  const RowMatrix by_name = (RowMatrix(1, 2) << 125, 347).finished();
  EXPECT_EQ(rows_of(queries), by_name);
  queries.columns.clear();
  const RowMatrix by_position = (RowMatrix(1, 2) << 251, 473).finished();
  EXPECT_EQ(rows_of(queries), by_position) << "without names there is nothing to match";
  queries.columns = kSizes.columns;
  EXPECT_EQ(rows_of(queries), by_position);
}

TEST(Measure, RefusesColumnsThatOnlyOneTableHas) {
  const auto refused = [&](const std::vector<std::string>& columns) {
    const VectorData queries{.source = "new.csv",
                             .ids = {},
                             .values = DenseBlock(RowMatrix::Ones(1, std::ssize(columns))),
                             .columns = columns};
    return error_of(ErrorCode::kInvalidArgument, [&] {
      static_cast<void>(measure(queries, kSizes, {.measure = Measure::kEuclidean}, RunContext{}));
    });
  };
  EXPECT_THAT(refused({"h", "w"}),
              AllOf(HasSubstr("new.csv"), HasSubstr("train.csv has a column \"d\"")));
  EXPECT_THAT(refused({"d", "h", "w", "mass"}),
              AllOf(HasSubstr("train.csv"), HasSubstr("new.csv has a column \"mass\"")));
  EXPECT_THAT(refused({"d", "h", "h"}), HasSubstr("two columns \"h\""));
}

TEST(Measure, MatchesColumnsOfCategoriesByName) {
  const CategoryData training{.source = "train.csv",
                              .ids = {},
                              .values = {{"y", "n"}, {"y", "y"}, {"n", "y"}, {"n", "n"}},
                              .labels = Labels{.ids = {0, 0, 1, 1}, .names = {"a", "b"}},
                              .columns = {"tax", "war"}};
  CategoryData queries{
      .source = "new.csv", .ids = {}, .values = {{"y", "n"}}, .columns = {"war", "tax"}};
  const MeasureSettings settings{.measure = Measure::kValueDifference};
  // war says nothing about the class: a "n" of tax is as far from "y" as can be.
  EXPECT_THAT(to_dense(measure(queries, training, settings, RunContext{}).block).row(0),
              ElementsAre(2.0, 2.0, 0.0, 0.0));
  queries.columns = {"war", "peace"};
  EXPECT_THAT(
      error_of(ErrorCode::kInvalidArgument,
               [&] { static_cast<void>(measure(queries, training, settings, RunContext{})); }),
      AllOf(HasSubstr("new.csv"), HasSubstr("\"tax\"")));
}

TEST(Measure, IsChosenByItsName) {
  MeasureSettings settings;
  set_field(settings, "measure", "measure", "edit-distance");
  EXPECT_EQ(settings.measure, Measure::kEditDistance);
  EXPECT_THROW(set_field(settings, "measure", "measure", "hamming"), std::exception);
}

TEST(Measure, IsExplainedForEveryName) {
  for (std::size_t i = 0; i < kEnumNames<Measure>.size(); ++i) {
    EXPECT_FALSE(measure_info(static_cast<Measure>(i)).explanation.empty());
  }
}

/// The data that ship with kith: what their page promises.
class ExampleWords : public testing::Test {
 protected:
  static StringData read(const std::string& name) {
    return std::get<StringData>(read_raw(std::string(KITH_TEST_EXAMPLES) + "/words/" + name,
                                         RawKind::kStrings, RunContext{}));
  }
  const StringData words = read("words.tsv");
  const StringData languages = read("languages.tsv");
};

TEST_F(ExampleWords, AreAHundredDifferentWordsOfEachOfEightLanguages) {
  EXPECT_EQ(words.ids, languages.ids);
  std::map<std::string, std::set<std::string>> of_language;
  for (std::size_t i = 0; i < words.values.size(); ++i) {
    EXPECT_EQ(words.values[i], trim(words.values[i]));
    EXPECT_EQ(words.values[i].find(' '), std::string::npos);
    EXPECT_TRUE(of_language[languages.values[i]].insert(words.values[i]).second)
        << languages.values[i] << " has " << words.values[i] << " twice";
  }
  EXPECT_EQ(of_language.size(), 8U);
  for (const auto& [language, different] : of_language) EXPECT_EQ(different.size(), 100U);
}

TEST_F(ExampleWords, AreComposedLetters) {
  for (const std::string& word : words.values) {
    const std::u32string points = code_points(word).value();
    for (const char32_t point : points) {
      EXPECT_FALSE(point >= 0x300 && point < 0x370) << word << " has a combining mark";
    }
  }
}

TEST_F(ExampleWords, AreIndefiniteUnderEditSimilarity) {
  const RowMatrix S = edit_matrix(words.values, EditValue::kSimilarity, RunContext{.threads = 2});
  const Vector lambda = symmetric_eigenvalues(S);
  EXPECT_LT(lambda.minCoeff(), 100 * negative_threshold(lambda));
  EXPECT_GT((lambda.array() < negative_threshold(lambda)).count(), 80);
}

}  // namespace
}  // namespace kith::measure_test
