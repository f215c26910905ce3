// SPDX-License-Identifier: Apache-2.0
// Measures of strings, vectors, sets and categories against their definitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "kith/measure/compression.hpp"
#include "kith/measure/measure.hpp"
#include "kith/measure/set_similarity.hpp"
#include "kith/measure/spectrum.hpp"
#include "kith/measure/value_difference.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "measure/vector_measure.hpp"
#include "support/files.hpp"
#include "support/random_text.hpp"

namespace kith::values_test {
namespace {

using testing::HasSubstr;

StringData random_strings(std::uint64_t seed, std::size_t count) {
  return {.source = "x.txt", .ids = {}, .values = random_texts(seed, count, 40, U'a', 3)};
}

std::map<std::string, double> pieces(const std::string& text, std::size_t k) {
  std::map<std::string, double> counts;
  for (std::size_t at = 0; at + k <= text.size(); ++at) counts[text.substr(at, k)] += 1;
  return counts;
}

TEST(Spectrum, CountsCommonPieces) {
  const StringData data = random_strings(1, 20);
  for (const Index k : {1, 2, 4}) {
    const RowMatrix S = spectrum_matrix(data, {.kmer = k}, RunContext{});
    for (Index i = 0; i < S.rows(); ++i) {
      const auto x = pieces(data.values[static_cast<std::size_t>(i)], static_cast<std::size_t>(k));
      for (Index j = 0; j < S.cols(); ++j) {
        double sum = 0;
        for (const auto& [piece, count] :
             pieces(data.values[static_cast<std::size_t>(j)], static_cast<std::size_t>(k))) {
          const auto found = x.find(piece);
          if (found != x.end()) sum += found->second * count;
        }
        EXPECT_EQ(S(i, j), sum);
      }
    }
    EXPECT_GT(symmetric_eigenvalues(S).minCoeff(), -1e-9 * S.trace());
  }
}

TEST(Spectrum, CountsCodePointsAndNormalises) {
  const StringData data{
      .source = "x", .ids = {"p", "q"}, .values = {"\u00e5\u00e5\u00e5", "\u00e5b\u00e5"}};
  const RowMatrix S =
      spectrum_matrix(data, {.kmer = 1, .score = ScoreForm::kNormalised}, RunContext{});
  EXPECT_NEAR(S(0, 1), 6 / std::sqrt(9.0 * 5.0), 1e-15);
  EXPECT_EQ(S(0, 0), 1);
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         static_cast<void>(spectrum_matrix(
                             data, {.kmer = 4, .score = ScoreForm::kNormalised}, RunContext{}));
                       }),
              HasSubstr("\"p\" is shorter than kmer, 4"));
}

TEST(CompressionDistance, TellsKinFromStrangers) {
  Rng rng(2);
  std::string one;
  std::string other;
  for (int i = 0; i < 2000; ++i) {
    one += static_cast<char>('a' + rng.below(26));
    other += static_cast<char>('a' + rng.below(26));
  }
  const std::vector<std::string> texts = {one, one.substr(500) + "end", other, ""};
  const RowMatrix D = compression_matrix(texts, {}, RunContext{});
  EXPECT_EQ(D, RowMatrix(D.transpose()));
  EXPECT_LT(D(0, 0), 0.1);
  EXPECT_LT(D(0, 1), 0.4);
  EXPECT_GT(D(0, 2), 0.9);
  EXPECT_EQ(compression_matrix(std::span(texts).first(2), {}, RunContext{}, texts), D.topRows(2));
}

RowMatrix random_vectors(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  RowMatrix X(n, d);
  for (double& value : X.reshaped()) value = rng.normal();
  return X;
}

RowMatrix pairs_of(const RowMatrix& X, const MeasureSettings& settings) {
  return detail::vector_pairs(DenseBlock(X), nullptr, settings, RunContext{});
}

TEST(VectorMeasures, AreTheirDefinitions) {
  for (const Index d : {1, 7, 8, 19}) {
    const RowMatrix X = random_vectors(30, d, 3);
    const RowMatrix linear = pairs_of(X, {.measure = Measure::kLinear});
    const RowMatrix cosine = pairs_of(X, {.measure = Measure::kCosine});
    const RowMatrix P =
        pairs_of(X, {.measure = Measure::kPolynomial, .gamma = 0.3, .degree = 5, .coef0 = -0.2});
    const RowMatrix T = pairs_of(X, {.measure = Measure::kSigmoid, .gamma = 0.3, .coef0 = -0.2});
    const RowMatrix two = pairs_of(X, {.measure = Measure::kEuclidean});
    const RowMatrix one = pairs_of(X, {.measure = Measure::kManhattan});
    const RowMatrix L = pairs_of(X, {.measure = Measure::kLaplacian, .gamma = 0.4});
    for (Index i = 0; i < 30; ++i) {
      for (Index j = 0; j < 30; ++j) {
        const double product = X.row(i).dot(X.row(j));
        const double size = X.row(i).norm() * X.row(j).norm();
        EXPECT_NEAR(linear(i, j), product, 1e-14 * (1 + size));
        EXPECT_NEAR(cosine(i, j), product / size, 1e-14);
        EXPECT_NEAR(P(i, j), std::pow(0.3 * product - 0.2, 5), 1e-12 * std::pow(1 + size, 5));
        EXPECT_NEAR(T(i, j), std::tanh(0.3 * product - 0.2), 1e-14 * (1 + size));
        EXPECT_NEAR(two(i, j), (X.row(i) - X.row(j)).norm(), 1e-14 * (1 + size));
        EXPECT_NEAR(one(i, j), (X.row(i) - X.row(j)).lpNorm<1>(), 1e-13);
        EXPECT_NEAR(L(i, j), std::exp(-0.4 * (X.row(i) - X.row(j)).lpNorm<1>()), 1e-13);
      }
    }
  }
}

TEST(VectorMeasures, HaveTheSameDigitsInEveryUnit) {
  const RowMatrix X = random_vectors(6, 9, 5);
  const MeasureSettings distance{.measure = Measure::kEuclidean};
  const MeasureSettings cosine{.measure = Measure::kCosine};
  const RowMatrix C = pairs_of(X, cosine);
  const Block columns = DenseBlock(X);
  for (const int exponent : {-245, -100, 100, 245}) {
    const double unit = std::ldexp(1.0, exponent);
    const RowMatrix scaled = unit * X;
    EXPECT_EQ(pairs_of(scaled, distance), unit * pairs_of(X, distance)) << exponent;
    EXPECT_EQ(pairs_of(scaled, cosine), C) << exponent;
    EXPECT_EQ(detail::vector_pairs(DenseBlock(scaled), &columns, cosine, RunContext{}), C);
  }
}

TEST(VectorMeasures, AreOfNumbersThatCanBeSquared) {
  for (const double size : {1e-80, 1e80}) {
    const VectorData data{
        .source = "x", .ids = {}, .values = DenseBlock(size * random_vectors(6, 9, 5))};
    EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                         [&] {
                           static_cast<void>(measure(
                               RawData(data), {.measure = Measure::kEuclidean}, RunContext{}));
                         }),
                testing::AllOf(HasSubstr("x: "), HasSubstr("1e-75 to 1e+75")));
  }
}

TEST(VectorMeasures, AreTheSameOfSparseVectors) {
  Rng rng(8);
  RowMatrix X = RowMatrix::Zero(9, 40);
  SparseBlock table{
      .cols = 40, .starts = {0}, .columns = {}, .values = {}, .absent = Absent::kZero};
  for (Index i = 0; i < 9; ++i) {
    for (Index j = 0; j < 40; ++j) {
      if (rng.uniform() > 0.2) continue;
      X(i, j) = rng.normal();
      table.columns.push_back(static_cast<std::int32_t>(j));
      table.values.push_back(X(i, j));
    }
    table.starts.push_back(table.entries());
  }
  const VectorData dense{.source = "x", .ids = {}, .values = DenseBlock(X)};
  const VectorData sparse{.source = "x", .ids = {}, .values = table};
  for (const Measure of :
       {Measure::kGaussian, Measure::kLaplacian, Measure::kLinear, Measure::kPolynomial,
        Measure::kSigmoid, Measure::kCosine, Measure::kEuclidean, Measure::kManhattan}) {
    const auto values = [&](const VectorData& rows, const VectorData& columns) {
      return RowMatrix(
          to_dense(measure(rows, columns, {.measure = of}, RunContext{}).block).values());
    };
    const RowMatrix expected = values(dense, dense);
    const auto apart = [&](const RowMatrix& found) { return (found - expected).norm(); };
    EXPECT_LT(apart(values(sparse, sparse)), 1e-12 * expected.norm());
    EXPECT_LT(apart(values(sparse, dense)), 1e-12 * expected.norm()) << "one of them is dense";
    const SimilaritySet all = measure(RawData(sparse), {.measure = of}, RunContext{});
    const RowMatrix pairs = to_dense(all.block).values();
    EXPECT_LT(apart(pairs), 1e-12 * expected.norm());
    EXPECT_EQ(pairs, pairs.transpose());
  }
}

TEST(VectorMeasures, RefuseTheCosineOfNothing) {
  RowMatrix X = random_vectors(3, 2, 4);
  X.row(1).setZero();
  const VectorData data{.source = "x", .ids = {}, .values = DenseBlock(X)};
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         static_cast<void>(
                             measure(RawData(data), {.measure = Measure::kCosine}, RunContext{}));
                       }),
              HasSubstr("sample 2"));
}

const SetData kSets{.source = "x",
                    .ids = {},
                    .values = {{"a", "b", "c"}, {"c", "b", "d", "e"}, {}, {"b", "b", "a", "c"}}};

TEST(SetSimilarity, OfSetsThatShareNothingIsZeroWhateverTheWeights) {
  const SetData sets{.source = "", .ids = {}, .values = {{"a"}, {"b", "c"}, {}, {}}};
  for (const double alpha : {0.0, 0.5}) {
    for (const double beta : {0.0, 0.5}) {
      const RowMatrix S = set_matrix(
          sets, {.of = SetSimilarity::kRatio, .alpha = alpha, .beta = beta}, RunContext{});
      const RowMatrix equal =
          (RowMatrix(4, 4) << 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1).finished();
      EXPECT_EQ(S, equal) << alpha << ' ' << beta;
    }
  }
}

TEST(SetSimilarity, IsJaccardsAndTverskys) {
  const RowMatrix J = set_matrix(kSets, {}, RunContext{});
  EXPECT_EQ(J(0, 1), 2.0 / 5.0);
  EXPECT_EQ(J(0, 2), 0);
  EXPECT_EQ(J(2, 2), 1);
  EXPECT_EQ(J(0, 3), 1) << "neither order nor repetition matters";
  const RowMatrix R =
      set_matrix(kSets, {.of = SetSimilarity::kRatio, .alpha = 0.7, .beta = 0.1}, RunContext{});
  EXPECT_DOUBLE_EQ(R(0, 1), 2 / (2 + 0.7 * 1 + 0.1 * 2));
  EXPECT_DOUBLE_EQ(R(1, 0), 2 / (2 + 0.7 * 2 + 0.1 * 1));
  const RowMatrix C = set_matrix(
      kSets, {.of = SetSimilarity::kContrast, .alpha = 0.7, .beta = 0.1, .theta = 3}, RunContext{});
  EXPECT_DOUBLE_EQ(C(0, 1), 3 * 2 - 0.7 * 1 - 0.1 * 2);
  EXPECT_DOUBLE_EQ(C(0, 2), -0.7 * 3);
  EXPECT_EQ(set_matrix(kSets, {.of = SetSimilarity::kRatio, .alpha = 1, .beta = 1}, RunContext{}),
            J);
}

TEST(ValueDifference, ComparesDistributionsOfClasses) {
  const std::vector<std::string> classes = {"0", "0", "1", "1"};
  const CategoryData data{.source = "x",
                          .ids = {},
                          .values = {{"r", "p"}, {"g", "p"}, {"g", "q"}, {"b", "q"}},
                          .labels = make_labels(classes)};
  // P(0 | r) = 1, P(0 | g) = 1/2, P(0 | b) = 0; P(0 | p) = 1, P(0 | q) = 0.
  const RowMatrix D = value_difference_matrix(data, {}, RunContext{});
  EXPECT_DOUBLE_EQ(D(0, 1), 2 * 0.25);
  EXPECT_DOUBLE_EQ(D(0, 3), 2 + 2);
  EXPECT_DOUBLE_EQ(D(1, 2), 2);
  EXPECT_EQ(D.diagonal(), Vector::Zero(4));
  const RowMatrix one = value_difference_matrix(data, {.exponent = 1}, RunContext{});
  EXPECT_DOUBLE_EQ(one(0, 1), 2 * 0.5);

  const CategoryData queries{.source = "q", .ids = {}, .values = {{"r", "p"}, {"new", "p"}}};
  const RowMatrix rows = value_difference_matrix(queries, {}, RunContext{}, &data);
  EXPECT_EQ(rows.row(0), D.row(0));
  EXPECT_DOUBLE_EQ(rows(1, 0), 1) << "a value nobody has gets no class";
}

TEST(ValueDifference, IsTheSameWithAndWithoutATable) {
  Rng rng(5);
  CategoryData data{.source = "x", .ids = {}, .values = {}};
  std::vector<std::string> classes;
  for (int i = 0; i < 1200; ++i) {
    data.values.push_back({"v" + std::to_string(rng.below(700))});
    classes.push_back(std::to_string(rng.below(3)));
  }
  data.labels = make_labels(classes);
  const RowMatrix D = value_difference_matrix(data, {}, RunContext{});
  std::map<std::string, Eigen::Vector4d> seen;  // counts of classes, and of all
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    auto& counts = seen.try_emplace(data.values[i][0], Eigen::Vector4d::Zero()).first->second;
    counts[data.labels->ids[i]] += 1;
    counts[3] += 1;
  }
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 40; ++j) {
      const Eigen::Vector4d x = seen.at(data.values[static_cast<std::size_t>(i)][0]);
      const Eigen::Vector4d z = seen.at(data.values[static_cast<std::size_t>(j)][0]);
      EXPECT_NEAR(D(i, j), (x.head<3>() / x[3] - z.head<3>() / z[3]).squaredNorm(), 1e-14);
    }
  }
  data.labels.reset();
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] { static_cast<void>(value_difference_matrix(data, {}, RunContext{})); }),
              HasSubstr("labels"));
}

}  // namespace
}  // namespace kith::values_test
