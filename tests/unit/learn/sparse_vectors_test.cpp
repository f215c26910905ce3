// SPDX-License-Identifier: Apache-2.0
// Methods on vectors see the same samples, dense or sparse.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/learn/registry.hpp"
#include "kith/vectors/scaled_vectors.hpp"
#include "support/sparse_tables.hpp"
#include "support/training_sets.hpp"

namespace kith::sparse_vectors_test {
namespace {

using test::sparse_of;

/// Counts of words in two or three kinds of texts; the last feature is there in every sample and
/// far from 0, the one before it in all of them alike.
RowMatrix texts(Index n, Index features, int classes, std::uint64_t seed) {
  Rng rng(seed);
  RowMatrix X = RowMatrix::Zero(n, features);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < features; ++j) {
      const double often = j % classes == i % classes ? 0.2 : 0.06;
      if (rng.uniform() < often) X(i, j) = 1 + std::floor(4 * rng.uniform());
    }
    X(i, features - 1) = 1000 + rng.normal();
    X(i, features - 2) = 3;
  }
  return X;
}

TEST(ScaledVectors, AreTheSameNumbersSparseOrDense) {
  const RowMatrix X = texts(20, 30, 2, 1);
  const Matrix B = Matrix::Random(30, 4);
  const Matrix C = Matrix::Random(20, 3);
  for (const FeatureScaling scaling :
       {FeatureScaling::kStandard, FeatureScaling::kRange, FeatureScaling::kNone}) {
    const FeatureScale scale = learn_scale(DenseBlock(X), scaling);
    const FeatureScale of_sparse = learn_scale(sparse_of(X), scaling);
    EXPECT_EQ(of_sparse.width, 30);
    EXPECT_EQ(of_sparse.size(), (X.colwise().squaredNorm().array() > 0).count());
    const FeatureScale full = learn_full_scale(sparse_of(X), scaling);
    EXPECT_LT((scale.offset - full.offset).norm(), 1e-12 * (1 + scale.offset.norm()));
    EXPECT_LT((scale.factor - full.factor).norm(), 1e-9 * scale.factor.norm());
    const Matrix rows = scaled(scale, DenseBlock(X));
    const ScaledVectors sparse(scale, sparse_of(X));
    ASSERT_NE(sparse.sparse(), nullptr);
    const double size = rows.norm();
    EXPECT_LT((sparse.dense() - rows).norm(), 1e-13 * size);
    EXPECT_LT((sparse.times(B) - rows * B).norm(), 1e-12 * size);
    EXPECT_LT((sparse.transposed_times(C) - rows.transpose() * C).norm(), 1e-12 * size);
    for (const VectorKernel kernel :
         {VectorKernel::kLinear, VectorKernel::kRbf, VectorKernel::kPolynomial}) {
      const Matrix table = kernel_table(kernel, sparse, 2);
      EXPECT_EQ(table, table.transpose());
      EXPECT_LT((table - kernel_table(kernel, rows, rows, 1)).norm(), 1e-12 * size * size);
    }
  }
}

TEST(ScaledVectors, LeaveMostOfASparseTableEmpty) {
  const RowMatrix X = texts(20, 300, 2, 2);
  const SparseBlock table = sparse_of(X);
  const ScaledVectors sparse(learn_scale(table, FeatureScaling::kStandard), table);
  EXPECT_LE(sparse.sparse()->entries(), table.entries());
}

TEST(VectorSpan, KeepsEveryDistanceAndReturnsToTheFeatures) {
  for (const Index features : {12, 90}) {
    const RowMatrix X = texts(25, features, 2, 3);
    for (const FeatureScaling scaling : {FeatureScaling::kStandard, FeatureScaling::kNone}) {
      const FeatureScale scale = learn_scale(DenseBlock(X), scaling);
      const Matrix rows = scaled(scale, DenseBlock(X));
      for (const bool is_sparse : {false, true}) {
        const Block block = is_sparse ? Block(sparse_of(X)) : Block(DenseBlock(X));
        const VectorSpan span(ScaledVectors(scale, block), 1);
        const Index r = span.Z().cols();
        const Matrix Qt = span.over_features(Matrix::Identity(r, r));
        EXPECT_LT((Qt * Qt.transpose() - Matrix::Identity(r, r)).norm(), 1e-6);
        Matrix back = span.Z() * Qt;
        back.rowwise() += span.mean().transpose();
        EXPECT_LT((back - rows).norm(), 1e-9 * rows.norm());
        EXPECT_LT((span.Z().colwise().squaredNorm().transpose() - span.spread()).norm(),
                  1e-9 * span.spread().norm());
      }
    }
  }
}

TEST(VectorSpan, HasEveryDirectionOfEveryFeatureWhereAsked) {
  for (const double unit : {1.0, 1e-9}) {
    RowMatrix X = texts(25, 90, 2, 4);
    X.leftCols(80) *= unit;
    X.bottomRows(5) = X.topRows(5);  // and directions that are none
    const FeatureScale scale = learn_scale(DenseBlock(X), FeatureScaling::kNone);
    for (const bool is_sparse : {false, true}) {
      const Block block = is_sparse ? Block(sparse_of(X)) : Block(DenseBlock(X));
      const VectorSpan span(ScaledVectors(scale, block), 1, SpanDirections::kAll);
      EXPECT_TRUE(span.whole());
      EXPECT_EQ(span.Z().cols(), 19);
      EXPECT_EQ(VectorSpan(ScaledVectors(scale, block), 1).whole(), unit == 1) << is_sparse;
      const Matrix Qt = span.over_features(Matrix::Identity(19, 19));
      EXPECT_LT((Qt * Qt.transpose() - Matrix::Identity(19, 19)).norm(), 1e-7);
      Matrix back = span.Z() * Qt;
      back.rowwise() += span.mean().transpose();
      for (Index j = 0; j < X.cols(); ++j) {
        const double length = X.col(j).norm();
        EXPECT_LE((back.col(j) - X.col(j)).norm(), length > 0 ? 1e-7 * length : 1e-14);
      }
    }
  }
}

TEST(VectorSpan, SaysWhereADirectionIsBelowRounding) {
  RowMatrix X = texts(25, 90, 2, 5);
  X.leftCols(80) *= 1e-20;
  const FeatureScale scale = learn_scale(DenseBlock(X), FeatureScaling::kNone);
  EXPECT_FALSE(VectorSpan(ScaledVectors(scale, DenseBlock(X)), 1, SpanDirections::kAll).whole());
  EXPECT_FALSE(VectorSpan(ScaledVectors(scale, sparse_of(X)), 1, SpanDirections::kAll).whole());
}

TEST(VectorSpan, OfVectorsThatAreAllAlikeIsOneCoordinateOfZeros) {
  for (const Index features : {3, 30}) {
    const RowMatrix X = RowMatrix::Ones(8, features);
    const std::vector<Block> blocks = {DenseBlock(X), sparse_of(RowMatrix::Zero(8, features))};
    for (const Block& block : blocks) {
      const FeatureScale scale = learn_scale(block, FeatureScaling::kStandard);
      const VectorSpan span(ScaledVectors(scale, block), 1);
      EXPECT_EQ(span.Z(), Matrix::Zero(8, 1));
      EXPECT_EQ(span.over_features(Matrix::Ones(2, 1)), Matrix::Zero(2, scale.size()));
      TrainingSet set;
      set.labels = test::numbered_labels(std::vector<int>{0, 1, 0, 1, 0, 1, 0, 0});
      set.vectors = block;
      RunContext ctx;
      SharedWork work(set);
      QueryBlock queries;
      queries.vectors = block;
      testing::internal::CaptureStdout();
      testing::internal::CaptureStderr();
      for (const char* method : {"linear-msvm", "nonlinear-msvm", "nca-knn", "lmnn-knn"}) {
        const Fitted<AnyModel> fitted = fit(work, parse_method(method, {}).settings, ctx);
        const std::vector<int> labels = predict(fitted.model, queries, ctx).labels;
        EXPECT_EQ(labels, std::vector<int>(8, labels.front())) << method;
      }
      EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << "the library never prints";
      EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "the library never prints";
    }
  }
}

struct Variant {
  std::string method;
  std::vector<std::string> settings;
};
std::ostream& operator<<(std::ostream& out, const Variant& variant) {
  out << variant.method;
  for (const std::string& one : variant.settings) out << ' ' << one;
  return out;
}

class OnSparseVectors : public testing::TestWithParam<Variant> {};

TEST_P(OnSparseVectors, LearnsWhatItLearnsOnDenseOnes) {
  for (const Index features : {16, 120}) {
    for (const int classes : {2, 3}) {
      RowMatrix X = texts(48, features, classes, 4);
      X.col(3).setZero();  // a feature that new samples alone have
      const RowMatrix Q = texts(12, features, classes, 5);
      std::vector<int> ids;
      ids.reserve(48);
      for (int i = 0; i < 48; ++i) ids.push_back(i % classes);
      const MethodChoice choice = parse_method(GetParam().method, GetParam().settings);
      std::vector<Prediction> predictions;
      std::vector<Matrix> similarities;
      for (const bool is_sparse : {false, true}) {
        const auto block = [&](const RowMatrix& rows) -> Block {
          if (is_sparse) return sparse_of(rows);
          return DenseBlock(rows);
        };
        TrainingSet set;
        set.labels = test::numbered_labels(ids);
        set.vectors = block(X);
        RunContext ctx;
        SharedWork work(set);
        const Fitted<AnyModel> fitted = fit(work, choice.settings, ctx);
        QueryBlock queries;
        queries.vectors = block(Q);
        predictions.push_back(predict(fitted.model, queries, ctx));
        if (GetParam().method.ends_with("msvm") || GetParam().method.ends_with("knn")) {
          similarities.push_back(learned_similarity(fitted.model, set.vectors, ctx));
        }
      }
      EXPECT_EQ(predictions[0].labels, predictions[1].labels);
      const auto expect_alike = [](const Matrix& a, const Matrix& b, double share) {
        ASSERT_EQ(a.size(), b.size());
        EXPECT_LE((a - b).cwiseAbs().maxCoeff(), share * (1 + a.cwiseAbs().maxCoeff()));
      };
      // rkl descends to a local optimum and ends where a step gains less than 1e-6 of the value
      // (1e-3 for probabilities): rounding moves its scores by about the roots of these.
      const bool local = GetParam().method == "rkl";
      expect_alike(predictions[0].scores, predictions[1].scores, local ? 2e-2 : 1e-5);
      expect_alike(predictions[0].probabilities, predictions[1].probabilities, local ? 2e-2 : 1e-4);
      if (!similarities.empty()) expect_alike(similarities[0], similarities[1], 1e-5);
    }
  }
}

TEST_P(OnSparseVectors, KeepsFeaturesThatOccurHoweverFarOut) {
  std::vector<int> ids;
  ids.reserve(48);
  for (int i = 0; i < 48; ++i) ids.push_back(i % 2);
  const MethodChoice choice = parse_method(GetParam().method, GetParam().settings);
  std::vector<Prediction> predictions;
  for (const Index apart : {1, 10'000'000}) {
    const auto block = [&](const RowMatrix& rows) {
      SparseBlock table = sparse_of(rows);
      table.cols *= apart;
      for (std::int32_t& column : table.columns) column *= static_cast<std::int32_t>(apart);
      return table;
    };
    TrainingSet set;
    set.labels = test::numbered_labels(ids);
    set.vectors = block(texts(48, 120, 2, 4));
    RunContext ctx;
    SharedWork work(set);
    const Fitted<AnyModel> fitted = fit(work, choice.settings, ctx);
    QueryBlock queries;
    queries.vectors = block(texts(12, 120, 2, 5));
    predictions.push_back(predict(fitted.model, queries, ctx));
  }
  EXPECT_EQ(predictions[0].labels, predictions[1].labels);
  EXPECT_EQ(predictions[0].scores, predictions[1].scores);
}

// The descent of [ZGZZ] is stopped early: over many steps it turns on the last bits of the samples.
INSTANTIATE_TEST_SUITE_P(
    Methods, OnSparseVectors,
    testing::Values(
        Variant{"linear-msvm", {"tolerance=0.2"}},
        Variant{"linear-msvm", {"dimensions=2", "tolerance=0.2"}},
        Variant{"linear-msvm", {"dimensions=energy:0.8", "scaling=range", "tolerance=0.2"}},
        Variant{"linear-msvm", {"solver=convex", "scaling=none"}},
        Variant{"linear-msvm", {"start=random", "start-machine=random", "tolerance=0.3"}},
        Variant{"nonlinear-msvm", {"gamma=0.01", "tolerance=0.2"}}, Variant{"vector-svm", {}},
        Variant{"vector-svm", {"kernel=rbf", "gamma=0.02", "loss=squared"}},
        Variant{"vector-svm", {"kernel=polynomial", "scaling=range"}},
        Variant{"vector-svm", {"kernel=rbf", "gamma=0.02", "scaling=none"}},
        Variant{"nca-knn", {"iterations=5", "dimensions=2"}}, Variant{"lmnn-knn", {}},
        Variant{"simple-mkl", {}}, Variant{"rkl", {}}),
    [](const auto& one) {
      std::string name = one.param.method + std::to_string(one.index);
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace kith::sparse_vectors_test
