// SPDX-License-Identifier: Apache-2.0
// The setting `multiclass` of every method that has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kith/learn/multiclass/fit_tasks.hpp"
#include "kith/learn/registry.hpp"
#include "support/fitting.hpp"

namespace kith::multiclass_test {
namespace {

using test::fit_once;
using test::make_sample;
using test::Sample;
using test::training_set;

std::vector<MethodInfo> methods_with_rule() {
  std::vector<MethodInfo> some;
  for (const MethodInfo& method : all_methods()) {
    const auto is_rule = [](const FieldInfo& field) { return field.name == "multiclass"; };
    if (std::any_of(method.fields.begin(), method.fields.end(), is_rule)) some.push_back(method);
  }
  return some;
}

TrainingSet set_of(const MethodInfo& method, const Sample& sample, std::span<const int> classes) {
  TrainingSet set = training_set(sample.S, classes);
  if (method.learns_from_vectors) {
    set.matrices.clear();
    set.vectors = DenseBlock(RowMatrix(sample.S.leftCols(4)));
  }
  return set;
}

TEST(Probability, HasItsRoleInEveryMethod) {
  for (const MethodInfo& method : all_methods()) {
    for (const FieldInfo& field : method.fields) {
      if (field.name != "probability") continue;
      EXPECT_EQ(field.role, FieldRole::kProbability) << method.name;
    }
  }
}

TEST(Multiclass, IsASettingOfEveryMethodOfBinaryMachines) {
  std::vector<std::string> names;
  for (const MethodInfo& method : methods_with_rule()) names.push_back(method.name);
  EXPECT_THAT(names,
              testing::UnorderedElementsAre(
                  "svm", "features-svm", "lp-machine", "p-svm", "embed-svm", "full-kernel-svm",
                  "robust-svm", "spectrum-svm", "average-svm", "mkl", "eskl", "emkl", "rekl",
                  "vector-svm", "linear-msvm", "nonlinear-msvm", "simple-mkl", "rkl", "svm-knn"));
}

/// Each class against the rest is the problem of two classes.
TEST(Multiclass, OneVsRestIsAProblemOfTwoClassesForEachClass) {
  const Sample sample = make_sample(30, 6, 3, 23);
  for (const MethodInfo& method : methods_with_rule()) {
    if (method.name == "svm-knn") continue;  // whose machines are made by its predictions
    MethodChoice choice = parse_method(method.name);
    set(choice, "probability", "no");
    const MethodChoice two_classes = choice;
    set(choice, "multiclass", "one-vs-rest");
    const FitInfo info = fit_once(set_of(method, sample, sample.classes), choice.settings).info;
    ASSERT_EQ(info.subproblems.size(), 3U) << method.name;
    EXPECT_EQ(info.subproblems.back().name, "c2 | rest");
    for (int c = 0; c < 3; ++c) {
      std::vector<int> own;
      for (const int id : sample.classes) own.push_back(id == c ? 0 : 1);
      const FitInfo alone = fit_once(set_of(method, sample, own), two_classes.settings).info;
      EXPECT_NEAR(info.subproblems[static_cast<std::size_t>(c)].info.objective, alone.objective(),
                  1e-5 * std::abs(alone.objective()))
          << method.name << ' ' << c;
    }
  }
}

TEST(Multiclass, OfAPathMayDiffer) {
  const Sample sample = make_sample(30, 6, 3, 24);
  const TrainingSet set = training_set(sample.S, sample.classes);
  std::vector<AnySettings> path;
  for (const char* rule : {"one-vs-rest", "one-vs-one", "one-vs-rest"}) {
    MethodChoice choice = parse_method("lp-machine");
    kith::set(choice, "multiclass", rule);
    kith::set(choice, "cost", std::to_string(path.size() + 1));
    path.push_back(choice.settings);
  }
  SharedWork work(set);
  RunContext ctx;
  const std::vector<Fitted<AnyModel>> along = fit_path(work, path, ctx);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Fitted<AnyModel> alone = fit_once(set, path[i]);
    EXPECT_EQ(along[i].info.subproblems.front().name, i == 1 ? "c0 | c1" : "c0 | rest");
    EXPECT_NEAR(along[i].info.subproblems.front().info.objective,
                alone.info.subproblems.front().info.objective, 1e-7);
  }
}

TEST(ManyPairs, AreNotedAbove200Classes) {
  const auto notes_of = [](int classes, Multiclass rule) {
    std::vector<int> ids;
    ids.reserve(static_cast<std::size_t>(classes));
    for (int c = 0; c < classes; ++c) ids.push_back(c);
    FitInfo info;
    note_many_pairs(test::numbered_labels(ids), rule, info);
    return info.notes;
  };
  EXPECT_TRUE(notes_of(200, Multiclass::kOneVsOne).empty());
  EXPECT_TRUE(notes_of(300, Multiclass::kOneVsRest).empty());
  EXPECT_THAT(
      notes_of(201, Multiclass::kOneVsOne),
      testing::ElementsAre(testing::AllOf(testing::HasSubstr("20100"),
                                          testing::HasSubstr("[[set=multiclass=one-vs-rest]]"))));
}

}  // namespace
}  // namespace kith::multiclass_test
