// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/kernel_learning/spectrum_svm.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kith/learn/svm/kernel_svm.hpp"
#include "support/fitting.hpp"

namespace kith::spectrum_svm_test {
namespace {

using test::decide;
using test::fit_once;
using test::make_sample;
using test::Sample;
using test::training_set;

TEST(SpectrumSvm, IsTheClippedOrFlippedMachineForLargeGamma) {
  const Sample sample = make_sample(40, 15, 2, 21);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const double eta = 0.01;
  // The cost and the tolerance its machine has in spectrum-svm, to the last digit.
  const SvmSettings plain{
      .cost = (1.0 / 40) / (2 * eta), .probability = false, .tolerance = 1e-2 * 1e-8};
  for (const spectrum::Centre centre :
       {spectrum::Centre::kClip, spectrum::Centre::kFlip, spectrum::Centre::kBoth}) {
    SvmSettings same = plain;
    same.spectrum = centre == spectrum::Centre::kClip ? Spectrum::kClip : Spectrum::kFlip;
    const auto learned = fit_once(
        set, SpectrumSvmSettings{.eta = eta, .gamma = 1e3, .centre = centre, .probability = false});
    const auto fixed = fit_once(set, same);
    EXPECT_EQ(decide(learned.model, sample.rows), decide(fixed.model, sample.rows));
    EXPECT_NEAR(learned.info.objective() - learned.info.objective_offset(),
                2 * eta * fixed.info.objective(), 1e-9);
  }
}

TEST(SpectrumSvm, WithoutATreatmentTakesRowsOfTheKernelItself) {
  const Sample sample = make_sample(40, 15, 2, 26);
  const TrainingSet set = training_set(sample.S, sample.classes);
  for (const double gamma : {1e-3, 1e3}) {
    SpectrumSvmSettings settings{
        .eta = 0.01, .gamma = gamma, .centre = spectrum::Centre::kFlip, .probability = false};
    const auto linear = fit_once(set, settings);
    settings.test_treatment = Treatment::kNone;
    const auto none = fit_once(set, settings);
    const SymmetricEigen eigen = symmetric_eigen(sample.S);
    const Matrix treated =
        sample.rows * eigen.U * linear.model.multipliers.asDiagonal() * eigen.U.transpose();
    const Matrix expected = decide(linear.model, sample.rows);
    EXPECT_LT((decide(none.model, treated) - expected).norm(), 1e-5 * expected.norm());
    EXPECT_GT((decide(none.model, sample.rows) - expected).norm(), 1e-2 * expected.norm());
    EXPECT_LE(linear.info.consistency, 1e-9);
    EXPECT_GT(none.info.consistency, 1e-3);
  }
}

TEST(SpectrumSvm, LeavesADefiniteMatrixAsItIsForLargeGamma) {
  const Sample sample = make_sample(30, 10, 2, 22, test::Likeness::kGaussian);
  const TrainingSet set = training_set(sample.S, sample.classes);
  for (const auto centre : {spectrum::Centre::kClip, spectrum::Centre::kFlip,
                            spectrum::Centre::kBoth, spectrum::Centre::kSimilarity}) {
    const auto fitted =
        fit_once(set, SpectrumSvmSettings{.gamma = 1e3, .centre = centre, .probability = false});
    EXPECT_TRUE((fitted.model.multipliers.array() == 1).all());
    EXPECT_LE(fitted.info.consistency, 1e-12);
  }
}

TEST(SpectrumSvm, TreatsTrainingRowsAsNewOnesWithTheLearnedMap) {
  const Sample sample = make_sample(40, 15, 2, 23);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const auto fitted =
      fit_once(set, SpectrumSvmSettings{.eta = 1e-3, .gamma = 1e-3, .probability = false});
  EXPECT_LE(fitted.info.consistency, 1e-10);
  EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved);
  const Vector clip = (fitted.model.eigenvalues.array() > 0).cast<double>();
  const Vector flip = fitted.model.eigenvalues.cwiseSign();
  EXPECT_GT((fitted.model.multipliers - clip).norm(), 0.01);
  EXPECT_GT((fitted.model.multipliers - flip).norm(), 0.01);
  // The printed value at the decisions the model makes of its own training rows is the objective.
  const Matrix f = decide(fitted.model, sample.S);
  double loss = 0;
  for (Index i = 0; i < 40; ++i) {
    const double y = sample.classes[static_cast<std::size_t>(i)] == 0 ? 1 : -1;
    loss += std::max(0.0, 1 - y * f(i, 0)) / 40;
  }
  EXPECT_LT(loss, fitted.info.objective());
}

TEST(SpectrumSvm, ReportsWhatEveryPairHasLearned) {
  const Sample sample = make_sample(45, 10, 3, 24);
  const auto fitted = fit_once(training_set(sample.S, sample.classes),
                               SpectrumSvmSettings{.gamma = 1e-3, .probability = false});
  ASSERT_EQ(fitted.info.learned.size(), 3U);
  EXPECT_EQ(fitted.model.sizes, (std::vector<Index>{30, 30, 30}));
  Index filled = 0;
  for (const Json& pair : fitted.info.learned) {
    const auto multipliers = pair.at("multipliers").get<std::vector<double>>();
    for (const double a : multipliers) EXPECT_EQ(a, fitted.model.multipliers(filled++));
  }
  EXPECT_EQ(filled, fitted.model.multipliers.size());
}

TEST(SpectrumSvm, SaysWhereRepeatedEigenvaluesMakeTheAnswerOneOfSeveral) {
  const Sample sample = make_sample(20, 1, 2, 25);
  const Matrix S = Matrix::Ones(20, 20) - Matrix::Identity(20, 20);
  const auto notes = [&](const Matrix& similarities, double gamma) {
    return fit_once(training_set(similarities, sample.classes),
                    SpectrumSvmSettings{
                        .gamma = gamma, .centre = spectrum::Centre::kFlip, .probability = false})
        .info.notes;
  };
  ASSERT_EQ(notes(S, 1e-3).size(), 1U);
  EXPECT_NE(notes(S, 1e-3).front().find("eigenvalues repeat"), std::string::npos);
  EXPECT_TRUE(notes(S, 1e6).empty()) << "the multipliers stay at their centre";
  EXPECT_TRUE(notes(sample.S, 1e-3).empty());
}

TEST(SpectrumSvm, LearnsEachPairAsIfItWereAlone) {
  const Sample sample = make_sample(45, 10, 3, 25);
  const SpectrumSvmSettings settings{
      .eta = 1e-3, .gamma = 1e-2, .centre = spectrum::Centre::kFlip, .probability = false};
  const auto all = fit_once(training_set(sample.S, sample.classes), settings);
  std::vector<Index> first_two;
  for (Index i = 0; i < 45; ++i) {
    if (i % 3 != 2) first_two.push_back(i);
  }
  const auto alone = fit_once(
      training_set(sample.S(first_two, first_two), test::picked(sample.classes, first_two)),
      settings);
  EXPECT_EQ(all.info.subproblems[0].info.objective, alone.info.objective());
  EXPECT_EQ(all.info.subproblems[0].objective_offset, alone.info.objective_offset());
  EXPECT_TRUE(decide(all.model, sample.rows)
                  .col(0)
                  .isApprox(decide(alone.model, sample.rows(Eigen::all, first_two)).col(0), 1e-9));
}

TEST(SpectrumSvm, DividesTheLossByTheSumOfWeights) {
  const Sample sample = make_sample(24, 10, 2, 26);
  TrainingSet weighted = training_set(sample.S, sample.classes);
  weighted.weights = Vector::Ones(24);
  weighted.weights(5) = 2;
  const SpectrumSvmSettings settings{
      .eta = 1e-2, .gamma = 1e3, .centre = spectrum::Centre::kClip, .probability = false};
  const double one = fit_once(weighted, settings).info.objective();
  SvmSettings plain{.cost = 1 / (2 * 1e-2 * 25), .probability = false, .tolerance = 1e-8};
  const double other = fit_once(weighted, plain).info.objective();
  EXPECT_NEAR(one, 2e-2 * other, 1e-9);
}

TEST(SpectrumSvm, ChoosesTheCentreOfTheBetterMachine) {
  // Classes that only the negative part of the spectrum tells apart: clip cannot learn them.
  Rng rng(27);
  const Index n = 40;
  Vector y(n);
  std::vector<int> classes;
  for (Index i = 0; i < n; ++i) {
    classes.push_back(static_cast<int>(i % 2));
    y(i) = i % 2 == 0 ? 1 : -1;
  }
  Vector common(n);
  for (Index i = 0; i < n; ++i) common(i) = 1 + 0.1 * rng.normal();
  const Matrix S = common * common.transpose() - y * y.transpose() + 0.01 * Matrix::Identity(n, n);
  const auto fitted = fit_once(training_set(S, classes), SpectrumSvmSettings{.probability = false});
  ASSERT_EQ(fitted.model.centres.size(), 1U);
  EXPECT_EQ(static_cast<spectrum::Centre>(fitted.model.centres[0]), spectrum::Centre::kFlip);
  // Where one group has a class, nothing of it can be held out, and nothing is chosen.
  TrainingSet grouped = training_set(S, classes);
  std::vector<std::string> names;
  for (Index i = 0; i < n; ++i) names.push_back(i % 2 == 0 ? "one" : std::to_string(i));
  grouped.labels.groups = make_groups(names);
  const auto both = fit_once(grouped, SpectrumSvmSettings{.probability = false});
  EXPECT_EQ(static_cast<spectrum::Centre>(both.model.centres[0]), spectrum::Centre::kBoth);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = std::to_string(i / 4);
  grouped.labels.groups = make_groups(names);
  const auto flipped = fit_once(grouped, SpectrumSvmSettings{.probability = false});
  EXPECT_EQ(static_cast<spectrum::Centre>(flipped.model.centres[0]), spectrum::Centre::kFlip);
}

TEST(SpectrumSvm, NearsClipWhenDrawnToTheSimilaritiesThemselves) {
  const Sample sample = make_sample(30, 10, 2, 28);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const double clip = fit_once(set, SpectrumSvmSettings{.gamma = 1e3,
                                                        .centre = spectrum::Centre::kClip,
                                                        .probability = false})
                          .info.objective();
  double last = 1e9;
  for (const double gamma : {0.01, 0.1, 1.0, 10.0}) {
    const auto fitted = fit_once(
        set, SpectrumSvmSettings{
                 .gamma = gamma, .centre = spectrum::Centre::kSimilarity, .probability = false});
    const double distance =
        std::abs(fitted.info.objective() - fitted.info.objective_offset() - clip);
    EXPECT_LT(distance, last);
    last = distance;
  }
  EXPECT_LT(last, 1e-2 * clip);
}

TEST(SpectrumSvm, IsProvedOnSimilaritiesOfAnySizeAtOrdinarySettings) {
  const Sample sample = make_sample(20, 1, 2, 29);
  for (const spectrum::Centre centre : {spectrum::Centre::kBoth, spectrum::Centre::kSimilarity}) {
    for (const double scale : {1e-12, 1e-6, 1e3, 1e4, 1e6, 1e12, 1e20, 1e30}) {
      for (const double gamma : {1e-3, 0.1, 100.0}) {
        const auto fitted =
            fit_once(training_set(scale * sample.S, sample.classes),
                     SpectrumSvmSettings{
                         .eta = 0.01, .gamma = gamma, .centre = centre, .probability = false});
        EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved) << scale << " " << gamma;
        EXPECT_LE(fitted.info.gap(), 1e-8) << scale << " " << gamma;
      }
    }
  }
}

TEST(SpectrumSvm, IsSolvedWhereItsGapIsWithinATolerance) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const Sample sample = make_sample(12, 1, 2, seed, test::Likeness::kIndefinite, 3);
    const TrainingSet set = training_set(sample.S, sample.classes);
    for (const spectrum::Centre centre : {spectrum::Centre::kBoth, spectrum::Centre::kSimilarity}) {
      for (const double eta : {1e-2, 1.0, 100.0}) {
        for (const double gamma : {1e-4, 1e-2, 1.0}) {
          for (const double tolerance : {1e-3, 1e-2, 0.1, 0.3}) {
            const auto fitted = fit_once(set, SpectrumSvmSettings{.eta = eta,
                                                                  .gamma = gamma,
                                                                  .centre = centre,
                                                                  .probability = false,
                                                                  .tolerance = tolerance});
            EXPECT_LE(fitted.info.gap(), tolerance);
            EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved) << eta << " " << gamma;
          }
        }
      }
    }
  }
}

TEST(SpectrumSvm, HasNoGapBelowZero) {
  const std::vector<int> classes = {0, 1, 0, 1, 0, 1, 0, 1};
  for (const Index n : {2, 4, 6, 8}) {
    const TrainingSet set =
        training_set(Matrix::Ones(n, n), std::span(classes).first(static_cast<std::size_t>(n)));
    for (const double eta : {1e-4, 1e-2, 1.0}) {
      for (const double gamma : {1e-3, 1.0, 1e3}) {
        for (const spectrum::Centre centre :
             {spectrum::Centre::kClip, spectrum::Centre::kFlip, spectrum::Centre::kBoth,
              spectrum::Centre::kSimilarity}) {
          const auto fitted = fit_once(
              set, SpectrumSvmSettings{
                       .eta = eta, .gamma = gamma, .centre = centre, .probability = false});
          EXPECT_GE(fitted.info.gap(), 0) << n << " " << eta << " " << gamma;
        }
      }
    }
  }
}

TEST(SpectrumSvm, DoesNotDependOnTheUnitOfTheSimilarities) {
  const Sample sample = make_sample(30, 12, 2, 27);
  for (const spectrum::Centre centre : {spectrum::Centre::kBoth, spectrum::Centre::kSimilarity}) {
    const auto scores = [&](double scale) -> Matrix {
      const bool weighted = centre == spectrum::Centre::kSimilarity;
      const SpectrumSvmSettings settings{.eta = 0.01 * scale,
                                         .gamma = weighted ? 1e-3 / scale : 1e-3,
                                         .centre = centre,
                                         .probability = false};
      const auto fitted = fit_once(training_set(scale * sample.S, sample.classes), settings);
      EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved) << scale;
      return decide(fitted.model, scale * sample.rows);
    };
    const Matrix expected = scores(1);
    for (const double scale : {1e-60, 1e-8, 1e5, 1e8, 1e60}) {
      EXPECT_LT((scores(scale) - expected).cwiseAbs().maxCoeff(), 1e-5) << scale;
    }
  }
}

}  // namespace
}  // namespace kith::spectrum_svm_test
