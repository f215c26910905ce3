// SPDX-License-Identifier: Apache-2.0
// What is compared: a method with its fixed settings and the values that cross-validation searches.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/evaluate/store.hpp"
#include "kith/learn/registry.hpp"

namespace kith {

struct Candidate {
  std::string name;  ///< in tables; unique
  MethodChoice choice;
  std::vector<GridAxis> axes;  ///< what is searched, the first axis slowest
};

/// "svm-clip", or "mine=svm-clip" to give it a name of its own: the method with the grid of its
/// paper. Probabilities and bounds that only certify are off where a method can do without them,
/// since errors do not need them.
[[nodiscard]] Candidate parse_candidate(std::string_view text);

/// Every one of a list separated by commas. Throws Error on a name that stands twice.
[[nodiscard]] std::vector<Candidate> parse_candidates(std::string_view list);

/// What is compared unless the user says otherwise: one of each kind that [TR] found worth it.
inline constexpr std::string_view kDefaultComparison =
    "knn,affinity-knn,kri-clip,krr-pinv,local-sda,svm-knn,svm-clip,svm-flip,svm-shift,"
    "features-svm";
/// The same with several matrices: methods that learn from all of them at once. `emkl` does, too;
/// its grid takes far longer than that of `eskl` or `rekl`.
inline constexpr std::string_view kSeveralComparison = "average-svm,mkl,mkl-mixed,eskl,rekl";

/// Fixes a setting, which is then searched no longer.
void fix(Candidate& candidate, std::string_view key, std::string_view text);
/// Searches these values of a setting, which is then fixed no longer. Throws Error naming a value
/// that the setting refuses.
void search(Candidate& candidate, std::string_view key, std::span<const std::string> values);

/// What a user asks of a setting: of the candidate of a name or, where the name is "*", of every
/// candidate that has the setting.
struct SettingWish {
  std::string candidate;
  std::string key;
  std::vector<std::string> values;  ///< the one to fix it at, or those to search
  std::string said;                 ///< how it was asked for, which messages begin with
};
/// Fixes what is to be fixed, then searches what is to be searched. Throws Error where a wish is
/// about no candidate, and where a setting is given twice: by two wishes, or by a wish and the name
/// of the method.
void grant(std::span<const SettingWish> fixed, std::span<const SettingWish> searched,
           std::vector<Candidate>& candidates);

/// For those who have distances and left open how they become similarities: which candidates go by
/// neighbours, and that these are then not the nearest. Empty where none does.
[[nodiscard]] std::string neighbours_note(std::span<const Candidate> candidates);

/// The settings at every point of the grid, for training parts of at least `samples` samples:
/// larger numbers of neighbours are capped at it, and equal ones count once.
struct GridPoints {
  std::vector<AnySettings> settings;
  std::vector<std::vector<int>> places;  ///< along each axis, 0 the simplest value
};
[[nodiscard]] GridPoints grid_points(const Candidate& candidate, Index samples);

/// The distinct values of an axis for training parts of at least `samples` samples, ascending as
/// they were.
[[nodiscard]] std::vector<std::string> capped_values(const GridAxis& axis, Index samples);

/// The point of least loss; among equals the simplest, the axes compared in their order.
[[nodiscard]] std::size_t best_point(const GridPoints& grid, std::span<const double> losses);

[[nodiscard]] CandidateRecord candidate_record(const Candidate& candidate);

}  // namespace kith
