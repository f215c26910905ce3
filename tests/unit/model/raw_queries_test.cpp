// SPDX-License-Identifier: Apache-2.0
#include "kith/model/raw_queries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kith/core/error.hpp"
#include "support/files.hpp"
#include "tensor_bytes.hpp"

namespace kith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const StringData kTrees{
    .source = "trees.tsv", .ids = {"a", "b", "c", "d"}, .values = {"oak", "oaks", "elm", "helm"}};

TrainedModel trained() {
  RunContext ctx;
  const Labels labels{.ids = {0, 0, 1, 1}, .names = {"deep", "high"}};
  const MethodChoice choice = parse_method("knn", std::vector<std::string>{"neighbours=1"});
  return train(prepare_training(kTrees, labels, MeasureSettings{.measure = Measure::kEdit},
                                InputSettings{}, ctx),
               choice, ctx)
      .model;
}

TEST(RawQueryReader, GivesTheRowsOfNewSamplesInChunks) {
  const TempFolder folder;
  const std::string path = folder.file("new.tsv", "p\toaks\nq\thelms\nr\telm\n");
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
  EXPECT_EQ(reader.names_of(second).at(0).source, path);
}

TEST(RawQueryReader, CountsSamplesWithoutIdsFromOne) {
  const TempFolder folder;
  const std::string path = folder.file("new.tsv", "oaks\nhelms\nelm\n");
  const TrainedModel model = trained();
  RawQueryReader reader(model.record, path, RunContext{});
  EXPECT_THAT(reader.next(2).ids, ElementsAre("1", "2"));
  EXPECT_THAT(reader.next(2).ids, ElementsAre("3"));
}

TEST(RawQueryReader, RefusesAModelOfAMatrix) {
  const TempFolder folder;
  const std::string path = folder.file("new.tsv", "oaks\n");
  TrainedModel model = trained();
  EXPECT_TRUE(takes_raw_samples(model.record));
  model.record.matrices[0].measure.reset();
  EXPECT_FALSE(takes_raw_samples(model.record));
  EXPECT_THAT(message_of([&] { RawQueryReader reader(model.record, path, RunContext{}); },
                         ErrorCode::kInvalidArgument),
              HasSubstr("--measure"));
}

}  // namespace
}  // namespace kith
