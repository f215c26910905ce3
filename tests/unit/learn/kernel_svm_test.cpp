// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/kernel_svm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "kith/core/error.hpp"
#include "kith/learn/svm/augmented.hpp"
#include "kith/learn/svm/kernel_learner.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/optim/dual/smo.hpp"
#include "support/files.hpp"
#include "support/fitting.hpp"
#include "unit/numerics/matrices.hpp"

namespace kith::kernel_svm_test {
namespace {

using test::decide;
using test::fit_once;
using test::make_sample;
using test::predict_once;
using test::query_block;
using test::Sample;
using test::training_set;

const std::vector<Spectrum> kConvex = {Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift,
                                       Spectrum::kSquare, Spectrum::kDiffusion};

/// The two-class machine over the kernel itself, without the method: a and b of [CGR] (1).
struct Reference {
  Matrix K;
  Vector c;  // y a
  double b = 0;
  [[nodiscard]] Vector training_decisions() const { return (K * c).array() + b; }
};

Vector signs_of(std::span<const int> classes) {
  Vector y(static_cast<Index>(classes.size()));
  for (Index i = 0; i < y.size(); ++i) y(i) = classes[static_cast<std::size_t>(i)] == 0 ? 1 : -1;
  return y;
}

Reference solve_directly(const Sample& sample, Spectrum spectrum, double cost,
                         double tolerance = 1e-6) {
  const RunContext ctx;
  const Matrix K = condition_kernel(spectrum, DenseBlock(RowMatrix(sample.S)), ctx).kernel;
  const Vector y = signs_of(sample.classes);
  const dual::SvmDual dual{dual::SymmetricView::dense(K), y, Vector::Constant(y.size(), cost), {}};
  const dual::SmoSolution solution =
      dual::smo(dual, {.tolerance = tolerance,
                       .gap_tolerance = tolerance,
                       .convexity = spectrum == Spectrum::kNone ? dual::Convexity::kRefuted
                                                                : dual::Convexity::kProved});
  return {K, y.cwiseProduct(solution.alpha), solution.b};
}

double largest(const Matrix& values) { return values.cwiseAbs().maxCoeff(); }

// --- new rows -----------------------------------------------------------------------------------

TEST(SvmLinearTreatment, GivesATrainingSampleItsTrainingDecisionValue) {
  const Sample sample = make_sample(60, 0, 2, 11);
  const TrainingSet set = training_set(sample.S, sample.classes);
  for (const Spectrum spectrum :
       {Spectrum::kClip, Spectrum::kFlip, Spectrum::kSquare, Spectrum::kNone}) {
    for (const double cost : {0.01, 10.0}) {
      const Fitted<SvmModel> fitted =
          fit_once<SvmSettings>(set, {.cost = cost, .spectrum = spectrum});
      const Vector expected = solve_directly(sample, spectrum, cost).training_decisions();
      const Vector got = decide(fitted.model, query_block(sample.S)).col(0);
      EXPECT_LE(largest(got - expected), 1e-9 * largest(expected))
          << enum_name(spectrum) << " cost " << cost;
      EXPECT_LE(fitted.info.consistency, 1e-9) << enum_name(spectrum);
    }
  }
}

TEST(SvmLinearTreatment, LeavesRowsAloneForShift) {
  const Sample sample = make_sample(40, 7, 2, 12);
  const Fitted<SvmModel> fitted =
      fit_once<SvmSettings>(training_set(sample.S, sample.classes), {.spectrum = Spectrum::kShift});
  const Reference direct = solve_directly(sample, Spectrum::kShift, 1);
  const Vector expected = (sample.rows * direct.c).array() + direct.b;
  EXPECT_LE(largest(decide(fitted.model, query_block(sample.rows)) - expected),
            1e-6 * largest(expected));
  // What is on the diagonal of the kernel is on no row: that much a training sample is away.
  EXPECT_GT(fitted.info.consistency, 1e-3);
}

/// The same eigenvectors with no eigenvalue that is small enough to be cut.
Matrix without_small_eigenvalues(const Matrix& S) {
  SymmetricEigen eigen = symmetric_eigen(S);
  const double floor = 1e-2 * eigen.lambda.cwiseAbs().maxCoeff();
  for (double& value : eigen.lambda) value = std::copysign(std::max(std::abs(value), floor), value);
  return reconstruct(eigen.U, eigen.lambda);
}

TEST(SvmMapTreatment, IsConsistentForShiftAndLinearForTheRest) {
  Sample sample = make_sample(40, 7, 2, 12);
  sample.S = without_small_eigenvalues(sample.S);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const Fitted<SvmModel> shifted =
      fit_once<SvmSettings>(set, {.spectrum = Spectrum::kShift, .test_treatment = Treatment::kMap});
  const Vector expected = solve_directly(sample, Spectrum::kShift, 1).training_decisions();
  EXPECT_LE(largest(decide(shifted.model, query_block(sample.S)).col(0) - expected),
            1e-6 * largest(expected));
  EXPECT_LE(shifted.info.consistency, 1e-6);
  const Fitted<SvmModel> mapped = fit_once<SvmSettings>(set, {.test_treatment = Treatment::kMap});
  const Fitted<SvmModel> linear = fit_once<SvmSettings>(set, {});
  EXPECT_EQ(decide(mapped.model, query_block(sample.rows)),
            decide(linear.model, query_block(sample.rows)));
}

TEST(SvmMapTreatment, NotesThatTheAnswerOfAShiftDependsOnWhatCountsAsZero) {
  Sample sample = make_sample(60, 0, 2, 11);
  SymmetricEigen eigen = symmetric_eigen(sample.S);
  eigen.lambda.setZero();  // but for the ends: nothing is near the threshold
  eigen.lambda.tail(6) << 2, 4, 6, 10, 20, 40;
  eigen.lambda(0) = -3;
  sample.S = reconstruct(eigen.U, eigen.lambda);
  const SvmSettings all{.spectrum = Spectrum::kShift, .test_treatment = Treatment::kMap};
  SvmSettings pair = all;
  pair.scope = SpectrumScope::kPair;
  const auto notes = [&](const SvmSettings& settings) {
    return fit_once<SvmSettings>(training_set(sample.S, sample.classes), settings).info.notes;
  };
  EXPECT_TRUE(notes(all).empty());
  EXPECT_TRUE(notes(pair).empty());
  for (Index i = 0; i < 60; ++i) {
    eigen.lambda(i) = (i == 1 ? -1 : 1) * std::pow(10.0, -0.15 * static_cast<double>(i));
  }
  sample.S = reconstruct(eigen.U, eigen.lambda);
  for (const SvmSettings& settings : {all, pair}) {
    ASSERT_EQ(notes(settings).size(), 1U);
    EXPECT_NE(notes(settings).front().find("count as zero"), std::string::npos);
  }
  EXPECT_TRUE(notes({.spectrum = Spectrum::kShift}).empty());
}

TEST(SvmNoTreatment, IsNotConsistentForClip) {
  const Sample sample = make_sample(60, 0, 2, 11);
  const Fitted<SvmModel> fitted = fit_once<SvmSettings>(training_set(sample.S, sample.classes),
                                                        {.test_treatment = Treatment::kNone});
  const Vector expected = solve_directly(sample, Spectrum::kClip, 1).training_decisions();
  const Vector got = decide(fitted.model, query_block(sample.S)).col(0);
  EXPECT_GT(largest(got - expected), 1e-3 * largest(expected));
  EXPECT_GT(fitted.info.consistency, 1e-3);
}

TEST(SvmAugmentedTreatment, IsNotConsistent) {
  const Sample sample = make_sample(60, 0, 2, 11);
  const TrainingSet set = training_set(sample.S, sample.classes);
  for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip}) {
    const Fitted<SvmModel> fitted =
        fit_once<SvmSettings>(set, {.spectrum = spectrum, .test_treatment = Treatment::kAugmented});
    const Vector expected = solve_directly(sample, spectrum, 1).training_decisions();
    const Vector got =
        decide(fitted.model, query_block(sample.S, Vector(sample.S.diagonal()))).col(0);
    EXPECT_GT(largest(got - expected), 1e-3 * largest(expected)) << enum_name(spectrum);
  }
}

TEST(SvmAugmentedTreatment, NeedsSelfSimilaritiesAndScopeAll) {
  const Sample sample = make_sample(20, 2, 2, 13);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const Fitted<SvmModel> fitted =
      fit_once<SvmSettings>(set, {.test_treatment = Treatment::kAugmented});
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] { (void)decide(fitted.model, query_block(sample.rows)); }),
              testing::HasSubstr("[[self]]"));
  EXPECT_THROW((void)fit_once<SvmSettings>(
                   set, {.test_treatment = Treatment::kAugmented, .scope = SpectrumScope::kPair}),
               Error);
}

/// The row of the new sample in h(A), A the training block bordered by it.
Vector bordered_row(const Matrix& S, const Vector& s, double psi, Spectrum spectrum, double beta) {
  const Index n = S.rows();
  Matrix A(n + 1, n + 1);
  A.topLeftCorner(n, n) = S;
  A.col(n).head(n) = s;
  A.row(n).head(n) = s.transpose();
  A(n, n) = psi;
  if (spectrum == Spectrum::kNone || spectrum == Spectrum::kShift) return s;
  if (spectrum == Spectrum::kSquare) return (A * A).row(n).head(n);
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(A);
  Vector h = eigen.eigenvalues();
  if (spectrum == Spectrum::kClip) h = h.cwiseMax(0);
  if (spectrum == Spectrum::kFlip) h = h.cwiseAbs();
  if (spectrum == Spectrum::kDiffusion) h = (beta * h).array().exp();
  return (eigen.eigenvectors() * h.asDiagonal() * eigen.eigenvectors().transpose()).row(n).head(n);
}

TEST(SvmAugmentedTreatment, EqualsTheDecompositionOfTheBorderedMatrix) {
  const Sample sample = make_sample(30, 9, 2, 14);
  const TrainingSet set = training_set(sample.S, sample.classes);
  for (std::size_t s = 0; s < kEnumNames<Spectrum>.size(); ++s) {
    const auto spectrum = static_cast<Spectrum>(s);
    const SvmSettings settings{
        .spectrum = spectrum, .test_treatment = Treatment::kAugmented, .beta = 0.3};
    const Fitted<SvmModel> fitted = fit_once(set, settings);
    // With nothing done to rows the coefficients are those over the kernel.
    SvmSettings plain = settings;
    plain.test_treatment = Treatment::kNone;
    const SvmModel over_kernel = fit_once(set, plain).model;
    Vector c = Vector::Zero(30);
    for (std::size_t j = 0; j < over_kernel.columns.size(); ++j) {
      c(over_kernel.columns[j]) = over_kernel.coefficients.column(0)(static_cast<Index>(j));
    }
    Vector expected(9);
    for (Index q = 0; q < 9; ++q) {
      const Vector k =
          bordered_row(sample.S, sample.rows.row(q).transpose(), sample.self(q), spectrum, 0.3);
      expected(q) = k.dot(c) + over_kernel.intercepts(0);
    }
    const Vector got = decide(fitted.model, query_block(sample.rows, sample.self)).col(0);
    EXPECT_LE(largest(got - expected), 1e-8 * largest(expected)) << enum_name(spectrum);
  }
}

// --- laws ---------------------------------------------------------------------------------------

/// Tight, so that what differs in the last digits of the solver stays far below the decisions.
SvmSettings tight(Spectrum spectrum, double cost = 1) {
  return {.cost = cost, .spectrum = spectrum, .tolerance = 1e-10};
}

TEST(SvmLaws, PermutedSamplesPredictTheSame) {
  const Sample sample = make_sample(45, 30, 3, 21);
  Rng rng(5);
  const std::vector<Index> order = rng.permutation(45);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const TrainingSet shuffled =
      training_set(sample.S(order, order), test::picked(sample.classes, order));
  for (const Spectrum spectrum : kConvex) {
    const SvmModel one = fit_once(set, tight(spectrum)).model;
    const SvmModel two = fit_once(shuffled, tight(spectrum)).model;
    const QueryBlock queries = query_block(sample.rows);
    const QueryBlock reordered = query_block(sample.rows(Eigen::all, order));
    const Matrix expected = decide(one, queries);
    EXPECT_LE(largest(decide(two, reordered) - expected), 1e-6 * largest(expected))
        << enum_name(spectrum);
    EXPECT_EQ(predict_once(one, queries).labels, predict_once(two, reordered).labels);
  }
}

TEST(SvmLaws, RenamedClassesPredictTheSame) {
  const Sample sample = make_sample(45, 30, 3, 22);
  const std::vector<int> renamed_to = {2, 0, 1};
  std::vector<int> renamed;
  for (const int c : sample.classes) renamed.push_back(renamed_to[static_cast<std::size_t>(c)]);
  for (const Spectrum spectrum : kConvex) {
    const QueryBlock queries = query_block(sample.rows);
    const SvmModel one = fit_once(training_set(sample.S, sample.classes), tight(spectrum)).model;
    const SvmModel two = fit_once(training_set(sample.S, renamed), tight(spectrum)).model;
    std::vector<int> expected = predict_once(one, queries).labels;
    for (int& c : expected) c = renamed_to[static_cast<std::size_t>(c)];
    EXPECT_EQ(predict_once(two, queries).labels, expected) << enum_name(spectrum);
  }
}

TEST(SvmLaws, ScaledSimilaritiesWithTheInverseCostPredictTheSame) {
  const Sample sample = make_sample(40, 20, 2, 23);
  for (const double t : {1e-4, 1e3, 1e100}) {
    for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift}) {
      const SvmModel one = fit_once(training_set(sample.S, sample.classes), tight(spectrum)).model;
      const SvmModel two =
          fit_once(training_set(t * sample.S, sample.classes), tight(spectrum, 1 / t)).model;
      const Matrix expected = decide(one, query_block(sample.rows));
      EXPECT_LE(largest(decide(two, query_block(t * sample.rows)) - expected),
                1e-6 * largest(expected))
          << enum_name(spectrum) << " t " << t;
    }
  }
}

TEST(SvmLaws, ClipAndFlipLeaveAPositiveDefiniteMatrixAsItIs) {
  const Sample sample = make_sample(45, 30, 3, 24, test::Likeness::kGaussian);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const QueryBlock queries = query_block(sample.rows);
  const SvmModel none = fit_once(set, tight(Spectrum::kNone)).model;
  const Matrix expected = decide(none, queries);
  for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip}) {
    const SvmModel model = fit_once(set, tight(spectrum)).model;
    EXPECT_LE(largest(decide(model, queries) - expected), 1e-6 * largest(expected));
    EXPECT_EQ(predict_once(model, queries).labels, predict_once(none, queries).labels);
  }
}

TEST(SvmLaws, SquareOfAnAsymmetricMatrixIsALinearMachineOnItsRows) {
  Sample sample = make_sample(40, 20, 2, 25);
  Rng rng(1);
  sample.S += 0.3 * test::random_matrix(40, 40, rng);
  const SvmModel square =
      fit_once(training_set(sample.S, sample.classes), tight(Spectrum::kSquare)).model;
  const Matrix gram = sample.S * sample.S.transpose();
  const SvmModel explicit_features =
      fit_once(training_set(0.5 * (gram + gram.transpose()), sample.classes),
               tight(Spectrum::kNone))
          .model;
  const Matrix expected =
      decide(explicit_features, query_block(sample.rows * sample.S.transpose()));
  EXPECT_LE(largest(decide(square, query_block(sample.rows)) - expected), 1e-6 * largest(expected));
}

TEST(SvmLaws, ScopePairTrainsEachPairAlone) {
  const Sample sample = make_sample(45, 15, 3, 26);
  const TrainingSet set = training_set(sample.S, sample.classes);
  for (const Spectrum spectrum : kConvex) {
    SvmSettings settings{.spectrum = spectrum, .scope = SpectrumScope::kPair};
    const Fitted<SvmModel> fitted = fit_once(set, settings);
    const Matrix decisions = decide(fitted.model, query_block(sample.rows));
    settings.scope = SpectrumScope::kAll;
    const std::vector<BinaryTask> pairs = binary_tasks(set.labels);
    ASSERT_EQ(decisions.cols(), 3);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const std::vector<Index>& at = pairs[p].samples;
      const SvmModel alone =
          fit_once(training_set(sample.S(at, at), test::picked(sample.classes, at)), settings)
              .model;
      const Vector expected = decide(alone, query_block(sample.rows(Eigen::all, at)));
      EXPECT_LE(largest(decisions.col(static_cast<Index>(p)) - expected), 1e-9 * largest(expected))
          << enum_name(spectrum) << " pair " << p;
    }
  }
}

TEST(SvmLaws, AWeightOfTwoIsASampleGivenTwice) {
  const Sample sample = make_sample(30, 20, 2, 27, test::Likeness::kGaussian, 2);
  std::vector<Index> twice(30);
  std::iota(twice.begin(), twice.end(), Index{0});
  TrainingSet weighted = training_set(sample.S, sample.classes);
  weighted.weights = Vector::Ones(30);
  for (const Index i : {3, 8, 14}) {
    weighted.weights(i) = 2;
    twice.push_back(i);
  }
  const SvmSettings settings{.cost = 0.05, .probability = false, .tolerance = 1e-10};
  const SvmModel one = fit_once(weighted, settings).model;
  const SvmModel two =
      fit_once(training_set(sample.S(twice, twice), test::picked(sample.classes, twice)), settings)
          .model;
  const Matrix expected = decide(one, query_block(sample.rows));
  EXPECT_LE(largest(decide(two, query_block(sample.rows(Eigen::all, twice))) - expected),
            1e-6 * largest(expected));
  const SvmModel plain = fit_once(training_set(sample.S, sample.classes), settings).model;
  EXPECT_GT(largest(decide(plain, query_block(sample.rows)) - expected), 1e-3);
}

// --- paths --------------------------------------------------------------------------------------

std::vector<SvmSettings> cost_grid(SvmSettings settings) {
  std::vector<SvmSettings> path;
  for (int e = -3; e <= 5; ++e) {
    settings.cost = std::pow(10.0, e);
    path.push_back(settings);
  }
  return path;
}

TEST(SvmPath, AgreesWithSingleFits) {
  const Sample sample = make_sample(60, 40, 3, 31, test::Likeness::kIndefinite, 3);
  const TrainingSet set = training_set(sample.S, sample.classes);
  RunContext ctx;
  for (const Spectrum spectrum : kConvex) {
    std::vector<SvmSettings> path = cost_grid({.spectrum = spectrum});
    std::swap(path[0], path[7]);  // any order of costs
    SharedWork work(set);
    const std::vector<Fitted<SvmModel>> along = fit_path(work, path, ctx);
    ASSERT_EQ(along.size(), path.size());
    for (std::size_t i = 0; i < path.size(); ++i) {
      const Fitted<SvmModel> alone = fit_once(set, path[i]);
      EXPECT_EQ(along[i].info.status(), SolveStatus::kSolved)
          << enum_name(spectrum) << path[i].cost;
      EXPECT_LE(along[i].info.gap(), 1e-6);
      EXPECT_LE(along[i].info.kkt_residual(), 1e-6);
      EXPECT_EQ(predict_once(along[i].model, query_block(sample.rows)).labels,
                predict_once(alone.model, query_block(sample.rows)).labels)
          << enum_name(spectrum) << " cost " << path[i].cost;
    }
  }
}

TEST(SvmPath, UsesOneSolutionForEveryCostAboveItsLargestCoefficient) {
  const Sample sample = make_sample(40, 0, 2, 32);
  const TrainingSet set = training_set(sample.S, sample.classes);
  RunContext ctx;
  SharedWork work(set);
  const std::vector<Fitted<SvmModel>> fitted = fit_path(work, cost_grid({}), ctx);
  const auto info_of = [&](std::size_t i) { return fitted[i].info.subproblems.front().info; };
  const auto largest_alpha = [&](double cost) {
    return largest(solve_directly(sample, Spectrum::kClip, cost).c);
  };
  ASSERT_LT(largest_alpha(1e3), 0.9e3);
  for (const std::size_t i : {7U, 8U}) {  // costs 1e4 and 1e5
    EXPECT_EQ(info_of(i).objective, info_of(6).objective);
    EXPECT_EQ(info_of(i).iterations, info_of(6).iterations);
    EXPECT_EQ(info_of(i).gap, info_of(6).gap);
    EXPECT_EQ(fitted[i].model.coefficients, fitted[6].model.coefficients);
  }
}

TEST(SvmPath, DoesNotPassALooseSolutionForATightOne) {
  const Sample sample = make_sample(40, 0, 2, 32);
  const TrainingSet set = training_set(sample.S, sample.classes);
  RunContext ctx;
  SharedWork work(set);
  const std::vector<SvmSettings> path = {{.cost = 1e4, .tolerance = 0.1},
                                         {.cost = 1e5, .tolerance = 1e-9}};
  const std::vector<Fitted<SvmModel>> fitted = fit_path(work, path, ctx);
  EXPECT_LE(fitted[1].info.gap(), 1e-9);
  EXPECT_LE(fitted[1].info.kkt_residual(), 1e-9);
}

// --- probabilities ------------------------------------------------------------------------------

TEST(SvmProbabilities, SumToOneAndAreLargestForTheLabel) {
  for (const int classes : {2, 4}) {
    const Sample sample = make_sample(60, 80, classes, 41, test::Likeness::kIndefinite, 3);
    const TrainingSet set = training_set(sample.S, sample.classes);
    const Prediction with =
        predict_once(fit_once<SvmSettings>(set, {}).model, query_block(sample.rows));
    const Prediction without = predict_once(
        fit_once<SvmSettings>(set, {.probability = false}).model, query_block(sample.rows));
    EXPECT_EQ(with.labels, without.labels);
    EXPECT_EQ(with.scores, without.scores);
    EXPECT_EQ(without.probabilities.size(), 0);
    ASSERT_EQ(with.probabilities.cols(), classes);
    for (Index i = 0; i < 80; ++i) {
      const int label = with.labels[static_cast<std::size_t>(i)];
      EXPECT_NEAR(with.probabilities.row(i).sum(), 1, 1e-12);
      EXPECT_GE(with.probabilities.row(i).minCoeff(), 0);
      EXPECT_EQ(with.probabilities.row(i).maxCoeff(), with.probabilities(i, label));
      EXPECT_EQ(with.scores.row(i).maxCoeff(), with.scores(i, label));
    }
  }
}

TEST(SvmProbabilities, AreOfMachinesThatSolveTheProblemWithoutTheSamplesHeldOut) {
  for (const Index n : {60, 2100}) {
    const Sample sample = make_sample(n, 0, 2, 42, test::Likeness::kGaussian);
    const TrainingSet set = training_set(sample.S, sample.classes);
    const RunContext ctx;
    const std::vector<MachineSettings> path = {{.cost = 0.5}};
    const KernelLearner learner{
        .K = SymmetricMatrix(sample.S), .train = &set, .ascending = path, .ctx = &ctx};
    KernelLearner::Block whole = learner.block(binary_tasks(set.labels).front(), 0);
    const LinearMachine machine = learner.solve(whole, {});
    std::vector<Index> trained;
    std::vector<Index> held;
    for (Index i = 0; i < n; ++i) (i % 5 == 0 ? held : trained).push_back(i);
    KernelLearner::Block part = learner.part(whole, trained);
    const LinearMachine other = learner.solve(part, {.whole = &machine, .samples = trained});
    ASSERT_EQ(other.c.size(), std::ssize(trained));
    const Matrix K = sample.S(trained, trained);
    const Vector y = whole.y(trained);
    const dual::SvmDual problem{
        dual::SymmetricView::dense(K), y, Vector::Constant(y.size(), 0.5), {}};
    const dual::SvmCertificate proof = dual::certify(problem, y.cwiseProduct(other.c), other.b);
    EXPECT_LE(proof.kkt_residual, 1.01 * kCalibrationTolerance);
    EXPECT_LE(proof.feasibility, 1e-12);
    const Vector expected = (sample.S(held, trained) * other.c).array() + other.b;
    EXPECT_LE(largest(learner.decisions(whole, other, held, trained) - expected), 1e-10);
  }
}

// --- hard cases ---------------------------------------------------------------------------------

/// Solved means solved, from the data alone; anything else has to say so.
void expect_honest(const Sample& sample, const SvmSettings& settings, const std::string& what) {
  SvmSettings over_kernel = settings;
  over_kernel.test_treatment = Treatment::kNone;  // coefficients stay those of the kernel
  const Fitted<SvmModel> fitted = fit_once(training_set(sample.S, sample.classes), over_kernel);
  const SolveInfo& info = fitted.info.subproblems.front().info;
  if (!met_tolerance(info.status)) {
    EXPECT_FALSE(info.gap <= settings.tolerance && info.kkt_residual <= settings.tolerance) << what;
    return;
  }
  const RunContext ctx;
  const Matrix K =
      condition_kernel(settings.spectrum, DenseBlock(RowMatrix(sample.S)), ctx, fitted.model.beta)
          .kernel;
  const Vector y = signs_of(sample.classes);
  Vector c = Vector::Zero(y.size());
  c(fitted.model.columns) = fitted.model.coefficients.column(0);
  const dual::SvmDual dual{
      dual::SymmetricView::dense(K), y, Vector::Constant(y.size(), settings.cost), {}};
  const dual::SvmCertificate certificate =
      dual::certify(dual, y.cwiseProduct(c), fitted.model.intercepts(0));
  EXPECT_LE(certificate.kkt_residual, 1.01 * settings.tolerance) << what;
  EXPECT_LE(certificate.feasibility, 1e-12) << what;
  if (info.status == SolveStatus::kSolved) {
    EXPECT_LE(certificate.gap, 1.01 * settings.tolerance) << what;
  }
}

TEST(SvmHardCases, AlwaysEndWithACertificateOrAStatusThatSaysOtherwise) {
  Sample sample;
  for (int i = 0; i < 24; ++i) sample.classes.push_back(i % 3 == 0 ? 0 : 1);
  for (const test::NamedMatrix& named : test::troubled_matrices(24, 3)) {
    sample.S = named.S;
    for (std::size_t s = 0; s < kEnumNames<Spectrum>.size(); ++s) {
      for (const double cost : {1e-3, 1.0, 1e5}) {
        const auto spectrum = static_cast<Spectrum>(s);
        expect_honest(
            sample, {.cost = cost, .spectrum = spectrum, .probability = false},
            named.name + " " + std::string(enum_name(spectrum)) + " " + std::to_string(cost));
      }
    }
  }
}

TEST(SvmHardCases, FitsTwoSamples) {
  Matrix S(2, 2);
  S << 1, -2, -2, 1;
  const TrainingSet set = training_set(S, std::vector<int>{0, 1});
  for (std::size_t s = 0; s < kEnumNames<Spectrum>.size(); ++s) {
    const SvmModel model = fit_once<SvmSettings>(set, {.spectrum = static_cast<Spectrum>(s)}).model;
    const Prediction prediction = predict_once(model, query_block(S));
    EXPECT_EQ(prediction.labels, (std::vector<int>{0, 1})) << kEnumNames<Spectrum>[s];
    EXPECT_TRUE(prediction.probabilities.allFinite());
  }
}

TEST(SvmHardCases, FitAClassWithOneMember) {
  Sample sample = make_sample(25, 10, 3, 51);
  for (int& c : sample.classes) c = c == 2 ? 1 : c;
  sample.classes.back() = 2;
  for (const SpectrumScope scope : {SpectrumScope::kAll, SpectrumScope::kPair}) {
    const Fitted<SvmModel> fitted =
        fit_once<SvmSettings>(training_set(sample.S, sample.classes), {.scope = scope});
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved);
    const Prediction prediction = predict_once(fitted.model, query_block(sample.rows));
    EXPECT_TRUE(prediction.probabilities.allFinite());
  }
}

TEST(SvmHardCases, ConstantSimilaritiesSayTheLargerClass) {
  const std::vector<int> classes = {0, 1, 1, 0, 1, 1, 1};
  for (const double value : {0.0, 1.0}) {
    const TrainingSet set = training_set(Matrix::Constant(7, 7, value), classes);
    const Prediction prediction = predict_once(fit_once<SvmSettings>(set, {}).model,
                                               query_block(Matrix::Constant(2, 7, value)));
    EXPECT_EQ(prediction.labels, (std::vector<int>{1, 1})) << value;
    EXPECT_TRUE(prediction.probabilities.allFinite());
  }
}

TEST(SvmHardCases, RefuseRowsOfAnotherWidth) {
  const Sample sample = make_sample(20, 2, 2, 52);
  const SvmModel model = fit_once<SvmSettings>(training_set(sample.S, sample.classes), {}).model;
  RunContext ctx;
  EXPECT_THROW((void)decision_values(model, query_block(Matrix::Zero(2, 21)), ctx), Error);
}

TEST(SvmNone, ProvesThatTheMatrixIsAKernelWhereItIsAsked) {
  Sample sample = make_sample(50, 0, 2, 31);
  const auto fitted = [&](const Matrix& S, bool prove) {
    sample.S = S;
    return fit_once<SvmSettings>(
        training_set(sample.S, sample.classes),
        {.spectrum = Spectrum::kNone, .prove = prove, .probability = false});
  };
  const auto solved = [](const Fitted<SvmModel>& one) { return one.info.subproblems.front().info; };
  const Matrix kernel = sample.S * sample.S.transpose();
  const Fitted<SvmModel> proved = fitted(kernel, true);
  EXPECT_EQ(solved(proved).status, SolveStatus::kSolved);
  EXPECT_LE(solved(proved).gap, 1e-6);
  const Fitted<SvmModel> unchecked = fitted(kernel, false);
  EXPECT_EQ(solved(unchecked).status, SolveStatus::kUnchecked);
  EXPECT_LE(solved(unchecked).kkt_residual, 1e-6);
  EXPECT_TRUE(ended_as_asked(solved(unchecked).status));
  const QueryBlock queries = query_block(kernel);
  EXPECT_EQ(predict_once(unchecked.model, queries).labels,
            predict_once(proved.model, queries).labels);
  const Matrix indefinite = kernel - 0.5 * kernel.trace() * Matrix::Identity(50, 50);
  for (const bool prove : {false, true}) {
    EXPECT_EQ(solved(fitted(indefinite, prove)).status, SolveStatus::kStationary);
    EXPECT_TRUE(std::isnan(solved(fitted(indefinite, prove)).gap));
  }
}

TEST(SvmNone, PathsOfAnIndefiniteMatrixDoNotDependOnTheirOtherCosts) {
  const Sample sample = make_sample(60, 0, 2, 33);
  const TrainingSet set = training_set(sample.S, sample.classes);
  SharedWork work(set);
  RunContext ctx;
  std::vector<SvmSettings> path;
  for (const double cost : {0.01, 1.0, 100.0}) {
    path.push_back({.cost = cost, .spectrum = Spectrum::kNone, .probability = false});
  }
  const auto together = fit_path(work, Path<SvmSettings>(path), ctx);
  for (std::size_t i = 0; i < path.size(); ++i) {
    EXPECT_EQ(together[i].model.coefficients, fit_once(set, path[i]).model.coefficients) << i;
  }
}

TEST(SvmInput, MayBeZero) {
  Sample sample = make_sample(20, 0, 2, 32);
  sample.S.setZero();
  EXPECT_NO_THROW((void)fit_once<SvmSettings>(training_set(sample.S, sample.classes),
                                              {.spectrum = Spectrum::kClip}));
}

}  // namespace
}  // namespace kith::kernel_svm_test
