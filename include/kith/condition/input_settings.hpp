// SPDX-License-Identifier: Apache-2.0
// What a user may ask to be done to a matrix before any method sees it. The names are the flags of
// the command line; docs/input.md gives the formulas.
#pragma once

#include <optional>

#include "kith/core/settings.hpp"

namespace kith {

enum class Symmetrise { kAuto, kMean, kMax, kMin, kKeep };
template <>
struct EnumNames<Symmetrise> {
  static constexpr std::array<std::string_view, 5> names = {"auto", "mean", "max", "min", "keep"};
};

enum class MissingRule { kError, kZero, kMin, kDropSample };
template <>
struct EnumNames<MissingRule> {
  static constexpr std::array<std::string_view, 4> names = {"error", "zero", "min", "drop-sample"};
};

enum class DiagonalRule { kGiven, kOne, kMaxRow };
template <>
struct EnumNames<DiagonalRule> {
  static constexpr std::array<std::string_view, 3> names = {"given", "one", "max-row"};
};

enum class ScaleRule { kNone, kUnit, kCosine };
template <>
struct EnumNames<ScaleRule> {
  static constexpr std::array<std::string_view, 3> names = {"none", "unit", "cosine"};
};

enum class Rescale { kNone, kSpread };
template <>
struct EnumNames<Rescale> {
  static constexpr std::array<std::string_view, 2> names = {"none", "spread"};
};

/// kAuto is settled by the method (learn/registry, `settled`): negative where it goes by
/// neighbours, so that they are the nearest; else double-centre.
enum class FromDistance { kAuto, kDoubleCentre, kMaxMinus, kNegative, kNegativeSquare, kExp };
template <>
struct EnumNames<FromDistance> {
  static constexpr std::array<std::string_view, 6> names = {
      "auto", "double-centre", "max-minus", "negative", "negative-square", "exp"};
};

enum class InputTransform { kNone, kRowsRbf };
template <>
struct EnumNames<InputTransform> {
  static constexpr std::array<std::string_view, 2> names = {"none", "rows-rbf"};
};

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
