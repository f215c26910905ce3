// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/measure/edit.hpp"
#include "support/random_text.hpp"

namespace kith {
namespace {

/// Few letters (one alphabet for all), or more than 256 (an alphabet per pair).
class EditMatrixThreads : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Letters, EditMatrixThreads, testing::Values(20, 2000));

TEST_P(EditMatrixThreads, GiveTheSameBytesForAnyNumberOfThreads) {
  const std::vector<std::string> texts = random_texts(5, 101, 20, 0x4e00, GetParam());
  const RowMatrix one = edit_matrix(texts, EditValue::kSimilarity, RunContext{.threads = 1});
  for (const int threads : {2, 7}) {
    EXPECT_EQ(edit_matrix(texts, EditValue::kSimilarity, RunContext{.threads = threads}), one);
    EXPECT_EQ(edit_matrix(texts, texts, EditValue::kSimilarity, RunContext{.threads = threads}),
              one);
  }
}

TEST(EditMatrixRun, ReportsEveryPairAndStopsWhenAsked) {
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
  const std::vector<std::string> texts = random_texts(5, 33, 9, U'a', 4);
  RunContext ctx{.threads = 2, .sink = &sink};
  static_cast<void>(edit_matrix(texts, EditValue::kDistance, ctx));
  EXPECT_EQ(sink.most, 33 * 34 / 2);
  EXPECT_EQ(sink.of, 33 * 34 / 2);

  StopSource stop;
  stop.request_stop();
  ctx.stop = StopToken(stop);
  EXPECT_THROW(static_cast<void>(edit_matrix(texts, EditValue::kDistance, ctx)), Error);
  EXPECT_THROW(static_cast<void>(edit_matrix(texts, texts, EditValue::kDistance, ctx)), Error);
}

}  // namespace
}  // namespace kith
