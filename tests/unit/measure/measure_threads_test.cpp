// SPDX-License-Identifier: Apache-2.0
// What every measure promises, whatever it computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/measure/measure.hpp"
#include "support/random_text.hpp"

namespace kith::measure_threads_test {
namespace {

constexpr int kSamples = 77;  // more than a tile of columns, and no multiple of a band of rows

RawData samples_of(RawKind kind, int count = kSamples) {
  Rng rng(1);
  const auto texts = random_texts(5, static_cast<std::size_t>(count), 12, U'a', 4);
  switch (kind) {
    case RawKind::kStrings:
      return StringData{.source = "x", .ids = {}, .values = texts};
    case RawKind::kVectors: {
      RowMatrix values(count, 5);
      for (double& value : values.reshaped()) value = rng.normal();
      return VectorData{.source = "x", .ids = {}, .values = DenseBlock(std::move(values))};
    }
    case RawKind::kSeries: {
      SeriesData data{.source = "x", .ids = {}, .values = {}};
      for (const std::string& text : texts) {
        data.values.emplace_back(text.begin(), text.end());
        data.values.back().push_back(rng.normal());
      }
      return data;
    }
    case RawKind::kSequences: {
      SequenceData data{.source = "x", .ids = {}, .values = {}};
      for (std::string text : texts) {
        for (char& c : text) c = static_cast<char>(c - 'a' + 'A');
        std::replace(text.begin(), text.end(), 'B', 'W');
        data.values.push_back(text + "A");
      }
      return data;
    }
    case RawKind::kSets: {
      SetData data{.source = "x", .ids = {}, .values = {}};
      for (const std::string& text : texts) {
        auto& set = data.values.emplace_back();
        for (const char c : text) set.emplace_back(1, static_cast<char>(c + rng.below(5)));
      }
      return data;
    }
    case RawKind::kCategories: {
      CategoryData data{.source = "x", .ids = {}, .values = {}};
      std::vector<std::string> classes;
      for (int i = 0; i < count; ++i) {
        data.values.push_back({std::to_string(rng.below(4)), std::to_string(rng.below(3))});
        classes.push_back(std::to_string(rng.below(2)));
      }
      data.labels = make_labels(classes);
      return data;
    }
  }
  return {};
}

RowMatrix values_of(const SimilaritySet& set) { return to_dense(set.block).values(); }

class EveryMeasure : public testing::TestWithParam<std::size_t> {
 protected:
  const Measure which = static_cast<Measure>(GetParam());
  const RawData data = samples_of(measure_info(which).data);
  const MeasureSettings settings{.measure = which};
};
INSTANTIATE_TEST_SUITE_P(Measures, EveryMeasure,
                         testing::Range(std::size_t{0}, kEnumNames<Measure>.size()),
                         [](const auto& test) {
                           std::string name(kEnumNames<Measure>[test.param]);
                           name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
                           return name;
                         });

TEST_P(EveryMeasure, IsSymmetricAndTheSameForAnyNumberOfThreadsAndForRows) {
  const RowMatrix one = values_of(measure(data, settings, RunContext{.threads = 1}));
  EXPECT_EQ(one, RowMatrix(one.transpose()));
  EXPECT_EQ(values_of(measure(data, settings, RunContext{.threads = 2})), one);
  EXPECT_EQ(values_of(measure(data, data, settings, RunContext{.threads = 2})), one);
}

TEST_P(EveryMeasure, ReportsEveryPairAndStopsWhenAsked) {
  class Sink final : public ProgressSink {
   public:
    void progress(std::string_view, double done, double total, std::string_view) override {
      const std::lock_guard lock(mutex);
      most = std::max(most, done);
      of = total;
    }
    void message(std::string_view) override {}
    std::mutex mutex;
    double most = 0;
    double of = 0;
  } sink;
  RunContext ctx{.threads = 2, .sink = &sink};
  static_cast<void>(measure(data, settings, ctx));
  EXPECT_EQ(sink.most, kSamples * (kSamples + 1) / 2);
  EXPECT_EQ(sink.of, sink.most);

  StopSource stop;
  stop.request_stop();
  ctx.stop = StopToken(stop);
  EXPECT_THROW(static_cast<void>(measure(data, settings, ctx)), Error);
  EXPECT_THROW(static_cast<void>(measure(data, data, settings, ctx)), Error);
}

TEST_P(EveryMeasure, RefusesDataOfAnotherKind) {
  const RawKind other =
      measure_info(which).data == RawKind::kSets ? RawKind::kStrings : RawKind::kSets;
  EXPECT_THROW(static_cast<void>(measure(samples_of(other, 3), settings, RunContext{})), Error);
}

}  // namespace
}  // namespace kith::measure_threads_test
