// SPDX-License-Identifier: Apache-2.0
#include "kith/inspect/portrait.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::portrait_test {
namespace {

SimilaritySet set_of(RowMatrix values) {
  SimilaritySet set;
  set.name = "S";
  set.block = DenseBlock(std::move(values));
  return set;
}

Portrait portrait_of(const RowMatrix& values, const Labels* labels,
                     const PortraitSettings& settings = {}) {
  const SimilaritySet set = set_of(values);
  const TrainingMatrix matrix{"S", set.block};
  const RunContext ctx;
  return portray(set, &matrix, labels, settings, ctx);
}

/// Points of the plane, their inner products, and classes in turn.
struct Points {
  explicit Points(Index n) : at(Matrix::Zero(n, 2)) {
    Rng rng = RngStreams(7).stream("points");
    for (Index i = 0; i < n; ++i) {
      at(i, 0) = 3 * rng.uniform();
      at(i, 1) = rng.uniform();
      labels.ids.push_back(static_cast<int>(i % 3));
    }
    labels.names = {"a", "b", "c"};
    S = at * at.transpose();
  }
  Matrix at;
  Labels labels;
  RowMatrix S;
};

TEST(Portrait, OrdersByClassAndTheMostTypicalFirst) {
  RowMatrix S = RowMatrix::Identity(5, 5);
  // Class 1 is {0, 2, 4}: 4 is most like the others of it.
  S(0, 4) = S(4, 0) = 0.9;
  S(2, 4) = S(4, 2) = 0.8;
  S(0, 2) = S(2, 0) = 0.1;
  S(1, 3) = S(3, 1) = 0.5;
  const Labels labels{{1, 0, 1, 0, 1}, {"first", "second"}};
  EXPECT_EQ(portrait_of(S, &labels).order, (std::vector<Index>{1, 3, 4, 0, 2}));
}

TEST(Portrait, APixelIsTheMeanOfItsPairs) {
  const Points points(7);
  const Portrait portrait = portrait_of(points.S, nullptr, {.most_pixels = 3});
  const Picture& picture = portrait.picture;
  ASSERT_EQ(picture.samples_per_pixel, 3);
  ASSERT_EQ(picture.side, 3);
  const double step = (picture.high - picture.low) / (kPictureLevels - 1);
  for (Index r = 0; r < 3; ++r) {
    for (Index c = 0; c < 3; ++c) {
      const Index rows = std::min<Index>(3, 7 - 3 * r);
      const Index columns = std::min<Index>(3, 7 - 3 * c);
      const double mean = points.S.block(3 * r, 3 * c, rows, columns).mean();
      const double shown = std::clamp(mean, picture.low, picture.high);
      const int level = picture.levels[static_cast<std::size_t>(3 * r + c)];
      EXPECT_NEAR(picture.low + step * (level - 1), shown, 0.51 * step) << r << " " << c;
    }
  }
}

TEST(Portrait, APictureOfMeansIsNoLargerThanThey) {
  const Points points(7);
  const auto picture = [&](Index pixels) {
    const PortraitSettings settings{.most_pixels = pixels, .most_means = 3};
    return portrait_of(points.S, nullptr, settings).picture;
  };
  EXPECT_EQ(picture(7).samples_per_pixel, 1);
  EXPECT_EQ(picture(7).side, 7);
  EXPECT_EQ(picture(6).samples_per_pixel, 3);
  EXPECT_EQ(picture(6).side, 3);
}

TEST(Portrait, UnknownPairsHaveNoLevelAndNoMap) {
  RowMatrix S = Points(6).S;
  S(1, 4) = S(4, 1) = std::numeric_limits<double>::quiet_NaN();
  const SimilaritySet set = set_of(S);
  const RunContext ctx;
  const Portrait portrait = portray(set, nullptr, nullptr, {}, ctx);
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) {
      const int level = portrait.picture.levels[static_cast<std::size_t>(6 * i + j)];
      EXPECT_EQ(level == 0, std::isnan(S(i, j))) << i << " " << j;
    }
  }
  EXPECT_FALSE(portrait.map.has_value());
  // Five others, one of them unknown: the last place stays empty.
  EXPECT_EQ(portrait.neighbours[1 * 5 + 4], -1);
  EXPECT_EQ(std::count(portrait.neighbours.begin(), portrait.neighbours.end(), -1), 2);
}

TEST(Portrait, OfASparseTableIsThatOfTheSameDenseOne) {
  Points points(20);
  SparseBlock sparse;
  sparse.cols = 20;
  sparse.absent = Absent::kZero;
  sparse.starts = {0};
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 20; ++j) {
      if ((i + j) % 3 == 0) {
        sparse.columns.push_back(static_cast<std::int32_t>(j));
        sparse.values.push_back(points.S(i, j));
      } else {
        points.S(i, j) = 0;
      }
    }
    sparse.starts.push_back(static_cast<std::int64_t>(sparse.values.size()));
  }
  SimilaritySet set;
  set.block = sparse;
  const TrainingMatrix matrix{"S", set.block};
  const PortraitSettings settings{.most_pixels = 6};
  const Portrait found = portray(set, &matrix, &points.labels, settings, RunContext());
  const Portrait expected = portrait_of(points.S, &points.labels, settings);
  EXPECT_EQ(found.order, expected.order);
  EXPECT_EQ(found.picture.levels, expected.picture.levels);
  EXPECT_EQ(found.neighbours, expected.neighbours);
  EXPECT_EQ(found.picture.low, expected.picture.low);
}

TEST(Portrait, BeyondItsLimitsIsAPictureAlone) {
  const Points points(12);
  const Portrait mapped =
      portrait_of(points.S, &points.labels, {.summary = {.spectrum_up_to = 11}});
  EXPECT_FALSE(mapped.summary.spectrum);
  EXPECT_NE(mapped.summary.no_spectrum_because.find("more than 11"), std::string::npos);
  EXPECT_EQ(mapped.summary.classes.size(), 3U);
  EXPECT_TRUE(mapped.map);
  const Portrait compared = portrait_of(points.S, &points.labels, {.most_mapped = 11});
  EXPECT_FALSE(compared.map);
  EXPECT_EQ(compared.neighbours, mapped.neighbours);
  const Portrait drawn = portrait_of(points.S, &points.labels,
                                     {.most_compared = 11, .summary = {.spectrum_up_to = 11}});
  EXPECT_FALSE(drawn.map);
  EXPECT_TRUE(drawn.neighbours.empty());
  EXPECT_EQ(drawn.picture.levels, mapped.picture.levels);
  EXPECT_EQ(drawn.picture.levels, portrait_of(points.S, &points.labels).picture.levels);
}

TEST(Portrait, TheMapOfPointsInThePlaneKeepsTheirDistances) {
  const Points points(20);
  const Portrait portrait = portrait_of(points.S, &points.labels);
  ASSERT_TRUE(portrait.map.has_value());
  const PlaneMap& map = *portrait.map;
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < i; ++j) {
      const double shown = std::hypot(map.x(i) - map.x(j), map.y(i) - map.y(j));
      EXPECT_NEAR(shown, (points.at.row(i) - points.at.row(j)).norm(), 1e-7);
    }
  }
  EXPECT_NEAR(map.squared_share, 1, 1e-9);
  EXPECT_NEAR(map.smallest, 0, 1e-7);
}

TEST(Portrait, NeighboursAreTheMostAlike) {
  const Points points(12);
  const Portrait portrait = portrait_of(points.S, nullptr, {.nearest = 3});
  for (Index i = 0; i < 12; ++i) {
    std::vector<double> others;
    for (Index j = 0; j < 12; ++j) {
      if (j != i) others.push_back(points.S(i, j));
    }
    std::sort(others.rbegin(), others.rend());
    for (Index k = 0; k < 3; ++k) {
      const Index j = portrait.neighbours[static_cast<std::size_t>(3 * i + k)];
      EXPECT_DOUBLE_EQ(points.S(i, j), others[static_cast<std::size_t>(k)]);
    }
  }
}

TEST(Portrait, AConstantMatrixHasAPictureAndNoMap) {
  const Portrait portrait = portrait_of(RowMatrix::Ones(4, 4), nullptr);
  EXPECT_EQ(portrait.picture.low, portrait.picture.high);
  EXPECT_EQ(portrait.picture.levels, std::vector<std::uint8_t>(16, 1));
  EXPECT_FALSE(portrait.map.has_value());
}

}  // namespace
}  // namespace kith::portrait_test
