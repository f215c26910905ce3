// SPDX-License-Identifier: Apache-2.0
// The door for vectors: what is far from all units is refused before a method sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kith/core/rng.hpp"
#include "kith/pipeline/trained_model.hpp"
#include "support/files.hpp"

namespace kith::sizes_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

VectorData vectors(double size) {
  Rng rng(1);
  RowMatrix X(30, 3);
  for (double& x : X.reshaped()) x = size * rng.normal();
  return {.source = "x.csv", .ids = {}, .values = DenseBlock(X)};
}

Labels two_classes() {
  std::vector<std::string> names(30);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = i % 2 == 0 ? "a" : "b";
  return make_labels(names);
}

TEST(SizesOfVectors, AreRefusedFarFromAllUnits) {
  for (const double size : {1e-300, 1e-80, 1e80, 1e300}) {
    EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                         [&] { (void)prepare_training(vectors(size), two_classes()); }),
                AllOf(HasSubstr("x.csv: the features"), HasSubstr("1e-75 to 1e+75"),
                      HasSubstr(size > 1 ? "divide" : "multiply")));
  }
  for (const double size : {1e-70, 1.0, 1e70}) {
    EXPECT_NO_THROW((void)prepare_training(vectors(size), two_classes())) << size;
  }
}

TEST(SizesOfVectors, OfNewSamplesMayBeSmallAndNotLarge) {
  RunContext ctx;
  const PreparedTraining prepared = prepare_training(vectors(1), two_classes());
  const TrainedModel model = train(prepared, parse_method("nca-knn"), ctx).model;
  const auto ask = [&](double size) {
    QueryBlock queries;
    queries.vectors = DenseBlock(RowMatrix::Constant(1, 3, size));
    return predict(model, std::move(queries), ctx);
  };
  for (const double size : {1e308, -1e308, 1e160}) {
    EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { (void)ask(size); }),
                HasSubstr("features"));
  }
  EXPECT_TRUE(ask(1e70).scores.allFinite());
  EXPECT_NO_THROW((void)ask(1e-300));
}

}  // namespace
}  // namespace kith::sizes_test
