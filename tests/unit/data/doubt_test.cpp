// SPDX-License-Identifier: Apache-2.0
#include "kith/data/doubt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kith/core/rng.hpp"

namespace kith::doubt_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr Index kSamples = 40;

Labels two_classes() {
  std::vector<std::string> names;
  for (Index i = 0; i < kSamples; ++i) names.emplace_back(i % 2 == 0 ? "a" : "b");
  return make_labels(names);
}

/// Points on a line, those of the second class `gap` away from the first.
Vector points(double gap) {
  Rng rng = RngStreams(1).stream("points", 0);
  Vector x(kSamples);
  for (Index i = 0; i < kSamples; ++i) x(i) = rng.uniform() + (i % 2 == 0 ? 0 : gap);
  return x;
}

RowMatrix distances(double gap) {
  const Vector x = points(gap);
  RowMatrix D(kSamples, kSamples);
  for (Index i = 0; i < kSamples; ++i) {
    for (Index j = 0; j < kSamples; ++j) D(i, j) = std::abs(x(i) - x(j));
  }
  return D;
}

SimilaritySet table(const RowMatrix& values, PairKind kind) {
  SimilaritySet set;
  set.source = "t.csv";
  set.kind = kind;
  set.block = DenseBlock(values);
  return set;
}

std::string of_similarities(const RowMatrix& values, const Labels* labels = nullptr) {
  return doubt(table(values, PairKind::kSimilarity), labels).text;
}
std::string of_distances(const RowMatrix& values) {
  return doubt(table(values, PairKind::kDistance), nullptr).text;
}

TEST(Doubt, IsOfDistancesGivenAsSimilarities) {
  const Labels labels = two_classes();
  const RowMatrix D = distances(3);
  for (const Labels* known : {static_cast<const Labels*>(nullptr), &labels}) {
    const std::string text = of_similarities(D, known);
    EXPECT_THAT(text, HasSubstr("t.csv: the numbers look like distances"));
    EXPECT_THAT(text, HasSubstr("[[distance]]"));
  }
  EXPECT_THAT(of_distances(D), IsEmpty());
}

TEST(Doubt, IsOfSimilaritiesGivenAsDistances) {
  const RowMatrix S = (-distances(3).array()).exp().matrix();
  EXPECT_THAT(of_distances(S), HasSubstr("the numbers look like similarities"));
  EXPECT_THAT(of_distances(S), HasSubstr("[[distance=no]]"));
  EXPECT_THAT(of_similarities(S), IsEmpty());
  EXPECT_THAT(of_similarities(-distances(3)), IsEmpty());
}

TEST(Doubt, DoesNotDependOnTheUnit) {
  const Labels labels = two_classes();
  for (const double unit : {1e-40, 1e-3, 1.0, 1e30}) {
    EXPECT_THAT(of_similarities(unit * distances(1), &labels), HasSubstr("distance"));
    EXPECT_THAT(of_distances(unit * (5 - distances(1).array()).matrix()),
                HasSubstr("similarities"));
  }
}

TEST(Doubt, LetsClassesSpeakForSimilaritiesWithoutADiagonal) {
  RowMatrix S = (-distances(3).array()).exp().matrix();
  S.diagonal().setZero();
  const Labels labels = two_classes();
  EXPECT_THAT(of_similarities(S), HasSubstr("distances"));
  EXPECT_THAT(of_similarities(S, &labels), IsEmpty());
}

TEST(Doubt, IsNotOfGraphsConstantsAndInnerProducts) {
  RowMatrix graph = RowMatrix::Zero(kSamples, kSamples);
  for (Index i = 0; i + 1 < kSamples; ++i) graph(i, i + 1) = graph(i + 1, i) = 1;
  const Vector x = points(1);
  const RowMatrix products = x * x.transpose();
  const RowMatrix ones = RowMatrix::Ones(kSamples, kSamples);
  for (const RowMatrix& values : {graph, products, ones}) {
    EXPECT_THAT(of_similarities(values), IsEmpty());
  }
  EXPECT_THAT(of_distances(ones), IsEmpty());
}

TEST(Doubt, TakesMissingPairsOut) {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  RowMatrix D = distances(3);
  D.row(3).setConstant(kNan);
  D(5, 6) = D(6, 5) = kNan;
  EXPECT_THAT(of_similarities(D), HasSubstr("distances"));
  D.diagonal().setConstant(kNan);  // nothing to compare with
  EXPECT_THAT(of_similarities(D), IsEmpty());
  EXPECT_THAT(of_similarities(RowMatrix::Constant(6, 6, kNan)), IsEmpty());
}

/// E-values of hits: small within the class, unlisted or about 1 between; of a sample with itself
/// 1e-180.
SimilaritySet e_values(Absent absent) {
  Rng rng = RngStreams(1).stream("hits", 0);
  SparseBlock block;
  block.cols = kSamples;
  block.absent = absent;
  for (Index i = 0; i < kSamples; ++i) {
    for (Index j = 0; j < kSamples; ++j) {
      if ((i + j) % 2 == 0) block.add(j, i == j ? 1e-180 : std::pow(10, -80 * rng.uniform()));
    }
    block.end_row();
  }
  SimilaritySet set;
  set.source = "hits.tsv";
  set.block = block;
  return set;
}

TEST(Doubt, IsOfValuesThatLookLikeEValues) {
  EXPECT_THAT(doubt(e_values(Absent::kMissing), nullptr).text, HasSubstr("look like E-values"));
  SimilaritySet distances = e_values(Absent::kMissing);
  distances.kind = PairKind::kDistance;
  EXPECT_THAT(doubt(distances, nullptr).text, IsEmpty());
}

TEST(Doubt, IsNotOfNarrowKernels) {
  const RowMatrix S = (-100 * distances(3).array()).exp().matrix();  // down to 1e-170
  EXPECT_THAT(of_similarities(S), IsEmpty());
}

TEST(Doubt, KnowsTheColumnsOfBlastTables) {
  SimilaritySet set = table(RowMatrix::Ones(kSamples, kSamples), PairKind::kSimilarity);
  set.format = "blast";
  EXPECT_THAT(doubt(set, nullptr, "evalue").text, HasSubstr("[[score-column=bitscore]]"));
  EXPECT_THAT(doubt(set, nullptr, "bitscore").text, IsEmpty());
  set.kind = PairKind::kDistance;
  EXPECT_THAT(doubt(set, nullptr, "evalue").text, IsEmpty());
  EXPECT_THAT(doubt(set, nullptr, "bitscore").text, HasSubstr("bitscore"));
  set.format = "csv";  // has no such column
  EXPECT_THAT(doubt(set, nullptr, "bitscore").text, IsEmpty());
}

TEST(Doubt, JudgesRowsSpreadOverALargeTable) {
  constexpr Index kMany = 2500;
  SparseBlock block;
  block.cols = kMany;
  for (Index i = 0; i < kMany; ++i) {
    for (Index j = std::max<Index>(0, i - 2); j <= std::min(kMany - 1, i + 2); ++j) {
      block.add(j, static_cast<double>(std::abs(i - j)));
    }
    block.end_row();
  }
  SimilaritySet set;
  set.block = block;
  EXPECT_THAT(doubt(set, nullptr).text, HasSubstr("look like distances"));
}

/// The pairs of different samples.
SimilaritySet without_diagonal(const RowMatrix& values, PairKind kind) {
  SparseBlock block{.cols = kSamples};
  for (Index i = 0; i < kSamples; ++i) {
    for (Index j = 0; j < kSamples; ++j) {
      if (i != j) block.add(j, values(i, j));
    }
    block.end_row();
  }
  SimilaritySet set;
  set.source = "p.edges";
  set.format = "edges";
  set.kind = kind;
  set.block = std::move(block);
  return set;
}

TEST(Doubt, TellsPairsWithoutADiagonalByTheirClasses) {
  const Labels labels = two_classes();
  const RowMatrix D = distances(3);
  const RowMatrix S = (-D).array().exp();
  const auto said = [&](const RowMatrix& values, PairKind kind, const Labels* of) {
    return doubt(without_diagonal(values, kind), of);
  };
  EXPECT_EQ(said(D, PairKind::kSimilarity, &labels).mend, Mend::kDistance);
  EXPECT_EQ(said(S, PairKind::kDistance, &labels).mend, Mend::kSimilarity);
  for (const Labels* of : {&labels, static_cast<const Labels*>(nullptr)}) {
    EXPECT_EQ(said(S, PairKind::kSimilarity, of).mend, Mend::kNothing);
    EXPECT_EQ(said(D, PairKind::kDistance, of).mend, Mend::kNothing);
  }
  EXPECT_EQ(said(D, PairKind::kSimilarity, nullptr).mend, Mend::kNothing);
  // Classes that say nothing: no doubt in either direction.
  const RowMatrix mixed = distances(0);
  EXPECT_EQ(said(mixed, PairKind::kSimilarity, &labels).mend, Mend::kNothing);
  EXPECT_EQ(said(mixed, PairKind::kDistance, &labels).mend, Mend::kNothing);
}

}  // namespace
}  // namespace kith::doubt_test
