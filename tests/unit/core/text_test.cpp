// SPDX-License-Identifier: Apache-2.0
#include "kith/core/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kith::text_test {
namespace {

TEST(ParseDouble, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_double("1.5"), 1.5);
  EXPECT_EQ(parse_double("+2e-3"), 2e-3);
  EXPECT_EQ(parse_double("-0.25"), -0.25);
  EXPECT_FALSE(parse_double(""));
  EXPECT_FALSE(parse_double("+"));
  EXPECT_FALSE(parse_double("1.5x"));
  EXPECT_FALSE(parse_double(" 1"));
  EXPECT_FALSE(parse_double("1,5"));
  EXPECT_FALSE(parse_double("+-1"));
}

TEST(ParseSeconds, TakesNumbersWithUnitsAndSumsOfThem) {
  EXPECT_EQ(parse_seconds("90"), 90);
  EXPECT_EQ(parse_seconds(" 1e-6 "), 1e-6);
  EXPECT_EQ(parse_seconds("500ms"), 0.5);
  EXPECT_EQ(parse_seconds("5m"), 300);
  EXPECT_EQ(parse_seconds("5 min"), 300);
  EXPECT_EQ(parse_seconds("1h30m"), 5400);
  EXPECT_EQ(parse_seconds("1h 30m 5s"), 5405);
  for (const char* text :
       {"", "s", "0s", "-5m", "5d", "1h-1m", "nan", "inf", "1h30", "m5", "1e999h"}) {
    EXPECT_FALSE(parse_seconds(text)) << text;
  }
}

TEST(ClosestName, PrefersTheSameLettersToFewEdits) {
  const std::vector<std::string> names = {"svm", "svm-clip", "smith-waterman", "mkl"};
  EXPECT_EQ(closest_name("SVMClip", names), "svm-clip");
  EXPECT_EQ(closest_name("Smith_Waterman", names), "smith-waterman");
  EXPECT_EQ(closest_name("mkk", names), "mkl");
  EXPECT_FALSE(closest_name("entirely else", names));
}

TEST(FormatDouble, ReadsBackToTheSameBits) {
  for (const double value : {0.1, 1.0 / 3, -1e300, 5e-324, 123456789.125, -0.0}) {
    const auto back = parse_double(format_double(value));
    ASSERT_TRUE(back);
    EXPECT_EQ(std::signbit(*back), std::signbit(value));
    EXPECT_EQ(*back, value);
  }
}

TEST(Quoted, EscapesControlCharactersAndCutsLongText) {
  EXPECT_EQ(in_quotes("a\tb\"c"), "\"a\\tb\\\"c\"");
  EXPECT_EQ(in_quotes(std::string("\x01", 1)), "\"\\x01\"");
  EXPECT_LT(in_quotes(std::string(1000, 'x')).size(), 80U);
  EXPECT_EQ(in_quotes("caf\xc3\xa9"), "\"caf\xc3\xa9\"");
}

TEST(ListSome, CountsWhatItLeavesOut) {
  const std::vector<std::string> items = {"a", "b", "c", "d"};
  EXPECT_EQ(list_some(items, 4), "a, b, c and d");
  EXPECT_EQ(list_some(items, 2), "a, b and 2 more");
}

TEST(Closest, FindsALikelyTypoAndNothingElse) {
  const std::vector<std::string> names = {"cost", "spectrum", "scope"};
  EXPECT_EQ(closest("spectum", names), "spectrum");
  EXPECT_FALSE(closest("neighbours", names));
}

TEST(DisplayWidth, CountsTerminalColumns) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("caf\xc3\xa9"), 4U);
  EXPECT_EQ(display_width("\xe6\x97\xa5\xe6\x9c\xac"), 4U);  // two wide characters
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);                 // combining accent
}

TEST(Utf8, IsCheckedStrictly) {
  EXPECT_TRUE(is_valid_utf8("na\xc3\xafve \xf0\x9f\x90\x9f"));
  EXPECT_FALSE(is_valid_utf8("\xff"));
  EXPECT_FALSE(is_valid_utf8("\xc3"));
  EXPECT_FALSE(is_valid_utf8("\xc0\x80"));      // overlong
  EXPECT_FALSE(is_valid_utf8("\xed\xa0\x80"));  // surrogate
}

TEST(Utf8, IsTakenApartIntoCodePoints) {
  EXPECT_EQ(code_points("a\xc3\xb6\xe2\x82\xac\xf0\x9f\x90\x9f"), U"a\u00f6\u20ac\U0001f41f");
  EXPECT_EQ(code_points(""), U"");
  EXPECT_EQ(code_points("ab\xff"), std::nullopt);
}

TEST(NaturalLess, OrdersNumbersByValueBeforeText) {
  EXPECT_TRUE(natural_less("2", "10"));
  EXPECT_TRUE(natural_less("10", "a"));
  EXPECT_TRUE(natural_less("a", "b"));
  EXPECT_FALSE(natural_less("a", "a"));
  EXPECT_TRUE(natural_less("1", "1.0"));
  EXPECT_TRUE(natural_less("7", "nan"));
  EXPECT_FALSE(natural_less("nan", "7"));
}

TEST(Counted, HasOneThingOrSeveral) {
  EXPECT_EQ(counted(1, "fold"), "1 fold");
  EXPECT_EQ(counted(0, "fold"), "0 folds");
  EXPECT_EQ(counted(2, "class"), "2 classes");
  EXPECT_EQ(counted(3, "matrix", "matrices"), "3 matrices");
  EXPECT_EQ(counted(1, "matrix", "matrices"), "1 matrix");
}

}  // namespace
}  // namespace kith::text_test
