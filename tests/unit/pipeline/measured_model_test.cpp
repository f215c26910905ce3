// SPDX-License-Identifier: Apache-2.0
// Models that were trained from raw data: what a file keeps of the measure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kith/model/model_file.hpp"
#include "kith/pipeline/trained_model.hpp"
#include "support/raw_matrices.hpp"
#include "support/tensor_bytes.hpp"

namespace kith::measured_model_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const auto kNothing = [](auto& /*archiver*/) {};

struct Case {
  Measure measure;
  RawData samples;
};

/// A measure of each kind of data, over six samples.
std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back(
      {Measure::kEdit, StringData{.source = "s.tsv",
                                  .ids = {},
                                  .values = {"oak", "oaks", "", "elm", "helm", "\xc3\xa9lm"}}});
  all.push_back(
      {Measure::kGaussian,
       VectorData{.source = "v.txt",
                  .ids = {},
                  .values = DenseBlock(
                      (RowMatrix(6, 2) << 0, 0.1, 1, 0, 0, 1, 5, 5, 5, 4, 4, 5).finished()),
                  .absent_is_zero = true,
                  .columns = {"w", "h"}}});
  all.push_back(
      {Measure::kDtw, SeriesData{.source = "t.csv",
                                 .ids = {},
                                 .values = {{0, 1}, {0, 0, 1}, {1}, {9, 8}, {9, 9, 8}, {8, 8.5}}}});
  all.push_back(
      {Measure::kNeedlemanWunsch,
       SequenceData{
           .source = "p.fa", .ids = {}, .values = {"MKTA", "MKTAA", "MKA", "WWG", "WWGG", "WG"}}});
  all.push_back({Measure::kTverskyRatio,
                 SetData{.source = "f.tsv",
                         .ids = {},
                         .values = {{"a", "b"}, {"a"}, {}, {"c"}, {"c", "d"}, {"d", "c", "e"}}}});
  all.push_back(
      {Measure::kValueDifference,
       CategoryData{
           .source = "c.csv",
           .ids = {},
           .values = {{"y", "n"}, {"y", "y"}, {"y", "?"}, {"n", "y"}, {"n", "n"}, {"", "y"}},
           .columns = {"tax", "war"}}});
  SparseBlock sparse{.cols = 9,
                     .starts = {0, 2, 3, 3, 5, 6, 8},
                     .columns = {0, 8, 4, 0, 1, 8, 1, 7},
                     .values = {1, 0.1, -2, 0.5, 3, 1, 4, 1},
                     .absent = Absent::kZero};
  all.push_back(
      {Measure::kGaussian,
       VectorData{
           .source = "v.libsvm", .ids = {}, .values = std::move(sparse), .absent_is_zero = true}});
  return all;
}

const Labels kLabels{.ids = {0, 0, 0, 1, 1, 1}, .names = {"a", "b"}};

RawMatrix matrix_of(const Case& one) { return test::raw_matrix("made", one.measure, one.samples); }

/// A record of a machine that needs the columns 1, 3 and 4.
ModelRecord record_of(const Case& one) {
  const std::vector<Index> columns = {1, 3, 4};
  const MeasureRule rule = learn_measure(matrix_of(one), kLabels, RunContext{}).rule;
  ModelRecord record;
  record.method = "dummy";
  record.class_names = kLabels.names;
  record.samples = record.given_samples = 6;
  record.positions = columns;
  record.classes = {0, 1, 1};
  InputRule input;
  input.kind = measure_info(one.measure).values;
  input.settings.from_distance = FromDistance::kNegative;
  input.samples = input.given_samples = 3;
  record.matrices = {{"made", input, restricted(rule, columns)}};
  return record;
}

ModelRecord read_back(const std::string& bytes) {
  LoadedModel loaded = load_model_bytes(bytes, "m.kith");
  loaded.read_parts(kNothing);
  return loaded.record;
}

TEST(MeasuredModel, MeasuresNewSamplesAsBeforeItWasSaved) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(enum_name(one.measure));
    const ModelRecord record = record_of(one);
    const std::string bytes = model_bytes(record, kNothing);
    const ModelRecord back = read_back(bytes);
    EXPECT_EQ(model_bytes(back, kNothing), bytes);
    ASSERT_TRUE(back.matrices.at(0).measure.has_value());
    const QueryMatrix before = measure_rows(*record.matrices[0].measure, one.samples, RunContext{});
    const QueryMatrix after = measure_rows(*back.matrices[0].measure, one.samples, RunContext{});
    EXPECT_EQ(to_dense(before.to_training).values(), to_dense(after.to_training).values());
    EXPECT_EQ(*before.self, *after.self);
    EXPECT_EQ(source_of(back.matrices[0].measure->training), "m.kith");
  }
}

TEST(MeasuredModel, MatchesColumnsByNameAfterItWasSaved) {
  const Case one = cases().at(1);
  const ModelRecord back = read_back(model_bytes(record_of(one), kNothing));
  VectorData swapped = std::get<VectorData>(one.samples);
  swapped.values = DenseBlock(to_dense(swapped.values).values().rowwise().reverse());
  std::swap(swapped.columns[0], swapped.columns[1]);
  const auto rows_of = [&](const RawData& samples) {
    const QueryMatrix rows = measure_rows(*back.matrices[0].measure, samples, RunContext{});
    return RowMatrix(to_dense(rows.to_training).values());
  };
  EXPECT_EQ(rows_of(swapped), rows_of(one.samples));
  swapped.columns[0] = "weight";
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { static_cast<void>(rows_of(swapped)); }),
              AllOf(HasSubstr("m.kith"), HasSubstr("\"h\"")));
}

TEST(MeasuredModel, RefusesNamesForOtherColumnsThanItHas) {
  Case one = cases().at(1);
  std::get<VectorData>(one.samples).columns = {"w", "h", "d"};
  const std::string bytes = model_bytes(record_of(one), kNothing);
  EXPECT_THAT(message_of([&] { static_cast<void>(read_back(bytes)); }),
              AllOf(HasSubstr("m.kith"), HasSubstr("names"), HasSubstr("every column")));
}

std::string changed(const Case& one, const std::function<void(TensorFile&)>& change) {
  TensorFile file =
      read_tensor_bytes(model_bytes(record_of(one), kNothing), "m.kith", kModelFormat);
  change(file);
  return tensor_file_bytes(file, kModelFormat);
}

std::string refusal(const Case& one, const std::function<void(TensorFile&)>& change) {
  const std::string bytes = changed(one, change);
  return message_of([&] { (void)read_back(bytes); });
}

TEST(MeasuredModel, NamesAnArrayThatIsAbsentOrLeftOver) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(enum_name(one.measure));
    const std::string bytes = model_bytes(record_of(one), kNothing);
    for (const auto& item : read_tensor_bytes(bytes, "m.kith", kModelFormat).tensors) {
      if (!item.first.starts_with("measure.0.")) continue;
      EXPECT_THAT(refusal(one, [&](TensorFile& file) { file.tensors.erase(item.first); }),
                  AllOf(HasSubstr("m.kith"), HasSubstr(item.first)));
    }
    EXPECT_THAT(refusal(one,
                        [](TensorFile& file) {
                          file.tensors["measure.0.surprise"] = {TensorType::kU8, {0}, "", nullptr};
                        }),
                HasSubstr("measure.0.surprise"));
  }
}

TEST(MeasuredModel, RefusesEndsThatDoNotFit) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(enum_name(one.measure));
    const std::string bytes = model_bytes(record_of(one), kNothing);
    for (const auto& item : read_tensor_bytes(bytes, "m.kith", kModelFormat).tensors) {
      if (!item.first.starts_with("measure.0.") || !item.first.ends_with("ends")) continue;
      EXPECT_THAT(refusal(one,
                          [&](TensorFile& file) {
                            Tensor& ends = file.tensors.at(item.first);
                            const auto wrong = std::make_shared<std::vector<Index>>(
                                static_cast<std::size_t>(ends.shape[0]), Index{1} << 40);
                            ends.bytes = {reinterpret_cast<const char*>(wrong->data()),
                                          wrong->size() * sizeof(Index)};
                            ends.owner = wrong;
                          }),
                  AllOf(HasSubstr("m.kith"), HasSubstr("fit")))
          << item.first;
    }
  }
}

TEST(MeasuredModel, RefusesNumbersThatAreNotFinite) {
  for (const Case& one : cases()) {
    if (measure_info(one.measure).data != RawKind::kVectors &&
        measure_info(one.measure).data != RawKind::kSeries) {
      continue;
    }
    EXPECT_THAT(
        refusal(
            one,
            [](TensorFile& file) {
              const bool dense = file.tensors.contains("measure.0.samples");
              Tensor& samples =
                  file.tensors.at(dense ? "measure.0.samples" : "measure.0.samples.values");
              const auto wrong = std::make_shared<std::vector<double>>(
                  samples.bytes.size() / sizeof(double), std::numeric_limits<double>::quiet_NaN());
              samples.bytes = {reinterpret_cast<const char*>(wrong->data()), samples.bytes.size()};
              samples.owner = wrong;
            }),
        HasSubstr("not finite"));
  }
}

TEST(MeasuredModel, RefusesSparseVectorsThatAreNoTable) {
  for (const int wrong_column : {-1, 9, 100}) {
    const std::string message = refusal(cases().back(), [&](TensorFile& file) {
      Tensor& part = file.tensors.at("measure.0.samples.columns");
      const auto columns = std::make_shared<std::vector<int>>(part.bytes.size() / sizeof(int));
      std::memcpy(columns->data(), part.bytes.data(), part.bytes.size());
      columns->front() = wrong_column;
      part.bytes = {reinterpret_cast<const char*>(columns->data()), part.bytes.size()};
      part.owner = columns;
    });
    EXPECT_THAT(message, HasSubstr("no table"));
  }
}

TEST(MeasuredModel, RefusesSettingsThatBreakARule) {
  const Case gaussian = cases().at(1);
  const auto with = [&](const Json& measure) {
    return refusal(gaussian, [&](TensorFile& file) {
      Json matrices = Json::parse(file.metadata.at("matrices"));
      matrices[0]["measure"] = measure;
      file.metadata["matrices"] = matrices.dump();
    });
  };
  EXPECT_THAT(with(Json(3)), AllOf(HasSubstr("m.kith"), HasSubstr("measure")));
  EXPECT_THAT(with({{"gamma", 1.0}}), HasSubstr("name"));
  EXPECT_THAT(with({{"measure", "hamming"}}), HasSubstr("hamming"));
  EXPECT_THAT(with({{"measure", "gaussian"}, {"gamma", -1.0}}), HasSubstr("gamma"));
  EXPECT_THAT(with({{"measure", "gaussian"}, {"gamma", "auto"}}), HasSubstr("gamma"));
  EXPECT_THAT(with({{"measure", "gaussian"}, {"gamma", 1.0}, {"degree", 2}}), HasSubstr("degree"));
  EXPECT_THAT(with({{"measure", "euclidean"}}), HasSubstr("distances"));
}

ModelRecord record_of_two(Index first_file, Index second_file) {
  ModelRecord record = record_of(cases().at(0));
  ModelMatrix second = record_of(cases().at(2)).matrices.at(0);
  second.name = "warped";
  record.matrices[0].measure->file = first_file;
  second.measure->file = second_file;
  record.matrices.push_back(std::move(second));
  return record;
}

TEST(MeasuredModel, KeepsWhichFileEachMatrixIsMeasuredFrom) {
  for (const Index second : {0, 1}) {
    const ModelRecord back = read_back(model_bytes(record_of_two(0, second), kNothing));
    EXPECT_EQ(back.matrices.at(0).measure->file, 0);
    EXPECT_EQ(back.matrices.at(1).measure->file, second);
  }
  EXPECT_THAT(
      message_of([] { (void)model_bytes(record_of_two(0, 2), kNothing); }, ErrorCode::kInternal),
      HasSubstr("share some files"));
  EXPECT_THAT(message_of(
                  [] {
                    ModelRecord record = record_of_two(0, 0);
                    record.matrices[1].measure.reset();
                    (void)model_bytes(record, kNothing);
                  },
                  ErrorCode::kInternal),
              HasSubstr("some have none"));
}

std::vector<std::string> sample_arrays(const std::string& bytes, const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& item : read_tensor_bytes(bytes, "m.kith", kModelFormat).tensors) {
    if (item.first.starts_with(prefix + "samples")) names.push_back(item.first);
  }
  return names;
}

TEST(MeasuredModel, KeepsSamplesOfSeveralMeasuresOnce) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(enum_name(one.measure));
    ModelRecord record = record_of(one);
    record.matrices.push_back(record.matrices.front());
    record.matrices.back().name = "again";
    const std::string bytes = model_bytes(record, kNothing);
    EXPECT_FALSE(sample_arrays(bytes, "measure.0.").empty());
    EXPECT_TRUE(sample_arrays(bytes, "measure.1.").empty());
    const ModelRecord back = read_back(bytes);
    EXPECT_EQ(model_bytes(back, kNothing), bytes);
    const auto rows_of = [&](const ModelRecord& model) {
      const QueryMatrix rows = measure_rows(*model.matrices[1].measure, one.samples, RunContext{});
      return RowMatrix(to_dense(rows.to_training).values());
    };
    EXPECT_EQ(rows_of(back), rows_of(record));

    // Samples of another file, and others of the same one, are kept.
    record.matrices.back().measure->file = 1;
    EXPECT_FALSE(sample_arrays(model_bytes(record, kNothing), "measure.1.").empty());
    record.matrices.back().measure->file = 0;
    RawData& own = record.matrices.back().measure->training;
    std::vector<Index> backwards(static_cast<std::size_t>(size_of(own)));
    std::iota(backwards.rbegin(), backwards.rend(), Index{0});
    own = select(own, backwards);
    const std::string of_two = model_bytes(record, kNothing);
    EXPECT_FALSE(sample_arrays(of_two, "measure.1.").empty());
    EXPECT_EQ(rows_of(read_back(of_two)), rows_of(record));
  }
}

TEST(MeasuredModel, SaysThatAMeasureWithoutConstantsIsToBeTrainedAgain) {
  const Case proteins = cases().at(3);
  const std::string message = refusal(proteins, [](TensorFile& file) {
    Json matrices = Json::parse(file.metadata.at("matrices"));
    matrices[0]["measure"]["matrix"] = "blosum80";
    matrices[0]["measure"]["gap-open"] = "auto";
    file.metadata["matrices"] = matrices.dump();
  });
  EXPECT_THAT(message, AllOf(HasSubstr("m.kith"), HasSubstr("thirds of a bit"),
                             HasSubstr("train the model again")));
}

TEST(MeasuredModel, RefusesLabelsOfNoClass) {
  const Case votes = cases().at(5);
  EXPECT_THAT(refusal(votes,
                      [](TensorFile& file) {
                        const auto wrong = std::make_shared<std::vector<int>>(6, 2);
                        file.tensors.at("measure.0.samples.labels") = {
                            TensorType::kI32,
                            {6},
                            {reinterpret_cast<const char*>(wrong->data()), 6 * sizeof(int)},
                            wrong};
                      }),
              HasSubstr("no class"));
}

TEST(MeasuredModel, TrainsAndPredictsAsFromTheMatrix) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(enum_name(one.measure));
    RunContext ctx;
    const MethodChoice choice = parse_method("knn", std::vector<std::string>{"neighbours=1"});
    const std::vector<RawMatrix> matrices = {matrix_of(one)};
    const Training raw =
        train(prepare_training(matrices, kLabels, InputSettings{}, ctx), choice, ctx);
    const LearnedMeasure learned = learn_measure(matrix_of(one), kLabels, ctx);
    const Training read =
        train(prepare_training(match({learned.pairs}), kLabels, InputSettings{}, ctx), choice, ctx);
    EXPECT_EQ(raw.model.record.fingerprint, read.model.record.fingerprint);
    EXPECT_FALSE(read.model.record.matrices.at(0).measure.has_value());
    QueryBlock queries;
    queries.matrices.push_back(
        measure_rows(*raw.model.record.matrices.at(0).measure, one.samples, ctx));
    EXPECT_EQ(predict(raw.model, queries, ctx).labels, predict(read.model, queries, ctx).labels);
  }
}

}  // namespace
}  // namespace kith::measured_model_test
