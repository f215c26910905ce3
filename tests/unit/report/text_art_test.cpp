// SPDX-License-Identifier: Apache-2.0
#include "kith/report/text_art.hpp"

#include <gtest/gtest.h>

#include "kith/core/text.hpp"

namespace kith::text_art_test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) lines.emplace_back(line);
  lines.pop_back();
  return lines;
}

TEST(DrawTable, LinesUpColumnsByDisplayWidth) {
  const TextTable table{.header = {"name", "n"},
                        .rows = {{"caf\u00e9", "1"}, {"\u65e5\u672c\u8a9e", "23"}},
                        .right = {false, true}};
  const std::vector<std::string> lines = lines_of(draw_table(table, false));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(display_width(lines[2]), display_width(lines[3]));
  EXPECT_EQ(lines[2], "  caf\u00e9     1");
}

TEST(Shortened, CutsAtCharactersAndSaysSo) {
  EXPECT_EQ(shortened("short", 10), "short");
  EXPECT_EQ(shortened("rather long", 8), "rathe...");
  EXPECT_LE(display_width(shortened("\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e", 8)), 8U);
  EXPECT_TRUE(is_valid_utf8(shortened("\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e", 8)));
}

TEST(DrawBar, GrowsWithItsValue) {
  EXPECT_EQ(draw_bar(1, 2, 10, false), "#####");
  EXPECT_EQ(display_width(draw_bar(2, 2, 10, true)), 10U);
  EXPECT_EQ(draw_bar(0, 2, 10, true), "");
  EXPECT_EQ(draw_bar(5, 2, 10, false).size(), 10U);
}

TEST(DrawSpectrum, PutsNegativeEigenvaluesBelowTheLine) {
  const std::vector<std::string> lines = lines_of(draw_spectrum(Vector{{-4, 0, 4}}, 80, false));
  std::size_t axis = 0;
  while (lines[axis].find('-') == std::string::npos) ++axis;
  EXPECT_EQ(axis, lines.size() - axis - 1);  // as deep as tall
  EXPECT_EQ(lines[0].find('#'), 2U);         // the largest comes first
  EXPECT_EQ(lines.back().find_first_not_of(' '), 4U);
}

TEST(DrawSpectrum, FitsTheWidthAndTakesDegenerateSpectra) {
  for (const Vector& lambda : {Vector(Vector::LinSpaced(1000, -1, 5)), Vector(Vector::Ones(1)),
                               Vector(Vector::Zero(3)), Vector(-Vector::Ones(2)), Vector()}) {
    for (const bool unicode : {true, false}) {
      for (const std::string& line : lines_of(draw_spectrum(lambda, 60, unicode))) {
        EXPECT_LE(display_width(line), 60U);
      }
    }
  }
}

TEST(Wrap, BreaksAtSpacesAndKeepsEveryWord) {
  const std::string text = wrap("one two three four five", 12, "  ");
  EXPECT_EQ(text, "  one two\n  three four\n  five\n");
  EXPECT_EQ(wrap("averyveryverylongword", 5, ""), "averyveryverylongword\n");
}

}  // namespace
}  // namespace kith::text_art_test
