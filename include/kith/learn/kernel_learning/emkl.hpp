// SPDX-License-Identifier: Apache-2.0
// Kernels of given trace, one near each of several matrices, learned with the machine on all:
// `emkl`.
#pragma once

#include "kith/learn/kernel_learning/trace_pairs.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct EmklSettings : TraceSettings {};

struct EmklModel : LearnedPairsModel {};

/// A solution serves every larger cost where none of its coefficients is at its bound.
[[nodiscard]] std::vector<Fitted<EmklModel>> fit_path(SharedWork& work,
                                                      std::span<const EmklSettings> path,
                                                      RunContext& ctx);

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
