// SPDX-License-Identifier: Apache-2.0
// A committee: several models of the same samples that predict together (docs/auto.md).
//
// The members are those whose cross-validation error is within kSeatReach standard errors of the
// least. Each gives kVoteShare of its vote to the class it predicts and the rest to the classes by
// its probabilities; the mean over the members is the committee's probability.
#pragma once

#include <span>
#include <vector>

#include "kith/pipeline/trained_model.hpp"

namespace kith {

inline constexpr double kSeatReach = 3;
inline constexpr double kVoteShare = 0.6;

/// Which of several methods sit in the committee, by their errors in cross-validation over
/// `samples` samples. An error that is no number keeps its method out. Throws Error where all are.
[[nodiscard]] std::vector<std::size_t> seats(std::span<const double> errors, Index samples);
/// The same of mean losses and their standard errors.
[[nodiscard]] std::vector<std::size_t> seats(std::span<const double> losses,
                                             std::span<const double> standard_errors);

/// The standard error of an error rate that was found on so many samples; at least that of one
/// mistake.
[[nodiscard]] double standard_error(double error, Index samples);
/// The standard error of the mean of losses of any size, such as costs, by their sum and the sum of
/// their squares: their sample standard deviation over the root of `samples`. At least that of one
/// loss of 1 among zeros.
[[nodiscard]] double standard_error_of_losses(double sum, double squares, Index samples);

/// The prediction of the committee from those of its members, all of the same queries.
[[nodiscard]] Prediction combined(std::span<const Prediction> members, int classes);

/// Who sits where: a method, the training set under its own input rules, and the tables it uses.
struct Seat {
  std::string name;
  MethodChoice choice;
  const PreparedTraining* prepared = nullptr;
  std::vector<Index> sources;  ///< of each of its matrices: the position among the committee's
};
/// What new samples must bring: each table that some member uses, with how it is measured.
struct Source {
  std::string name;
  PairKind kind = PairKind::kSimilarity;
  std::optional<MeasureRule> measure = std::nullopt;
};

/// Fits every seat; seats on the same prepared set share its decompositions. `decision` is applied
/// to the committee's probabilities.
[[nodiscard]] Training train_committee(std::span<const Seat> members,
                                       std::span<const Source> sources,
                                       const DecisionSettings& decision, RunContext& ctx);

}  // namespace kith
