// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/dtw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "kith/core/rng.hpp"
#include "kith/data/formats.hpp"
#include "kith/measure/raw_data.hpp"

namespace kith::dtw_test {
namespace {

Series random_series(Rng& rng, std::uint64_t longest) {
  Series series(1 + rng.below(longest));
  for (double& value : series) value = rng.normal();
  return series;
}

/// The recurrence of the definition, in a full table.
double by_definition(const Series& a, const Series& b, std::optional<Index> band) {
  const auto n = static_cast<Index>(a.size());
  const auto m = static_cast<Index>(b.size());
  const Index w = band ? std::max(*band, std::abs(n - m)) : n + m;
  Matrix D = Matrix::Constant(n + 1, m + 1, std::numeric_limits<double>::infinity());
  D(0, 0) = 0;
  for (Index i = 1; i <= n; ++i) {
    for (Index j = 1; j <= m; ++j) {
      if (std::abs(i - j) > w) continue;
      const double gap = a[static_cast<std::size_t>(i - 1)] - b[static_cast<std::size_t>(j - 1)];
      D(i, j) = gap * gap + std::min({D(i - 1, j), D(i, j - 1), D(i - 1, j - 1)});
    }
  }
  return std::sqrt(D(n, m));
}

double dtw_distance(const Series& a, const Series& b, const DtwSettings& settings = {}) {
  const std::vector<Series> row = {a};
  const std::vector<Series> column = {b};
  return dtw_matrix(row, settings, RunContext{}, column)(0, 0);
}

TEST(Dtw, IsTheRecurrenceToTheLastBit) {
  Rng rng(3);
  for (int round = 0; round < 400; ++round) {
    const Series a = random_series(rng, 1 + static_cast<std::uint64_t>(round) / 10);
    const Series b = random_series(rng, 1 + static_cast<std::uint64_t>(round) / 10);
    EXPECT_EQ(dtw_distance(a, b), by_definition(a, b, {})) << a.size() << " x " << b.size();
    for (const Index band : {0, 1, 2, 3, 7, 50}) {
      EXPECT_EQ(dtw_distance(a, b, {.band = band}), by_definition(a, b, band))
          << a.size() << " x " << b.size() << ", band " << band;
    }
  }
}

/// Sixteen columns are computed at once, of equal and of unequal lengths.
TEST(DtwMatrix, HasTheDistancesOfItsPairsToTheLastBit) {
  Rng rng(7);
  for (const bool equal : {true, false}) {
    std::vector<Series> samples;
    for (int i = 0; i < 90; ++i) {
      samples.push_back(random_series(rng, 30));
      if (equal) samples.back().resize(21, 0.25);
    }
    for (const std::optional<Index> band : {std::optional<Index>{}, std::optional<Index>{0},
                                            std::optional<Index>{4}, std::optional<Index>{99}}) {
      const RowMatrix D = dtw_matrix(samples, {.band = band}, RunContext{});
      for (Index i = 0; i < D.rows(); ++i) {
        for (Index j = 0; j < D.cols(); ++j) {
          ASSERT_EQ(D(i, j), by_definition(samples[static_cast<std::size_t>(i)],
                                           samples[static_cast<std::size_t>(j)], band));
        }
      }
    }
  }
}

TEST(Dtw, KeepsItsLaws) {
  Rng rng(4);
  for (int round = 0; round < 50; ++round) {
    const Series a = random_series(rng, 30);
    Series b = random_series(rng, 30);
    EXPECT_EQ(dtw_distance(a, b), dtw_distance(b, a));
    EXPECT_EQ(dtw_distance(a, a), 0);
    EXPECT_GE(dtw_distance(a, b, {.band = 2}), dtw_distance(a, b, {.band = 5}));
    // Repeating a value costs nothing.
    Series stretched = a;
    stretched.insert(stretched.begin() + static_cast<std::ptrdiff_t>(a.size() / 2),
                     a[a.size() / 2]);
    EXPECT_EQ(dtw_distance(a, stretched), 0);
    b.resize(a.size(), 0.5);
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
    EXPECT_NEAR(dtw_distance(a, b, {.band = 0}), std::sqrt(squares), 1e-12 * (1 + squares));
  }
}

TEST(Dtw, HasTheSameDigitsInEveryUnit) {
  Rng rng(8);
  std::vector<Series> samples(40);
  for (Series& sample : samples) sample = random_series(rng, 20);
  for (const int exponent : {-245, -100, 100, 245}) {
    std::vector<Series> scaled = samples;
    for (Series& series : scaled) {
      for (double& value : series) value = std::ldexp(value, exponent);
    }
    for (const std::optional<Index> band : {std::optional<Index>{}, std::optional<Index>{2}}) {
      const RowMatrix D = dtw_matrix(samples, {.band = band}, RunContext{});
      const RowMatrix E = dtw_matrix(scaled, {.band = band}, RunContext{});
      EXPECT_TRUE((E.array() == D.array() * std::ldexp(1.0, exponent)).all()) << exponent;
    }
  }
  const Series near = {1, 1e-70, 1};
  const Series next = {1, 3e-70, 1};
  EXPECT_DOUBLE_EQ(dtw_distance(near, next), 2e-70) << "one tiny step beside large numbers";
  EXPECT_EQ(dtw_distance(near, near), 0);
}

class UcrSeries : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Sets, UcrSeries, testing::Values("coffee", "ecg200"));

/// Distances computed by another program, stored with seven digits.
TEST_P(UcrSeries, HaveTheDistancesOfAnotherProgram) {
  const std::filesystem::path folder =
      std::filesystem::path(KITH_TEST_SHARED) / "data" / (std::string("ucr-") + GetParam());
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  const RunContext ctx{.threads = 2};
  const auto data =
      std::get<SeriesData>(read_raw((folder / "series.csv").string(), RawKind::kSeries, ctx));
  const SimilaritySet stored = read_similarity((folder / "dtw_distance.csv").string(), {}, ctx);
  const RowMatrix expected = to_dense(stored.block).values();
  const RowMatrix found = dtw_matrix(data.values, {}, ctx);
  ASSERT_EQ(found.rows(), expected.rows());
  EXPECT_LE(((found - expected).array() / (1e-300 + expected.array())).abs().maxCoeff(), 5e-7);
}

}  // namespace
}  // namespace kith::dtw_test
