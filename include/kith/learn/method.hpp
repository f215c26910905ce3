// SPDX-License-Identifier: Apache-2.0
// What a method says of itself beside its settings: its name, its paper, the grid it is searched
// over. The header of a method needs no other for its declarations.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kith/learn/learner.hpp"

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

using Grid = std::vector<GridAxis>;

/// 10^first, ..., 10^last as texts.
[[nodiscard]] std::vector<std::string> powers_of_ten(int first, int last);
/// An axis of them.
[[nodiscard]] GridAxis decades(std::string field, int first, int last,
                               Simpler simpler = Simpler::kSmaller);

/// A work that methods cite.
struct Reference {
  std::string_view key;
  std::string_view text;
};
/// All of them, as method_list.hpp has them.
[[nodiscard]] std::span<const Reference> references();

/// What methods say of settings that several of them have.
inline constexpr std::string_view kCostHelp = "penalty C on margin violations";
inline constexpr std::string_view kProbabilityHelp = "fit probabilities by cross-fitted sigmoids";
inline constexpr std::string_view kGapHelp = "largest KKT violation and relative gap accepted";
inline constexpr std::string_view kPrototypesHelp =
    "how many random training samples the similarities are taken to";
inline constexpr std::string_view kTiesHelp =
    "who comes first among equally similar samples: drawn by seed, or as read";

struct KernelRule;  // kith/vectors/feature_scale.hpp
/// What is searched of a machine on such a kernel: its cost, and gamma where there is one.
[[nodiscard]] Grid machine_axes(const KernelRule& rule);

/// What most methods with models of type M are. A method states what is different.
template <class M>
struct MethodDefaults {
  using Model = M;
  static constexpr bool probabilities = true;         ///< whether models can have them
  static constexpr bool takes_missing_pairs = false;  ///< from sparse, incomplete matrices
  static constexpr bool several_matrices = false;     ///< learns from one matrix or more
  static constexpr bool learns_from_vectors = false;  ///< and from no matrix
  /// Whether a fit chooses by samples that it holds out itself: other folds would tell no more.
  static constexpr bool tunes_itself = false;
  /// Whether it uses S as it is, not its symmetric part.
  static bool one_direction(const auto& /*settings*/) { return false; }
  /// The setting that is given, and the one that it takes the place of.
  static std::optional<std::pair<std::string_view, std::string_view>> in_place_of(
      const auto& /*settings*/) {
    return std::nullopt;
  }
  static Grid grid(const auto& /*settings*/) { return {}; }
};

/// Specialised beside each settings type S as a MethodDefaults with
///
///   static constexpr std::string_view name;     // as users type it: "lp-machine"
///   static constexpr std::string_view title;    // with initials in capitals: "LP-machine"
///   static constexpr std::string_view paper;    // "[KEY] section", KEY one of `kReferences`
///   static constexpr std::string_view summary;
template <class S>
struct MethodTraits;

/// Settings that a method learns with.
template <class S>
concept MethodSettings = Learner<S, typename MethodTraits<S>::Model>;

/// The fit of one setting: that of a path of one. Throws Error naming the first field outside its
/// range, as `fit_path` of the registry does; no method looks again.
template <Described S>
[[nodiscard]] auto fit(SharedWork& work, const S& settings, RunContext& ctx) {
  validate(settings, MethodTraits<S>::name);
  return std::move(fit_path(work, Path<S>(&settings, 1), ctx).front());
}

/// Methods by the types of their settings.
template <MethodSettings... S>
struct MethodList {
  using Settings = std::variant<S...>;
  using Model = std::variant<typename MethodTraits<S>::Model...>;
};

}  // namespace kith
