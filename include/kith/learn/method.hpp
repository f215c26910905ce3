// SPDX-License-Identifier: Apache-2.0
// What a method says of itself beside its settings: its name, its paper, the grid it is searched
// over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// Which side of a grid axis is the simpler model: it wins among equal cross-validation errors.
enum class Simpler { kSmaller, kLarger };

/// The values `evaluate` tries for one setting, as a user would type them, ascending.
struct GridAxis {
  std::string field;
  std::vector<std::string> values;
  Simpler simpler = Simpler::kSmaller;
};

/// 10^first, ..., 10^last as texts.
[[nodiscard]] std::vector<std::string> powers_of_ten(int first, int last);

struct KernelRule;  // kith/vectors/feature_scale.hpp
/// What is searched of a machine on such a kernel: its cost, and gamma where there is one.
[[nodiscard]] std::vector<GridAxis> machine_axes(const KernelRule& rule);

/// Specialised beside each settings type S:
///
///   using Model = ...;
///   static constexpr std::string_view name, paper, summary;
///   static constexpr bool probabilities;    // whether models can have them
///   static constexpr bool takes_missing_pairs;  // optional: from sparse, incomplete matrices
///   static constexpr bool several_matrices;     // optional: learns from one matrix or more
///   static constexpr bool one_direction;        // optional: S as it is, not its symmetric part
///   static constexpr bool learns_from_vectors;  // optional: from vectors, and from no matrix
///   static std::vector<GridAxis> grid(const S& settings);
template <class S>
struct MethodTraits;

}  // namespace kith
