// SPDX-License-Identifier: Apache-2.0
#include "kith/report/inspection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kith/core/text.hpp"
#include "support/inspection_example.hpp"

namespace kith::inspection_test {
namespace {

using test::inspection_example;

TEST(InspectionText, FitsTheWidthAndNamesEveryFact) {
  for (const int width : {60, 80}) {
    const std::string text =
        inspection_text(inspection_example(), {.unicode = false, .width = width});
    for (const std::string_view line : split(text, '\n')) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
    }
    for (const char* fact :
         {"3 samples, 2 classes", "scores.csv", "25.00 %", "50.00 %", "try this"}) {
      EXPECT_THAT(text, testing::HasSubstr(fact));
    }
  }
}

TEST(InspectionText, ShowsMarksATerminalWouldObey) {
  Inspection inspection = inspection_example();
  inspection.matrices.front().name = "scores\u202e";
  inspection.matrices.front().classes.front().name = "\u202eabc\x1b[31m";
  const std::string text = inspection_text(inspection, {.unicode = true, .width = 80});
  EXPECT_THAT(text, testing::HasSubstr("scores\\u{202e}"));
  EXPECT_THAT(text, testing::HasSubstr("\\u{202e}abc\\u{1b}[31m"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\u202e")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\x1b")));
}

}  // namespace
}  // namespace kith::inspection_test
