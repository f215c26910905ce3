// SPDX-License-Identifier: Apache-2.0
#include "kith/inspect/inspect_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/inspection_example.hpp"

namespace kith::inspect_json_test {
namespace {

using test::inspection_example;

TEST(InspectionJson, HoldsTheContractsFieldsAndNoNan) {
  const Json json = inspection_json(inspection_example());
  EXPECT_EQ(json["n"], 3);
  EXPECT_EQ(json["classes"]["</script>"], 2);
  EXPECT_EQ(json["negative_eigenvalues"], 1);
  EXPECT_EQ(json["triangle_violations"], 1.0);
  EXPECT_TRUE(json["class_table"][1]["mean_similarity_within"].is_null());
  EXPECT_EQ(json["eigenvalues"].size(), 3U);
}

TEST(InspectionJson, ListsSeveralMatricesWithTheirAgreement) {
  Inspection inspection = inspection_example();
  inspection.matrices.push_back(inspection.matrices.front());
  inspection.agreement = Matrix::Identity(2, 2);
  const Json json = inspection_json(inspection);
  EXPECT_EQ(json["matrices"].size(), 2U);
  EXPECT_EQ(json["agreement"][0][0], 1.0);
}

}  // namespace
}  // namespace kith::inspect_json_test
