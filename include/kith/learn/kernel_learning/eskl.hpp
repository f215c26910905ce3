// SPDX-License-Identifier: Apache-2.0
// One kernel of given trace near several matrices, learned with the machine on it: `eskl`.
#pragma once

#include <span>
#include <vector>

#include "kith/learn/kernel_learning/trace_pairs.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct EsklSettings {
  TraceSettings learn;
};
void describe(EsklSettings& settings, FieldVisitor& field);

struct EsklModel {
  TracePairsModel learned;
};

[[nodiscard]] Fitted<EsklModel> fit(SharedWork& work, const EsklSettings& settings,
                                    RunContext& ctx);
/// A solution serves every larger cost where none of its coefficients is at its bound.
[[nodiscard]] std::vector<Fitted<EsklModel>> fit_path(SharedWork& work,
                                                      std::span<const EsklSettings> path,
                                                      RunContext& ctx);
[[nodiscard]] Prediction predict(const EsklModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
[[nodiscard]] std::vector<Index> needed_columns(const EsklModel& model);
template <class A>
void archive(Archived<A, EsklModel>& model, A& archiver);

[[nodiscard]] inline bool needs_self(const EsklModel& model) { return needs_self(model.learned); }

static_assert(Learner<EsklSettings, EsklModel>);

template <>
struct MethodTraits<EsklSettings> {
  using Model = EsklModel;
  static constexpr std::string_view name = "eskl";
  static constexpr std::string_view title = "ESKL";
  static constexpr std::string_view paper = "[KTBB] (4)";
  static constexpr std::string_view summary =
      "support vector machine and one kernel of given trace, near all matrices, learned together";
  static constexpr bool probabilities = true;
  static constexpr bool several_matrices = true;
  static std::vector<GridAxis> grid(const EsklSettings& /*settings*/) { return trace_grid(); }
};

}  // namespace kith
