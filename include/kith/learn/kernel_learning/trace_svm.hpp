// SPDX-License-Identifier: Apache-2.0
// Kernels of given trace, learned with the machine on them: `eskl` one near several matrices,
// `emkl` one near each of them.
#pragma once

#include "kith/learn/kernel_learning/trace_pairs.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct EsklSettings : TraceSettings {};
struct EmklSettings : TraceSettings {};

struct EsklModel : LearnedPairsModel {};
struct EmklModel : LearnedPairsModel {};

/// A solution serves every larger cost where none of its coefficients is at its bound.
[[nodiscard]] FittedPath<EsklModel> fit_path(SharedWork& work, Path<EsklSettings> path,
                                             RunContext& ctx);
[[nodiscard]] FittedPath<EmklModel> fit_path(SharedWork& work, Path<EmklSettings> path,
                                             RunContext& ctx);

template <>
struct MethodTraits<EsklSettings> : MethodDefaults<EsklModel> {
  static constexpr std::string_view name = "eskl";
  static constexpr std::string_view title = "ESKL";
  static constexpr std::string_view paper = "[KTBB] (4)";
  static constexpr std::string_view summary =
      "support vector machine and one kernel of given trace, near all matrices, learned together";
  static constexpr bool several_matrices = true;
  static Grid grid(const auto&) { return trace_grid(); }
};
template <>
struct MethodTraits<EmklSettings> : MethodDefaults<EmklModel> {
  static constexpr std::string_view name = "emkl";
  static constexpr std::string_view title = "EMKL";
  static constexpr std::string_view paper = "[KTBB] (6)";
  static constexpr std::string_view summary =
      "support vector machine and one kernel of given trace near each matrix, learned together";
  static constexpr bool several_matrices = true;
  static Grid grid(const auto&) { return trace_grid(); }
};

}  // namespace kith
