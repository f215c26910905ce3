// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/edit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "support/random_text.hpp"

namespace kith::edit_test {
namespace {

/// The recurrence of the definition, in a full table.
Index by_definition(const std::string& a, const std::string& b) {
  const std::u32string x = code_points(a).value();
  const std::u32string y = code_points(b).value();
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic> d(x.size() + 1, y.size() + 1);
  for (std::size_t i = 0; i <= x.size(); ++i) {
    for (std::size_t j = 0; j <= y.size(); ++j) {
      if (i == 0 || j == 0) {
        d(i, j) = static_cast<Index>(i + j);
      } else {
        d(i, j) = std::min(
            {d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (x[i - 1] == y[j - 1] ? 0 : 1)});
      }
    }
  }
  return d(x.size(), y.size());
}

/// n different code points, one after the other.
std::string run_of(char32_t first, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += utf8(first + static_cast<char32_t>(i));
  return text;
}

double value_of(const std::string& a, const std::string& b, EditValue value) {
  const std::vector<std::string> row = {a};
  const std::vector<std::string> column = {b};
  return edit_matrix(row, value, RunContext{}, column)(0, 0);
}
double edit_distance(const std::string& a, const std::string& b) {
  return value_of(a, b, EditValue::kDistance);
}
double edit_similarity(const std::string& a, const std::string& b) {
  return value_of(a, b, EditValue::kSimilarity);
}

TEST(EditDistance, HasItsKnownValues) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("intention", "execution"), 5);
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("ab", "ba"), 2);  // a swap is two substitutions
}

TEST(EditDistance, CountsCodePointsNotBytes) {
  EXPECT_EQ(edit_distance("gr\xc3\xbcn", "grun"), 1);
  EXPECT_EQ(edit_distance("\xc3\xa9", "\xc3\xa8"), 1);              // same first byte
  EXPECT_EQ(edit_distance("\xf0\x9f\x90\x9f", "\xe2\x82\xac"), 1);  // 4 bytes against 3
  EXPECT_EQ(edit_similarity("gr\xc3\xbcn", "grun"), 0.75);
}

TEST(EditDistance, TakesANulByteAsALetter) {
  EXPECT_EQ(edit_distance(std::string("a\0b", 3), "ab"), 1);
  EXPECT_EQ(edit_distance(std::string(1, '\0'), "a"), 1);
}

TEST(EditDistance, MeetsItsDefinition) {
  struct Case {
    std::size_t longest;
    char32_t first;
    std::uint64_t letters;
  };
  for (const Case& c : {Case{12, U'a', 3}, Case{12, 0x3b1, 24}, Case{200, U'a', 4},
                        Case{150, 0x4e00, 40}, Case{90, 0x1f300, 1000}}) {
    const std::vector<std::string> texts = random_texts(7, 24, c.longest, c.first, c.letters);
    for (const std::string& a : texts) {
      for (const std::string& b : texts) {
        ASSERT_EQ(edit_distance(a, b), by_definition(a, b)) << in_quotes(a) << in_quotes(b);
      }
    }
  }
}

TEST(EditDistance, TakesPairsThatShareMoreThan256CodePoints) {
  for (const int n : {253, 254, 255, 256, 257, 600}) {
    const std::string a = run_of(0x4e00, n);
    EXPECT_EQ(edit_distance(a, a), 0) << n;
    EXPECT_EQ(edit_distance(a, "x" + a), 1) << n;
    EXPECT_EQ(edit_distance(a + "x", "y" + a), 2) << n;
    EXPECT_EQ(edit_distance(a + "xyz", "uvw" + a), 6) << n;
    EXPECT_EQ(edit_distance(a, run_of(0x4e00 + 5, n)), 10) << n;
    EXPECT_EQ(edit_distance(a, run_of(0x9000, n)), n) << n;
  }
}

TEST(EditDistance, IsAMetric) {
  const std::vector<std::string> texts = random_texts(3, 40, 8, 0xe0, 3);
  const RowMatrix d = edit_matrix(texts, EditValue::kDistance, RunContext{});
  EXPECT_EQ(d, d.transpose());
  for (Index i = 0; i < d.rows(); ++i) {
    for (Index j = 0; j < d.rows(); ++j) {
      EXPECT_EQ(d(i, j) == 0, texts[i] == texts[j]);
      for (Index k = 0; k < d.rows(); ++k) EXPECT_LE(d(i, j), d(i, k) + d(k, j));
    }
  }
}

TEST(EditSimilarity, IsOneForEqualStringsAndZeroWithoutACommonLetter) {
  EXPECT_EQ(edit_similarity("", ""), 1.0);
  EXPECT_EQ(edit_similarity("abc", "abc"), 1.0);
  EXPECT_EQ(edit_similarity("", "abc"), 0.0);
  EXPECT_EQ(edit_similarity("abc", "xyz"), 0.0);
  EXPECT_EQ(edit_similarity("ab", "abcd"), 0.5);
}

/// Few letters (one alphabet for all), or more than 256 (an alphabet per pair).
class EditMatrix : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Letters, EditMatrix, testing::Values(20, 2000));

TEST_P(EditMatrix, HoldsTheValueOfEachPair) {
  const std::vector<std::string> rows = random_texts(11, 19, 30, 0x4e00, GetParam());
  const std::vector<std::string> columns = random_texts(12, 30, 30, 0x4e00, GetParam());
  const RunContext ctx{.threads = 2};
  const RowMatrix square = edit_matrix(columns, EditValue::kSimilarity, ctx);
  const RowMatrix wide = edit_matrix(rows, EditValue::kDistance, ctx, columns);
  ASSERT_EQ(wide.rows(), 19);
  ASSERT_EQ(wide.cols(), 30);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(wide(i, j), by_definition(rows[i], columns[j]));
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(square(i, j), edit_similarity(columns[i], columns[j]));
    }
  }
}

TEST(EditMatrixSize, MayBeNoneOrOne) {
  EXPECT_EQ(edit_matrix({}, EditValue::kDistance, RunContext{}).size(), 0);
  const std::vector<std::string> one = {"a"};
  EXPECT_EQ(edit_matrix(one, EditValue::kSimilarity, RunContext{})(0, 0), 1.0);
}

TEST(EditDistance, RefusesBytesThatAreNotUtf8) {
  try {
    static_cast<void>(edit_distance("abc", "caf\xe9"));
    FAIL() << "Latin-1 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), testing::HasSubstr("is not UTF-8"));
  }
}

}  // namespace
}  // namespace kith::edit_test
