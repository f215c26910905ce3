// SPDX-License-Identifier: Apache-2.0
// What a user may ask to be done to a matrix before any method sees it. The names are the flags of
// the command line; docs/input.md gives the formulas.
#pragma once

#include <optional>

#include "kith/core/settings.hpp"

namespace kith {

enum class Symmetrise { kAuto, kMean, kMax, kMin, kKeep };
constexpr auto enum_names(Symmetrise /*of*/) { return named("auto", "mean", "max", "min", "keep"); }

enum class MissingRule { kError, kZero, kMin, kDropSample };
constexpr auto enum_names(MissingRule /*of*/) {
  return named("error", "zero", "min", "drop-sample");
}

enum class DiagonalRule { kGiven, kOne, kMaxRow };
constexpr auto enum_names(DiagonalRule /*of*/) { return named("given", "one", "max-row"); }

enum class ScaleRule { kNone, kUnit, kCosine };
constexpr auto enum_names(ScaleRule /*of*/) { return named("none", "unit", "cosine"); }

enum class Rescale { kNone, kSpread };
constexpr auto enum_names(Rescale /*of*/) { return named("none", "spread"); }

/// kAuto is settled by the method (learn/registry, `settled`): negative where it goes by
/// neighbours, so that they are the nearest; else double-centre.
enum class FromDistance { kAuto, kDoubleCentre, kMaxMinus, kNegative, kNegativeSquare, kExp };
constexpr auto enum_names(FromDistance /*of*/) {
  return named("auto", "double-centre", "max-minus", "negative", "negative-square", "exp");
}

enum class InputTransform { kNone, kRowsRbf };
constexpr auto enum_names(InputTransform /*of*/) { return named("none", "rows-rbf"); }

struct InputSettings {
  Symmetrise symmetrise = Symmetrise::kAuto;
  MissingRule missing = MissingRule::kError;
  DiagonalRule diagonal = DiagonalRule::kGiven;
  ScaleRule scale = ScaleRule::kNone;
  Rescale rescale = Rescale::kNone;
  FromDistance from_distance = FromDistance::kAuto;  ///< only used on distances
  std::optional<double> gamma{};  ///< only used by `exp`; none: 1 / the median distance
  InputTransform transform = InputTransform::kNone;

  friend bool operator==(const InputSettings&, const InputSettings&) = default;
};

void describe(InputSettings& settings, FieldVisitor& field);

}  // namespace kith
