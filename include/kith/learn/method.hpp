// SPDX-License-Identifier: Apache-2.0
// What a method says of itself beside its settings: its name, its paper, the grid it is searched
// over.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kith {

/// Which side of a grid axis is the simpler model: it wins among equal cross-validation errors.
enum class Simpler { kSmaller, kLarger };

/// The values `evaluate` tries for one setting, as a user would type them, ascending.
struct GridAxis {
  std::string field;
  std::vector<std::string> values;
  Simpler simpler = Simpler::kSmaller;
  /// Whether larger values than there are samples mean all of them. Set by the role of the field.
  bool at_most_samples = false;
};

/// 10^first, ..., 10^last as texts.
[[nodiscard]] std::vector<std::string> powers_of_ten(int first, int last);

/// A work that methods cite.
struct Reference {
  std::string_view key;
  std::string_view text;
};
/// All of them. A new key is a line in src/learn/references.cpp.
[[nodiscard]] std::span<const Reference> references();

struct KernelRule;  // kith/vectors/feature_scale.hpp
/// What is searched of a machine on such a kernel: its cost, and gamma where there is one.
[[nodiscard]] std::vector<GridAxis> machine_axes(const KernelRule& rule);

/// Specialised beside each settings type S:
///
///   using Model = ...;
///   static constexpr std::string_view name;     // as users type it: "lp-machine"
///   static constexpr std::string_view title;    // the same with initials in capitals:
///   "LP-machine" static constexpr std::string_view paper;    // "[KEY] section", KEY one of
///   `references` static constexpr std::string_view summary; static constexpr bool probabilities;
///   // whether models can have them static constexpr bool takes_missing_pairs;  // optional: from
///   sparse, incomplete matrices static constexpr bool several_matrices;     // optional: learns
///   from one matrix or more static constexpr bool learns_from_vectors;  // optional: from vectors,
///   and from no matrix static bool one_direction(const S& settings);  // optional: S as it is, not
///   its symmetric part static std::vector<GridAxis> grid(const S& settings);
template <class S>
struct MethodTraits;

/// Methods by the types of their settings.
template <class... S>
struct MethodList {
  using Settings = std::variant<S...>;
  using Model = std::variant<typename MethodTraits<S>::Model...>;
};

}  // namespace kith
