// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/raw_queries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kith/core/error.hpp"
#include "support/files.hpp"
#include "support/raw_matrices.hpp"
#include "support/tensor_bytes.hpp"

namespace kith::raw_queries_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const StringData kTrees{
    .source = "trees.tsv", .ids = {"a", "b", "c", "d"}, .values = {"oak", "oaks", "elm", "helm"}};

TrainedModel trained() {
  RunContext ctx;
  const Labels labels{.ids = {0, 0, 1, 1}, .names = {"deep", "high"}};
  const MethodChoice choice = parse_method("knn", std::vector<std::string>{"neighbours=1"});
  const std::vector<RawMatrix> matrices = {test::raw_matrix("trees", Measure::kEdit, kTrees)};
  return train(prepare_training(matrices, labels, InputSettings{}, ctx), choice, ctx).model;
}

TEST(RawQueryReader, GivesTheRowsOfNewSamplesInChunks) {
  const TempFolder folder;
  const std::vector<std::string> path = {folder.file("new.tsv", "p\toaks\nq\thelms\nr\telm\n")};
  const TrainedModel model = trained();
  RunContext ctx;
  RawQueryReader reader(model.record, path, ctx);
  const QueryChunk first = reader.next(2);
  EXPECT_THAT(first.ids, ElementsAre("p", "q"));
  EXPECT_EQ(first.queries.size(), 2);
  EXPECT_THAT(predict(model, first.queries, ctx).labels, ElementsAre(0, 1));
  const QueryChunk second = reader.next(2);
  EXPECT_THAT(second.ids, ElementsAre("r"));
  EXPECT_EQ(to_dense(second.queries.matrices.at(0).to_training)(0, 2), 1);
  EXPECT_EQ((*second.queries.matrices[0].self)[0], 1);
  EXPECT_TRUE(reader.next(2).ids.empty());
  EXPECT_EQ(reader.names_of(second).at(0).source, path[0]);
}

TEST(RawQueryReader, CountsSamplesWithoutIdsFromOne) {
  const TempFolder folder;
  const std::vector<std::string> path = {folder.file("new.tsv", "oaks\nhelms\nelm\n")};
  const TrainedModel model = trained();
  RawQueryReader reader(model.record, path, RunContext{});
  EXPECT_THAT(reader.next(2).ids, ElementsAre("1", "2"));
  EXPECT_THAT(reader.next(2).ids, ElementsAre("3"));
}

/// Two views of the same trees, measured from one file of words (`files` 1) or from two.
TrainedModel trained_on_two(Index files) {
  RunContext ctx;
  const Labels labels{.ids = {0, 0, 1, 1}, .names = {"deep", "high"}};
  const SeriesData rings{.source = "rings.csv",
                         .ids = {"a", "b", "c", "d"},
                         .values = {{0, 1}, {0, 2}, {9, 8, 7}, {9, 9}}};
  std::vector<RawMatrix> matrices = {test::raw_matrix("words", Measure::kEdit, kTrees, 0)};
  matrices.push_back(files == 2 ? test::raw_matrix("rings", Measure::kDtw, rings, 1)
                                : test::raw_matrix("letters", Measure::kEditDistance, kTrees, 0));
  const MethodChoice choice = parse_method("average-svm", std::vector<std::string>{});
  return train(prepare_training(matrices, labels, InputSettings{}, ctx), choice, ctx).model;
}

TEST(RawQueryReader, MatchesTheSamplesOfSeveralFilesById) {
  const TempFolder folder;
  const std::vector<std::string> files = {folder.file("new.tsv", "p\toaks\nq\thelms\n"),
                                          folder.file("new.csv", "q,9,8,8\np,0,1\n")};
  const TrainedModel model = trained_on_two(2);
  EXPECT_EQ(files_of_samples(model.record), 2);
  RunContext ctx;
  RawQueryReader reader(model.record, files, ctx);
  const QueryChunk chunk = reader.next(1);
  EXPECT_THAT(chunk.ids, ElementsAre("p"));
  ASSERT_EQ(chunk.queries.matrices.size(), 2U);
  EXPECT_EQ(to_dense(chunk.queries.matrices[0].to_training)(0, 1), 1);  // oaks
  EXPECT_EQ(to_dense(chunk.queries.matrices[1].to_training)(0, 0), 0);  // 0, 1
  EXPECT_EQ(reader.names_of(chunk).at(1).source, files[1]);
  EXPECT_THAT(reader.next(5).ids, ElementsAre("q"));
  const std::vector<std::string> others = {files[0], folder.file("other.csv", "p,1\nr,2\n")};
  EXPECT_THAT(message_of([&] { RawQueryReader other(model.record, others, ctx); },
                         ErrorCode::kInvalidArgument),
              testing::AllOf(HasSubstr("other.csv"), HasSubstr("\"q\"")));
}

TEST(RawQueryReader, MeasuresOneFileInSeveralWays) {
  const TempFolder folder;
  const std::vector<std::string> files = {folder.file("new.tsv", "p\toaks\n")};
  const TrainedModel model = trained_on_two(1);
  EXPECT_EQ(files_of_samples(model.record), 1);
  RawQueryReader reader(model.record, files, RunContext{});
  const QueryChunk chunk = reader.next(5);
  EXPECT_EQ(to_dense(chunk.queries.matrices.at(0).to_training)(0, 1), 1);
  EXPECT_EQ(to_dense(chunk.queries.matrices.at(1).to_training)(0, 0), 1);  // oak
}

TEST(SampleFiles, AreTakenByNameOrByPosition) {
  const ModelRecord two = trained_on_two(2).record;
  const auto files = [](const ModelRecord& record, const std::vector<NamedFile>& given) {
    return sample_files(record, given);
  };
  EXPECT_THAT(files(two, {{"", "x"}, {"", "y"}}), ElementsAre("x", "y"));
  EXPECT_THAT(files(two, {{"rings", "x"}, {"words", "y"}}), ElementsAre("y", "x"));
  const auto refusal = [&](const ModelRecord& record, const std::vector<NamedFile>& given) {
    return message_of([&] { (void)files(record, given); }, ErrorCode::kInvalidArgument);
  };
  EXPECT_THAT(refusal(two, {{"", "x"}}), HasSubstr("\"words\" and \"rings\""));
  EXPECT_THAT(refusal(two, {{"rings", "x"}}), HasSubstr("[[data=words=FILE]]"));
  const ModelRecord shared = trained_on_two(1).record;
  EXPECT_THAT(files(shared, {{"", "x"}}), ElementsAre("x"));
  EXPECT_THAT(refusal(shared, {{"", "x"}, {"", "y"}}), HasSubstr("one file, and 2"));
  EXPECT_THAT(refusal(shared, {{"rings", "x"}}), HasSubstr("\"x\" is given for \"rings\" alone"));
  ModelRecord of_matrix = trained().record;
  EXPECT_THAT(files(of_matrix, {{"trees", "x"}}), ElementsAre("x"));
  of_matrix.matrices[0].measure.reset();
  EXPECT_EQ(files_of_samples(of_matrix), 0);
  EXPECT_THAT(refusal(of_matrix, {{"", "x"}}), HasSubstr("[[measure]]"));
}

}  // namespace
}  // namespace kith::raw_queries_test
