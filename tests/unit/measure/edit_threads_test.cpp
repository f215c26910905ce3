// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kith/measure/edit.hpp"
#include "support/random_text.hpp"

namespace kith::edit_threads_test {
namespace {

/// Few letters (one alphabet for all), or more than 256 (an alphabet per pair).
class EditMatrixThreads : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Letters, EditMatrixThreads, testing::Values(20, 2000));

TEST_P(EditMatrixThreads, GiveTheSameBytesForAnyNumberOfThreads) {
  const std::vector<std::string> texts = random_texts(5, 101, 20, 0x4e00, GetParam());
  const RowMatrix one = edit_matrix(texts, EditValue::kSimilarity, RunContext{.threads = 1});
  for (const int threads : {2, 7}) {
    EXPECT_EQ(edit_matrix(texts, EditValue::kSimilarity, RunContext{.threads = threads}), one);
    EXPECT_EQ(edit_matrix(texts, EditValue::kSimilarity, RunContext{.threads = threads}, texts),
              one);
  }
}

}  // namespace
}  // namespace kith::edit_threads_test
