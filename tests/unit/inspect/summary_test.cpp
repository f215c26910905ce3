// SPDX-License-Identifier: Apache-2.0
#include "kith/inspect/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kith/core/rng.hpp"
#include "kith/core/text.hpp"
#include "kith/learn/registry.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith::summary_test {
namespace {

SimilaritySet as_set(const RowMatrix& values, PairKind kind = PairKind::kSimilarity) {
  SimilaritySet set;
  set.name = "test";
  set.source = "test.csv";
  set.format = "csv";
  set.kind = kind;
  set.block = DenseBlock(values);
  return set;
}

MatrixSummary summary_of(const RowMatrix& values, const std::vector<std::string>& names = {}) {
  const SimilaritySet set = as_set(values);
  const TrainingMatrix matrix{set.name, set.block};
  const Labels labels = make_labels(names);
  return summarise(set, &matrix, names.empty() ? nullptr : &labels, {}, {});
}

RowMatrix random_symmetric(Index n, std::uint64_t seed) {
  Rng rng(seed);
  RowMatrix values(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) values(i, j) = values(j, i) = rng.normal();
  }
  return values;
}

TEST(Summary, CountsEigenvaluesBySign) {
  const MatrixSummary summary = summary_of(RowMatrix{{1., 3., 0.}, {3., 1., 0.}, {0., 0., 0.}});
  ASSERT_TRUE(summary.spectrum);
  EXPECT_EQ(summary.spectrum->negative, 1);
  EXPECT_EQ(summary.spectrum->zero, 1);
  EXPECT_NEAR(summary.spectrum->negative_fraction, 2.0 / 6, 1e-12);
  EXPECT_NEAR(summary.spectrum->smallest(), -2, 1e-12);
  EXPECT_NEAR(summary.spectrum->largest(), 4, 1e-12);
}

TEST(Summary, DoesNotDependOnScaleOrOrder) {
  const RowMatrix values = random_symmetric(20, 1);
  std::vector<std::string> names;
  names.reserve(20);
  for (int i = 0; i < 20; ++i) names.emplace_back(i % 3 == 0 ? "a" : "b");
  const MatrixSummary one = summary_of(values, names);
  Rng rng(2);
  const std::vector<Index> order = rng.permutation(20);
  std::vector<std::string> shuffled;
  shuffled.reserve(order.size());
  for (const Index i : order) shuffled.push_back(names[static_cast<std::size_t>(i)]);
  const MatrixSummary two = summary_of(RowMatrix(1e6 * values(order, order)), shuffled);
  EXPECT_EQ(one.spectrum->negative, two.spectrum->negative);
  EXPECT_NEAR(one.spectrum->negative_fraction, two.spectrum->negative_fraction, 1e-12);
  EXPECT_EQ(one.neighbours->error, two.neighbours->error);
  EXPECT_EQ(one.triangles->violations, two.triangles->violations);
}

/// Minus the distances of points: the diagonal is 0.
RowMatrix minus_distances(const RowMatrix& points, double power) {
  RowMatrix S(points.rows(), points.rows());
  for (Index i = 0; i < S.rows(); ++i) {
    for (Index j = 0; j < S.cols(); ++j) {
      S(i, j) = -std::pow((points.row(i) - points.row(j)).norm(), power);
    }
  }
  return S;
}

TEST(Summary, TellsHalfOfASpectrumByADiagonalOfZerosFromWhatThePairsAre) {
  Rng rng(31);
  RowMatrix points(20, 3);
  for (Index i = 0; i < points.size(); ++i) points.data()[i] = rng.normal();
  // Of negative type: nothing is negative after double centring, for powers up to 2.
  for (const double power : {1.0, 2.0}) {
    const MatrixSummary summary = summary_of(minus_distances(points, power));
    EXPECT_NEAR(summary.spectrum->negative_fraction, 0.5, 1e-12);
    ASSERT_TRUE(summary.centred);
    EXPECT_EQ(summary.centred->negative, 0);
    EXPECT_EQ(summary.centred->zero, power == 2 ? 17 : 1);
    EXPECT_LT(summary.centred->negative_fraction, 1e-9);
  }
  // Squared distances are -2 x'z after centring.
  const MatrixSummary squared = summary_of(minus_distances(points, 2));
  const Matrix centred_points = points.rowwise() - points.colwise().mean();
  const Vector gram = symmetric_eigenvalues(2 * centred_points * centred_points.transpose());
  EXPECT_LT((squared.centred->lambda - gram).norm(), 1e-9 * gram.norm());
  // Fourth powers are of no such type.
  const MatrixSummary fourth = summary_of(minus_distances(points, 4));
  EXPECT_NEAR(fourth.spectrum->negative_fraction, 0.5, 1e-12);
  EXPECT_GT(fourth.centred->negative_fraction, 0.01);
}

TEST(Summary, IsSilentOnCentringWhereTheDiagonalHasASum) {
  EXPECT_FALSE(summary_of(random_symmetric(12, 5)).centred);
  EXPECT_FALSE(summary_of(RowMatrix::Zero(5, 5)).centred);
  RowMatrix balanced = random_symmetric(12, 5);
  balanced(0, 0) -= balanced.trace();
  EXPECT_TRUE(summary_of(balanced).centred);
}

TEST(Advice, SeesThroughDigitsThatWereCut) {
  Rng rng(32);
  RowMatrix points(20, 3);
  for (Index i = 0; i < points.size(); ++i) points.data()[i] = rng.normal();
  RowMatrix S = minus_distances(points, 2);
  for (Index i = 0; i < S.size(); ++i) S.data()[i] = std::round(1e6 * S.data()[i]) / 1e6;
  const MatrixSummary summary = summary_of(S);
  EXPECT_GT(summary.centred->negative, 0);
  const std::vector<Advice> all = advise({summary}, nullptr);
  EXPECT_TRUE(std::ranges::any_of(all, [](const Advice& one) {
    return one.why.find("less than 0.001 % of the spectrum is negative") != std::string::npos;
  }));
}

TEST(Advice, DoesNotBlameTheSpectrumForADiagonalOfZeros) {
  Rng rng(32);
  RowMatrix points(20, 3);
  for (Index i = 0; i < points.size(); ++i) points.data()[i] = rng.normal();
  const auto advice_on = [](const MatrixSummary& summary) {
    std::string text;
    for (const Advice& one : advise({summary}, nullptr)) text += one.what + ": " + one.why + "\n";
    return text;
  };
  const std::string kind = advice_on(summary_of(minus_distances(points, 1)));
  EXPECT_NE(kind.find("svm-none) beside"), std::string::npos) << kind;
  EXPECT_EQ(kind.find("arbitrary stationary point"), std::string::npos) << kind;
  const std::string fourth = advice_on(summary_of(minus_distances(points, 4)));
  EXPECT_NE(fourth.find("arbitrary stationary point"), std::string::npos) << fourth;
}

TEST(Summary, FindsNoTriangleViolationAmongPoints) {
  Rng rng(3);
  RowMatrix points(30, 2);
  for (Index i = 0; i < points.size(); ++i) points.data()[i] = rng.normal();
  const MatrixSummary summary = summary_of(points * points.transpose());
  EXPECT_EQ(summary.triangles->violations, 0);
  EXPECT_EQ(summary.triangles->checked, 30 * 29 * 28 / 6);
  EXPECT_FALSE(summary.triangles->sampled);
}

TEST(Summary, SamplesTriplesOfLargeMatricesAndSaysSo) {
  const RowMatrix values = random_symmetric(60, 4);
  const SimilaritySet set = as_set(values);
  const TrainingMatrix matrix{set.name, set.block};
  const MatrixSummary all = summarise(set, &matrix, nullptr, {}, {});
  const SummarySettings few{.every_triple_up_to = 10, .sampled_triples = 200000};
  RunContext two;
  two.threads = 2;
  const MatrixSummary sampled = summarise(set, &matrix, nullptr, few, {});
  EXPECT_TRUE(sampled.triangles->sampled);
  EXPECT_EQ(sampled.triangles->checked, 200000);
  // Five standard deviations of a share of 200,000 draws.
  EXPECT_NEAR(sampled.triangles->fraction(), all.triangles->fraction(), 5 * 0.5 / std::sqrt(2e5));
  EXPECT_EQ(summarise(set, &matrix, nullptr, few, two).triangles->violations,
            sampled.triangles->violations);
}

TEST(Summary, AveragesTheErrorOverEquallyNearNeighbours) {
  const MatrixSummary summary =
      summary_of(RowMatrix{{1., .5, .5}, {.5, 1., .2}, {.5, .2, 1.}}, {"a", "a", "b"});
  EXPECT_NEAR(summary.neighbours->error, (0.5 + 0 + 1) / 3, 1e-15);
  EXPECT_EQ(summary.neighbours->tied, 1);
}

TEST(Summary, TellsWhatTheKnownPairsTellWhenSomeAreMissing) {
  SimilaritySet set = as_set(RowMatrix(0, 0));
  SparseBlock sparse;
  sparse.cols = 3;
  sparse.starts = {0, 2, 3, 3};
  sparse.columns = {0, 1, 1};
  sparse.values = {5, 2, 5};
  set.block = sparse;
  const Labels labels = make_labels(std::vector<std::string>{"a", "a", "b"});
  const MatrixSummary summary = summarise(set, nullptr, &labels, {}, {});
  EXPECT_EQ(summary.missing, 6);
  EXPECT_FALSE(summary.spectrum);
  EXPECT_THAT(summary.no_spectrum_because, testing::HasSubstr("[[missing]]"));
  // 1 and 2 know each other through one direction; 3 knows nobody.
  EXPECT_EQ(summary.neighbours->isolated, 1);
  EXPECT_NEAR(summary.neighbours->error, 1.0 / 3, 1e-15);
}

TEST(Summary, JudgesGivenDistancesByThemselves) {
  const RowMatrix distances{{0., 1., 5.}, {1., 0., 1.}, {5., 1., 0.}};
  const SimilaritySet set = as_set(distances, PairKind::kDistance);
  const TrainingMatrix similarities{set.name, DenseBlock(RowMatrix(-distances))};
  EXPECT_EQ(summarise(set, &similarities, nullptr, {}, {}).triangles->violations, 1);
}

TEST(ClassTable, AveragesSimilaritiesWithinAndBetween) {
  const MatrixSummary summary =
      summary_of(RowMatrix{{9., 4., 1.}, {4., 9., 3.}, {1., 3., 9.}}, {"a", "a", "b"});
  EXPECT_EQ(summary.classes[0].within, 4);
  EXPECT_EQ(summary.classes[0].between, 2);
  EXPECT_TRUE(std::isnan(summary.classes[1].within));
}

TEST(Agreement, IsOneForTheSameMatrixInOtherUnits) {
  const RowMatrix values = random_symmetric(12, 5);
  const RowMatrix scaled = (3 * values).array() + 7;
  const Matrix cosine = agreement({{"a", DenseBlock(values)}, {"b", DenseBlock(scaled)}});
  EXPECT_NEAR(cosine(0, 1), 1, 1e-12);
}

/// Points on a line; their inner products tell any two apart.
RowMatrix products_of(const std::vector<double>& points) {
  const Eigen::Map<const Vector> x(points.data(), std::ssize(points));
  return x * x.transpose() + RowMatrix::Ones(x.size(), x.size());
}

TEST(Duplicates, AreNotSamplesThatOthersTellApart) {
  // 1 and 2 are as alike as each to itself, and only one of them is like 3.
  const RowMatrix S{{1., 1., 1.}, {1., 1., 0.}, {1., 0., 1.}};
  EXPECT_EQ(summary_of(S).duplicates->same, 0);
  EXPECT_EQ(summary_of(S).duplicates->near, 0);
}

TEST(Duplicates, AreSamplesWithEqualRows) {
  const RowMatrix S = products_of({1, 2, 5, 2, -4, 1.0005});
  const MatrixSummary summary = summary_of(S, {"a", "a", "b", "b", "b", "a"});
  ASSERT_TRUE(summary.duplicates);
  const DuplicateSummary& found = *summary.duplicates;
  EXPECT_EQ(found.same, 1);
  EXPECT_EQ(found.near, 1);
  EXPECT_EQ(found.contradicting, 1);
  EXPECT_EQ(found.samples, 4);
  ASSERT_EQ(found.pairs.size(), 2U);
  EXPECT_EQ(found.pairs[0].first, 1);
  EXPECT_EQ(found.pairs[0].second, 3);
  EXPECT_TRUE(found.pairs[0].same);
  EXPECT_TRUE(found.pairs[0].contradicting);
  EXPECT_EQ(found.pairs[0].classes, (std::array<std::string, 2>{"a", "b"}));
  EXPECT_EQ(found.pairs[1].first, 0);
  EXPECT_EQ(found.pairs[1].second, 5);
  EXPECT_FALSE(found.pairs[1].same);
  EXPECT_FALSE(found.pairs[1].contradicting);
}

TEST(Duplicates, DependOnNoUnitAndNoThreads) {
  std::vector<double> points;
  Rng rng(8);
  points.reserve(150);
  for (int i = 0; i < 150; ++i) points.push_back(std::round(20 * rng.normal()));
  const RowMatrix S = products_of(points);
  const DuplicateSummary one = *summary_of(S).duplicates;
  std::int64_t expected = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) expected += points[i] == points[j] ? 1 : 0;
  }
  EXPECT_EQ(one.same, expected);
  EXPECT_EQ(one.pairs.size(), 10U);
  const SimilaritySet scaled = as_set(1e6 * S);
  const TrainingMatrix matrix{scaled.name, scaled.block};
  RunContext two;
  two.threads = 2;
  const DuplicateSummary other = *summarise(scaled, &matrix, nullptr, {}, two).duplicates;
  EXPECT_EQ(other.same, one.same);
  EXPECT_EQ(other.near, one.near);
  EXPECT_EQ(other.samples, one.samples);
  EXPECT_EQ(other.pairs.front().first, one.pairs.front().first);
}

TEST(Duplicates, OfDistancesAreAtDistanceZero) {
  const RowMatrix distances{{0., 0., 5.}, {0., 0., 5.}, {5., 5., 0.}};
  const SimilaritySet set = as_set(distances, PairKind::kDistance);
  const TrainingMatrix similarities{set.name, DenseBlock(RowMatrix(-distances))};
  const MatrixSummary summary = summarise(set, &similarities, nullptr, {}, {});
  EXPECT_EQ(summary.duplicates->same, 1);
  EXPECT_EQ(summary.duplicates->samples, 2);
  EXPECT_EQ(summary.duplicates->contradicting, 0);
}

TEST(Duplicates, AreNotSamplesThatNothingIsKnownOf) {
  RowMatrix S = RowMatrix::Zero(4, 4);
  S(0, 0) = S(1, 1) = 1;
  EXPECT_EQ(summary_of(S).duplicates->same, 0);
  EXPECT_EQ(summary_of(RowMatrix::Ones(4, 4)).duplicates->same, 0);
}

TEST(Advice, NamesPairsWithContradictingLabels) {
  const MatrixSummary summary = summary_of(products_of({1, 2, 5, 2}), {"a", "a", "b", "b"});
  const Labels labels = make_labels(std::vector<std::string>{"a", "a", "b", "b"});
  std::string why;
  for (const Advice& advice : advise({summary}, &labels)) {
    if (advice.what.find("twice") != std::string::npos) why = advice.why;
  }
  EXPECT_THAT(why, testing::HasSubstr("2 and 4 (a, b)"));
  EXPECT_THAT(why, testing::HasSubstr("different labels"));
}

bool says(const MatrixSummary& summary, const std::string& word) {
  const std::vector<Advice> all = advise({summary}, nullptr);
  return std::any_of(all.begin(), all.end(), [&](const Advice& advice) {
    return advice.what.find(word) != std::string::npos;
  });
}

TEST(Advice, WarnsOfPlainMachinesWhereTheMatrixIsNoKernel) {
  EXPECT_FALSE(says(summary_of(RowMatrix::Identity(5, 5)), "svm-none"));
  EXPECT_TRUE(says(summary_of(random_symmetric(5, 6)), "svm-none"));
  RowMatrix nearly = 1e5 * RowMatrix::Identity(5, 5);
  nearly(4, 4) = -1;  // a small share is no small difference
  EXPECT_TRUE(says(summary_of(nearly), "svm-none"));
}

TEST(Advice, BeginsWithTheChoiceByCrossValidation) {
  for (const MatrixSummary& summary :
       {summary_of(RowMatrix::Identity(5, 5)), summary_of(random_symmetric(5, 6))}) {
    EXPECT_EQ(advise({summary}, nullptr).front().what, "[[method=auto]]");
  }
}

TEST(Advice, NamesOnlyMethodsThatExist) {
  int named = 0;
  for (const Advice& advice : advise({summary_of(random_symmetric(5, 6))}, nullptr)) {
    for (const std::string_view word : split(advice.what, ' ')) {
      if (!word.starts_with("svm")) continue;
      ++named;
      EXPECT_TRUE(is_method(word)) << advice.what;
    }
  }
  EXPECT_GT(named, 0);
}

}  // namespace
}  // namespace kith::summary_test
