// SPDX-License-Identifier: Apache-2.0
// The promises of learn/learner.hpp, for every method of the registry with each choice of each of
// its settings; those that learn from several matrices on one and on three.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "kith/core/error.hpp"
#include "kith/learn/registry.hpp"
#include "kith/optim/trace/kernel.hpp"
#include "kith/pipeline/trained_model.hpp"
#include "support/files.hpp"
#include "support/fitting.hpp"

namespace kith {
namespace {

using test::fit_once;
using test::make_sample;
using test::predict_once;
using test::query_block;
using test::Sample;
using test::training_set;

/// A method with its defaults, or with one of its settings changed.
struct Variant {
  std::string method;
  std::string key;
  std::string value;
  int matrices = 1;
  bool vectors = false;  ///< learns from vectors: the rows of the matrix are those
};

void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.method << ' ' << variant.key << ' ' << variant.value << ' ' << variant.matrices;
}

std::vector<Variant> every_variant() {
  std::vector<Variant> all;
  for (const MethodInfo& method : all_methods()) {
    std::vector<Variant> own = {{method.name, "", ""}};
    for (const FieldInfo& field : method.fields) {
      for (const std::string& choice : field.choices) {
        if (choice != field.default_value) own.push_back({method.name, field.name, choice});
      }
      if (field.type == "yes/no") {
        own.push_back({method.name, field.name, field.default_value == "yes" ? "no" : "yes"});
      }
    }
    for (Variant& variant : own) {
      variant.vectors = method.learns_from_vectors;
      all.push_back(variant);
      if (!method.several_matrices) continue;
      variant.matrices = 3;
      all.push_back(variant);
    }
  }
  return all;
}

/// Those whose turn it is: KITH_CONTRACT_PART=k takes every fourth from the k-th on. The tests of
/// one variant stay in one process, where they share its fits.
std::vector<Variant> chosen_variants() {
  std::vector<Variant> all = every_variant();
  const char* part = std::getenv("KITH_CONTRACT_PART");
  if (part == nullptr) return all;
  std::vector<Variant> some;
  for (std::size_t i = std::stoul(part); i < all.size(); i += 4) some.push_back(all[i]);
  return some;
}

std::string name_of(const Variant& variant) {
  std::string name;
  for (const std::string& part : {variant.method, variant.key, variant.value}) {
    bool upper = true;
    for (const char c : part) {
      const auto u = static_cast<unsigned char>(c);
      if (std::isalnum(u) != 0) name += upper ? static_cast<char>(std::toupper(u)) : c;
      upper = std::isalnum(u) == 0;
    }
  }
  if (variant.matrices > 1) name += "OnSeveralMatrices";
  return name;
}

std::string test_name(const testing::TestParamInfo<Variant>& info) { return name_of(info.param); }

/// The same pairs seen by another measure: entrywise functions that keep a positive semidefinite
/// matrix positive semidefinite.
Matrix seen_by(int measure, const Matrix& S) {
  if (measure == 0) return S;
  return measure == 1 ? Matrix(0.5 * S.cwiseAbs2()) : Matrix(2 * S + 0.1 * S.cwiseAbs2());
}

/// Mirror descent, for comparison with [KTBB]: thousands of steps to 5 %, and with the update that
/// is printed there it never arrives. Its promises are tried after a few steps.
bool stops_early(const Variant& variant) {
  return variant.value == "mirror-descent" || variant.key == "update";
}
/// Losses and projections whose solvers run another one many times over.
bool is_slow(const Variant& variant) {
  return stops_early(variant) || variant.value == "l1" || variant.value == "l2" ||
         variant.value == "own" || variant.value == "exact";
}

MethodChoice choice_of(const Variant& variant) {
  MethodChoice choice = parse_method(variant.method);
  if (!variant.key.empty()) set(choice, variant.key, variant.value);
  if (stops_early(variant)) set(choice, "iterations", "20");
  if (variant.value == "own") {
    set_own_loss(choice.settings,
                 std::make_shared<const trace::ConvexLoss>(trace::ConvexLoss{
                     [](const Matrix& X) { return ((1 + X.array().square()).sqrt() - 1).sum(); },
                     [](const Matrix& X) -> Matrix {
                       return X.array() / (1 + X.array().square()).sqrt();
                     }}));
  }
  if (variant.value == "l1") set(choice, "tolerance", "0.01");
  if (is_slow(variant)) set(choice, "probability", "no");
  // The rows of these matrices have as many features as there are of them: LMNN's optimum is then
  // at infinity, or nearly so.
  if (variant.method == "lmnn-knn" && variant.value == "convex") set(choice, "tolerance", "0.1");
  // The exact projection of [ZGZZ] (9) is a program of its own in every trial of a step.
  if (variant.value == "exact") set(choice, "tolerance", "0.01");
  // Each trial of a step has a smallest ball of its own, over rows of many kernel values.
  if (variant.method == "nonlinear-msvm" && variant.value == "ball") {
    set(choice, "tolerance", "0.01");
  }
  return choice;
}

void expect_met(const Variant& variant, SolveStatus status) {
  if (stops_early(variant)) return;
  EXPECT_TRUE(ended_as_asked(status)) << enum_name(status);
}

void expect_same(const Prediction& one, const Prediction& two) {
  EXPECT_EQ(one.labels, two.labels);
  EXPECT_EQ(one.scores, two.scores);
  EXPECT_EQ(one.probabilities, two.probabilities);
}

/// Up to rounding: a sum over more columns has another order.
void expect_alike(const Prediction& one, const Prediction& two) {
  EXPECT_EQ(one.labels, two.labels);
  EXPECT_TRUE(one.scores.isApprox(two.scores, 1e-9));
  EXPECT_TRUE(one.probabilities.isApprox(two.probabilities, 1e-6));
}

void expect_well_formed(const Prediction& prediction, Index queries, int classes) {
  ASSERT_EQ(prediction.labels.size(), static_cast<std::size_t>(queries));
  for (const Matrix* values : {&prediction.scores, &prediction.probabilities}) {
    if (values->size() == 0) continue;
    ASSERT_EQ(values->rows(), queries);
    ASSERT_EQ(values->cols(), classes);
    EXPECT_TRUE(values->allFinite());
  }
  for (Index i = 0; i < queries; ++i) {
    const int label = prediction.labels[static_cast<std::size_t>(i)];
    ASSERT_GE(label, 0);
    ASSERT_LT(label, classes);
    if (prediction.scores.size() > 0) {
      EXPECT_EQ(prediction.scores.row(i).maxCoeff(), prediction.scores(i, label));
    }
    if (prediction.probabilities.size() == 0) continue;
    EXPECT_EQ(prediction.probabilities.row(i).maxCoeff(), prediction.probabilities(i, label));
    EXPECT_NEAR(prediction.probabilities.row(i).sum(), 1, 1e-9);
    EXPECT_GE(prediction.probabilities.row(i).minCoeff(), 0);
  }
}

class Method : public testing::TestWithParam<Variant> {
 protected:
  MethodChoice choice_ = choice_of(GetParam());
  /// Three well separated classes under a positive definite similarity: every method has one
  /// answer.
  Sample easy_ = make_sample(45, 24, 3, 71, test::Likeness::kGaussian, 0.5);
  Sample indefinite_ = make_sample(45, 24, 3, 72);

  [[nodiscard]] static TrainingSet set_of(const Matrix& S, std::span<const int> classes) {
    TrainingSet set = training_set(S, classes);
    if (GetParam().vectors) {
      set.matrices.clear();
      set.vectors = DenseBlock(RowMatrix(S));
    }
    for (int k = 1; k < GetParam().matrices; ++k) {
      set.matrices.push_back({"S" + std::to_string(k), DenseBlock(RowMatrix(seen_by(k, S)))});
    }
    return set;
  }
  [[nodiscard]] static QueryBlock queries_of(const Matrix& rows, const Vector& self) {
    QueryBlock block;
    if (GetParam().vectors) {
      block.vectors = DenseBlock(RowMatrix(rows));
      return block;
    }
    for (int k = 0; k < GetParam().matrices; ++k) {
      block.matrices.push_back(
          query_block(seen_by(k, rows), Vector(seen_by(k, self))).matrices.front());
    }
    return block;
  }
  [[nodiscard]] static QueryBlock queries_of(const Sample& sample) {
    return queries_of(sample.rows, sample.self);
  }

  [[nodiscard]] const Fitted<AnyModel>& fitted_to_easy() { return fitted_to("easy", easy_); }
  [[nodiscard]] const Fitted<AnyModel>& fitted_to_indefinite() {
    return fitted_to("indefinite", indefinite_);
  }

 private:
  /// Made once for all the tests of a variant in this process.
  const Fitted<AnyModel>& fitted_to(const std::string& name, const Sample& sample) {
    static std::map<std::pair<std::string, std::string>, Fitted<AnyModel>> made;
    const auto key = std::pair(name_of(GetParam()), name);
    auto found = made.find(key);
    if (found == made.end()) {
      found = made.emplace(key, fit_once(set_of(sample.S, sample.classes), choice_.settings)).first;
    }
    return found->second;
  }
};

TEST_P(Method, PredictsEveryQuery) {
  const auto expect_every_query = [](const Fitted<AnyModel>& fitted, const Sample& sample) {
    expect_well_formed(predict_once(fitted.model, queries_of(sample)), 24, 3);
    expect_met(GetParam(), fitted.info.status());
  };
  expect_every_query(fitted_to_easy(), easy_);
  expect_every_query(fitted_to_indefinite(), indefinite_);
}

TEST_P(Method, LearnsClassesThatAreFarApart) {
  const Fitted<AnyModel>& fitted = fitted_to_easy();
  const std::vector<int> labels = predict_once(fitted.model, queries_of(easy_)).labels;
  int wrong = 0;
  for (std::size_t q = 0; q < labels.size(); ++q) wrong += labels[q] != static_cast<int>(q % 3);
  EXPECT_LE(wrong, 2) << "of 24";
}

TEST_P(Method, PredictsNothingForNoQueries) {
  const Fitted<AnyModel>& fitted = fitted_to_easy();
  const Prediction prediction = predict_once(fitted.model, queries_of(Matrix(0, 45), Vector(0)));
  EXPECT_TRUE(prediction.labels.empty());
}

TEST_P(Method, SaysTheSameOfAQueryAloneAndAmongOthers) {
  const Fitted<AnyModel>& fitted = fitted_to_indefinite();
  const Prediction all = predict_once(fitted.model, queries_of(indefinite_));
  const Prediction alone = predict_once(
      fitted.model, queries_of(indefinite_.rows.row(5), Vector(indefinite_.self.segment(5, 1))));
  EXPECT_EQ(alone.labels[0], all.labels[5]);
  if (all.scores.size() > 0) {
    EXPECT_TRUE(alone.scores.row(0).isApprox(all.scores.row(5), 1e-9));
  }
}

TEST_P(Method, TakesBothDirectionsOrOneAsItSays) {
  const Fitted<AnyModel>& fitted = fitted_to_easy();
  const QueryBlock to = queries_of(easy_);
  const QueryBlock from =
      queries_of(0.9 * easy_.rows + 0.1 * easy_.rows.colwise().reverse(), easy_.self);
  QueryBlock both = to;
  QueryBlock expected = to;
  for (std::size_t k = 0; k < to.matrices.size(); ++k) {
    both.matrices[k].from_training = from.matrices[k].to_training;
    if (!takes_both_directions(choice_.settings)) continue;
    expected.matrices[k].to_training =
        DenseBlock(RowMatrix(0.5 * (to_dense(to.matrices[k].to_training).values() +
                                    to_dense(from.matrices[k].to_training).values())));
  }
  expect_alike(predict_once(fitted.model, both), predict_once(fitted.model, expected));
}

TEST_P(Method, PredictsTheSameBytesAfterSavingAndLoading) {
  std::vector<SimilaritySet> given;
  for (int k = 0; k < GetParam().matrices; ++k) {
    given.emplace_back().name = "S" + std::to_string(k);
    given.back().block = DenseBlock(RowMatrix(seen_by(k, indefinite_.S)));
  }
  RunContext ctx;
  const Labels labels = test::numbered_labels(indefinite_.classes);
  const PreparedTraining prepared =
      GetParam().vectors
          ? prepare_training(
                VectorData{.source = "", .ids = {}, .values = DenseBlock(RowMatrix(indefinite_.S))},
                labels)
          : prepare_training(match(given), labels, {}, ctx);
  const Training training = train(prepared, choice_, ctx);
  const TempFolder folder;
  save(training.model, folder.path("m.kith"));
  const TrainedModel loaded = load_trained(folder.path("m.kith"));
  expect_same(predict(training.model, queries_of(indefinite_), ctx),
              predict(loaded, queries_of(indefinite_), ctx));
  save(loaded, folder.path("again.kith"));
  EXPECT_EQ(content_of(folder.path("m.kith")), content_of(folder.path("again.kith")));
  EXPECT_EQ(settings_json(settings_of(loaded.record.method, loaded.record.settings)),
            settings_json(choice_.settings));
  const std::string bytes = trained_bytes(training.model);
  EXPECT_EQ(bytes, content_of(folder.path("m.kith")));
  EXPECT_EQ(trained_bytes(load_trained_bytes(bytes, "memory")), bytes);
}

/// Terms add up to the decision values in favour of the label: its score, or what one-vs-one adds
/// to its votes. Votes for the label add up to its score.
void expect_adds_up(const Explanation& explanation, double score, std::span<const int> classes,
                    int label) {
  double sum = explanation.offset;
  std::set<Index> samples;
  for (const Contribution& one : explanation.samples) {
    ASSERT_GE(one.sample, 0);
    ASSERT_LT(one.sample, std::ssize(classes));
    EXPECT_TRUE(samples.insert(one.sample).second) << "twice: " << one.sample;
    const bool counts = explanation.by == ExplainedBy::kTerms ||
                        classes[static_cast<std::size_t>(one.sample)] == label;
    if (counts) sum += one.amount;
  }
  const double with_votes = std::round(score) + sum / (3 * (std::abs(sum) + 1));
  const bool of_pairs =
      explanation.by == ExplainedBy::kTerms && std::abs(with_votes - score) < 1e-9;
  EXPECT_TRUE(of_pairs || std::abs(sum - score) < 1e-9 * (1 + std::abs(score)))
      << sum << " for " << score;
}

TEST_P(Method, ExplainsScoresByTrainingSamplesOrRefuses) {
  const Fitted<AnyModel>& fitted = fitted_to_indefinite();
  const QueryBlock queries = over_needed(fitted.model, queries_of(indefinite_));
  RunContext ctx;
  const Prediction prediction = predict(fitted.model, queries, ctx);
  std::vector<Explanation> explanations;
  try {
    explanations = explain(fitted.model, queries, prediction.labels, ctx);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), testing::AnyOf(testing::HasSubstr("can be explained"),
                                             testing::HasSubstr("these methods can: knn")));
    if (method_info(choice_.settings).explains) {
      EXPECT_THAT(GetParam().value, testing::AnyOf("augmented", "rbf"));
    } else {
      EXPECT_THROW(check_explains(choice_.settings), Error);
    }
    return;
  }
  EXPECT_NO_THROW(check_explains(choice_.settings));
  ASSERT_EQ(explanations.size(), 24U);
  for (std::size_t q = 0; q < explanations.size(); ++q) {
    const int label = prediction.labels[q];
    expect_adds_up(explanations[q], prediction.scores(static_cast<Index>(q), label),
                   indefinite_.classes, label);
    double part = explanations[q].others(2);
    for (const Contribution& one : explanations[q].largest(2)) part += one.amount;
    double whole = 0;
    for (const Contribution& one : explanations[q].samples) whole += one.amount;
    EXPECT_NEAR(part, whole, 1e-9 * (1 + std::abs(whole)));
  }
}

TEST_P(Method, NeedsNoColumnButThoseItNames) {
  const Fitted<AnyModel>& fitted = fitted_to_indefinite();
  const std::vector<Index> needed = needed_columns(fitted.model, 45);
  EXPECT_TRUE(std::is_sorted(needed.begin(), needed.end()));
  if (GetParam().vectors) {
    EXPECT_TRUE(needed.empty());
    return;
  }
  Matrix others_spoiled = Matrix::Constant(24, 45, 1e30);
  others_spoiled(Eigen::all, needed) = indefinite_.rows(Eigen::all, needed);
  const Prediction all = predict_once(fitted.model, queries_of(indefinite_));
  expect_alike(all, predict_once(fitted.model, queries_of(others_spoiled, indefinite_.self)));
  expect_alike(all, predict_once(fitted.model, queries_of(indefinite_.rows(Eigen::all, needed),
                                                          indefinite_.self)));
}

TEST_P(Method, DoesNotDependOnTheOrderOfSamples) {
  Rng rng(9);
  const std::vector<Index> order = rng.permutation(45);
  const Fitted<AnyModel>& one = fitted_to_easy();
  const Fitted<AnyModel> two =
      fit_once(set_of(easy_.S(order, order), test::picked(easy_.classes, order)), choice_.settings);
  EXPECT_EQ(predict_once(one.model, queries_of(easy_)).labels,
            predict_once(two.model, queries_of(easy_.rows(Eigen::all, order), easy_.self)).labels);
}

TEST_P(Method, DoesNotDependOnTheNamesOfClasses) {
  const std::vector<int> renamed_to = {2, 0, 1};
  std::vector<int> renamed;
  for (const int c : easy_.classes) renamed.push_back(renamed_to[static_cast<std::size_t>(c)]);
  const Fitted<AnyModel>& one = fitted_to_easy();
  const Fitted<AnyModel> two = fit_once(set_of(easy_.S, renamed), choice_.settings);
  std::vector<int> expected = predict_once(one.model, queries_of(easy_)).labels;
  for (int& c : expected) c = renamed_to[static_cast<std::size_t>(c)];
  EXPECT_EQ(predict_once(two.model, queries_of(easy_)).labels, expected);
}

TEST_P(Method, BearsConstantSimilarities) {
  for (const double value : {0.0, 1.0}) {
    const std::vector<int> classes = {0, 1, 1, 0, 1, 2, 2, 1};
    const Fitted<AnyModel> fitted =
        fit_once(set_of(Matrix::Constant(8, 8, value), classes), choice_.settings);
    expect_well_formed(predict_once(fitted.model, queries_of(Matrix::Constant(3, 8, value),
                                                             Vector::Constant(3, value))),
                       3, 3);
  }
}

TEST_P(Method, BearsAClassWithOneMember) {
  Sample sample = indefinite_;
  for (int& c : sample.classes) c = c == 2 ? 1 : c;
  sample.classes[20] = 2;
  const Fitted<AnyModel> fitted = fit_once(set_of(sample.S, sample.classes), choice_.settings);
  expect_well_formed(predict_once(fitted.model, queries_of(sample)), 24, 3);
}

TEST_P(Method, BearsTwoSamples) {
  Matrix S(2, 2);
  S << 1, -0.5, -0.5, 1;
  const Fitted<AnyModel> fitted = fit_once(set_of(S, std::vector<int>{0, 1}), choice_.settings);
  const Prediction prediction = predict_once(fitted.model, queries_of(S, Vector::Ones(2)));
  expect_well_formed(prediction, 2, 2);
  EXPECT_EQ(prediction.labels, (std::vector<int>{0, 1}));
}

TEST_P(Method, StopsWhenAsked) {
  StopSource source;
  source.request_stop();
  RunContext ctx;
  ctx.stop = StopToken(source);
  const TrainingSet set = set_of(indefinite_.S, indefinite_.classes);
  SharedWork work(set);
  // A lazy method has nothing to stop before it predicts.
  (void)error_of(ErrorCode::kInterrupted, [&] {
    const Fitted<AnyModel> fitted = fit(work, choice_.settings, ctx);
    (void)predict(fitted.model, queries_of(indefinite_), ctx);
  });
}

TEST_P(Method, GivesTheSameOnAnyNumberOfThreads) {
  const TrainingSet set = set_of(indefinite_.S, indefinite_.classes);
  const Prediction expected = predict_once(fitted_to_indefinite().model, queries_of(indefinite_));
  for (const int threads : {2, 7}) {
    RunContext ctx;
    ctx.threads = threads;
    SharedWork work(set);
    const Fitted<AnyModel> fitted = fit(work, choice_.settings, ctx);
    const QueryBlock queries = over_needed(fitted.model, queries_of(indefinite_));
    expect_same(predict(fitted.model, queries, ctx), expected);
  }
}

TEST_P(Method, GivesAlongAPathWhatItGivesAlone) {
  // Small, for the exchange algorithm takes hundreds of iterations at the small end of its grid.
  const Sample sample = make_sample(30, 24, 3, 71, test::Likeness::kGaussian, 0.5);
  const TrainingSet set = set_of(sample.S, sample.classes);
  std::vector<AnySettings> path;
  for (const GridAxis& axis : method_info(choice_.settings).grid) {
    const std::vector<std::string> ends = {axis.values.front(), axis.values.back()};
    for (const std::string& value : is_slow(GetParam()) ? ends : axis.values) {
      MethodChoice one = choice_;
      kith::set(one, axis.field, value);
      path.push_back(one.settings);
    }
  }
  RunContext ctx;
  SharedWork work(set);
  const std::vector<Fitted<AnyModel>> along = fit_path(work, path, ctx);
  ASSERT_EQ(along.size(), path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Fitted<AnyModel> alone = fit_once(set, path[i]);
    SCOPED_TRACE(settings_json(path[i]));
    expect_met(GetParam(), along[i].info.status());
    EXPECT_EQ(predict_once(along[i].model, queries_of(sample)).labels,
              predict_once(alone.model, queries_of(sample)).labels);
  }
}

/// Fifteen groups of three equal samples, which are like nobody else: a machine that has seen no
/// sample of a group knows nothing of it, and one that has seen a twin knows its class.
struct Twins {
  Matrix S = Matrix::Zero(45, 45);
  std::vector<int> classes;
  Groups groups;

  Twins() {
    std::vector<std::string> names;
    for (Index i = 0; i < 45; ++i) {
      classes.push_back(static_cast<int>(i / 3) % 2);
      names.push_back(std::to_string(i / 3));
      for (Index j = 0; j < 45; ++j) S(i, j) = i / 3 == j / 3 ? 1 : 0;
    }
    groups = make_groups(names);
  }
};

/// How sure a model is of the classes of the samples it was trained on: the mean distance of the
/// probability of their class from one half.
double sureness(const Prediction& prediction, std::span<const int> classes) {
  double sum = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    sum += std::abs(prediction.probabilities(static_cast<Index>(i), classes[i]) - 0.5);
  }
  return sum / static_cast<double>(classes.size());
}

/// Groups change what samples that are held out say, and nothing else: probabilities that go by
/// held-out samples, the choice of ridge, and the neighbours of nca-knn, which are of other groups.
TEST_P(Method, HoldsOutWholeGroups) {
  const Twins twins;
  const QueryBlock queries = queries_of(twins.S, Vector::Ones(45));
  TrainingSet set = set_of(twins.S, twins.classes);
  const Fitted<AnyModel> alone = fit_once(set, choice_.settings);
  set.labels.groups = twins.groups;
  const Fitted<AnyModel> grouped = fit_once(set, choice_.settings);
  const Prediction before = predict_once(alone.model, queries);
  const Prediction after = predict_once(grouped.model, queries);
  const std::optional<FieldInfo> asked = field_with(choice_.settings, FieldRole::kProbability);
  const bool calibrated = asked && asked->default_value != "no";
  if (GetParam().method == "nca-knn") return;
  if (!calibrated) {
    if (GetParam().method != "ridge") expect_same(before, after);
    return;
  }
  EXPECT_LT(sureness(after, twins.classes), 0.1) << "a twin was seen";
  EXPECT_GT(sureness(before, twins.classes), 2 * sureness(after, twins.classes) + 0.05)
      << "without groups twins are seen, which this test must be able to tell";
  if (GetParam().method != "ridge") {
    EXPECT_EQ(grouped.info.notes, alone.info.notes);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Method, testing::ValuesIn(chosen_variants()), test_name);

TEST(Registry, RefusesToTrainOnOneClass) {
  SimilaritySet given;
  given.name = "S";
  given.block = DenseBlock(RowMatrix(Matrix::Identity(3, 3)));
  RunContext ctx;
  const Labels labels = test::numbered_labels(std::vector<int>{0, 0, 0});
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] { (void)prepare_training(match({given}), labels, {}, ctx); }),
              testing::HasSubstr("one class"));
}

TEST(Registry, HasDistinctNamesThatParse) {
  std::vector<std::string> names;
  for (const MethodInfo& method : all_methods()) {
    names.push_back(method.name);
    EXPECT_EQ(parse_method(method.name).method, method.name);
    EXPECT_EQ(method_name(settings_of(method.name, Json::object())), method.name);
    for (const GridAxis& axis : method.grid) {
      MethodChoice choice = parse_method(method.name);
      for (const std::string& value : axis.values) EXPECT_NO_THROW(set(choice, axis.field, value));
    }
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Registry, HasTitlesThatAreTheNamesAndPapersThatAreKnown) {
  for (const MethodInfo& method : all_methods()) {
    std::string lower = method.title;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_EQ(lower, method.name);
    for (std::size_t at = method.paper.find('['); at != std::string::npos;
         at = method.paper.find('[', at + 1)) {
      const std::string key = method.paper.substr(at + 1, method.paper.find(']', at) - at - 1);
      const auto known = [&](const Reference& work) { return work.key == key; };
      EXPECT_TRUE(std::any_of(references().begin(), references().end(), known)) << method.paper;
    }
  }
}

TEST(Registry, SuggestsTheClosestMethod) {
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [] { (void)parse_method("swm"); }),
              testing::HasSubstr("svm"));
}

}  // namespace
}  // namespace kith
