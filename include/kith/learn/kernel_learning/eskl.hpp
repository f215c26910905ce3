// SPDX-License-Identifier: Apache-2.0
// One kernel of given trace near several matrices, learned with the machine on it: `eskl`.
#pragma once

#include "kith/learn/kernel_learning/trace_pairs.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct EsklSettings : TraceSettings {};

struct EsklModel : LearnedPairsModel {};

/// A solution serves every larger cost where none of its coefficients is at its bound.
[[nodiscard]] std::vector<Fitted<EsklModel>> fit_path(SharedWork& work,
                                                      std::span<const EsklSettings> path,
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

}  // namespace kith
