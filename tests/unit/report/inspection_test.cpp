// SPDX-License-Identifier: Apache-2.0
#include "kith/report/inspection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kith/core/text.hpp"

namespace kith {
namespace {

Inspection example() {
  Inspection inspection;
  MatrixSummary matrix;
  matrix.name = "scores";
  matrix.source = "scores.csv";
  matrix.format = "csv";
  matrix.n = 3;
  matrix.min = -1;
  matrix.max = 2;
  matrix.spectrum =
      SpectrumSummary{.lambda = Vector{{-1, 0.5, 2}}, .negative = 1, .negative_fraction = 0.25};
  matrix.triangles = TriangleSummary{.checked = 1, .violations = 1};
  matrix.neighbours = NeighbourSummary{.error = 0.5, .tied = 1};
  matrix.classes = {{"</script>", 2, 0.5, 0.25}, {"b", 1, std::nan(""), 0.25}};
  inspection.labels = make_labels(std::vector<std::string>{"</script>", "</script>", "b"});
  inspection.matrices = {matrix};
  inspection.advice = {{"try this", "because of that"}};
  return inspection;
}

TEST(InspectionText, FitsTheWidthAndNamesEveryFact) {
  for (const int width : {60, 80}) {
    const std::string text = inspection_text(example(), {.unicode = false, .width = width});
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
  Inspection inspection = example();
  inspection.matrices.front().name = "scores\u202e";
  inspection.matrices.front().classes.front().name = "\u202eabc\x1b[31m";
  const std::string text = inspection_text(inspection, {.unicode = true, .width = 80});
  EXPECT_THAT(text, testing::HasSubstr("scores\\u{202e}"));
  EXPECT_THAT(text, testing::HasSubstr("\\u{202e}abc\\u{1b}[31m"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\u202e")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\x1b")));
}

TEST(InspectionJson, HoldsTheContractsFieldsAndNoNan) {
  const Json json = inspection_json(example());
  EXPECT_EQ(json["n"], 3);
  EXPECT_EQ(json["classes"]["</script>"], 2);
  EXPECT_EQ(json["negative_eigenvalues"], 1);
  EXPECT_EQ(json["triangle_violations"], 1.0);
  EXPECT_TRUE(json["class_table"][1]["mean_similarity_within"].is_null());
  EXPECT_EQ(json["eigenvalues"].size(), 3U);
}

TEST(InspectionJson, ListsSeveralMatricesWithTheirAgreement) {
  Inspection inspection = example();
  inspection.matrices.push_back(inspection.matrices.front());
  inspection.agreement = Matrix::Identity(2, 2);
  const Json json = inspection_json(inspection);
  EXPECT_EQ(json["matrices"].size(), 2U);
  EXPECT_EQ(json["agreement"][0][0], 1.0);
}

}  // namespace
}  // namespace kith
