// SPDX-License-Identifier: Apache-2.0
// What is compared: a method with its fixed settings and the values that cross-validation searches,
// or a committee of such methods (`auto`).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/evaluate/inputs.hpp"
#include "kith/evaluate/store.hpp"
#include "kith/learn/registry.hpp"

namespace kith {

struct Candidate {
  std::string name;  ///< in tables; unique
  MethodChoice choice;
  std::vector<GridAxis> axes;          ///< what is searched, the first axis slowest
  std::vector<GridAxis> input_axes{};  ///< fields of the input that a user fixed or listed
  std::vector<InputVariant> inputs{};  ///< what is searched of the input (resolve_inputs)
  std::vector<Candidate> members{};    ///< of a committee; `choice` then has its decision alone

  [[nodiscard]] bool is_committee() const { return !members.empty(); }
};

/// The name of the committee, among methods to compare and in `kith train --method`.
inline constexpr std::string_view kAutoName = "auto";
/// Who sits in it unless the user says otherwise (docs/auto.md has the evidence): neighbours as
/// they are, machines near them, machines on the whole matrix, and least squares on three spectra.
inline constexpr std::string_view kAutoMembers =
    "knn,svm-knn,svm-flip,ridge-clip,ridge-flip,ridge-square,features-svm";
/// Of several matrices each of these chooses one; these learn from all at once.
inline constexpr std::string_view kAutoSeveralMembers = "average-svm,mkl";

/// "auto" is the committee of kAutoMembers. "svm-clip", or "mine=svm-clip" to give it a name of its
/// own: the method with the grid of its paper. Probabilities and bounds that only certify are off
/// where a method can do without them, since errors do not need them.
[[nodiscard]] Candidate parse_candidate(std::string_view text, std::size_t matrices = 1);

/// Every one of a list separated by commas. Throws Error on a name that stands twice.
[[nodiscard]] std::vector<Candidate> parse_candidates(std::string_view list,
                                                      std::size_t matrices = 1);

/// What is compared unless the user says otherwise: the committee, least squares, and one of each
/// kind that [TR] found worth it.
inline constexpr std::string_view kDefaultComparison =
    "auto,knn,affinity-knn,kri-clip,krr-pinv,local-sda,svm-knn,svm-clip,svm-flip,svm-shift,"
    "features-svm,ridge";
/// The same with several matrices: methods that learn from all of them at once. `emkl` does, too;
/// its grid takes far longer than that of `eskl` or `rekl`.
inline constexpr std::string_view kSeveralComparison = "average-svm,mkl,mkl-mixed,eskl,rekl";

/// Fixes a setting, which is then searched no longer. Priors or costs of a committee leave it with
/// the members that have probabilities.
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

/// Throws Error where one of them is a committee itself.
void check_members(std::span<const Candidate> members);
/// Gives every committee among the candidates these members. Throws as check_members does, and
/// where there is no committee.
void set_members(std::span<const Candidate> members, std::vector<Candidate>& candidates);

/// The priors and costs that are set for some of these methods: those of a committee of them.
[[nodiscard]] DecisionSettings decision_of(std::span<const Candidate> methods);
/// Whether a method can sit in a committee that decides like this: priors and costs need its
/// probabilities.
[[nodiscard]] bool can_sit(const Candidate& method, const DecisionSettings& decision);

/// A committee of these methods.
[[nodiscard]] Candidate committee_of(std::string name, std::vector<Candidate> members);
/// The candidate itself, or the members of a committee.
[[nodiscard]] std::span<const Candidate> parts_of(const Candidate& candidate);

/// The settings at every point of the grid, for training parts of at least `samples` samples:
/// larger numbers of neighbours are capped at it, and equal ones count once. The grid is searched
/// for each of the candidate's inputs: losses have the points of the first input first.
struct GridPoints {
  std::vector<AnySettings> settings;
  std::vector<std::vector<int>> places;  ///< along each axis, 0 the simplest value
};
[[nodiscard]] GridPoints grid_points(const Candidate& candidate, Index samples);

/// The distinct values of an axis for training parts of at least `samples` samples, ascending as
/// they were.
[[nodiscard]] std::vector<std::string> capped_values(const GridAxis& axis, Index samples);

/// Where on the grid, with which input.
struct GridPlace {
  std::size_t input = 0;
  std::size_t point = 0;

  friend auto operator<=>(const GridPlace&, const GridPlace&) = default;
};
/// The place of least loss; among equals the first input and the simplest point, the axes compared
/// in their order. `losses` has every point of the grid for the first input, then for the next.
[[nodiscard]] GridPlace best_place(const GridPoints& grid, std::span<const double> losses);

[[nodiscard]] CandidateRecord candidate_record(const Candidate& candidate,
                                               const ExperimentData& data);

}  // namespace kith
