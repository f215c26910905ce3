// SPDX-License-Identifier: Apache-2.0
// How texts of the library name what the user can give: by its id in double brackets, as in
// [[missing=zero]] or [[self]]; a method's own setting as [[set=multiclass=one-vs-rest]]. Only a
// front end knows how its users type it: the program spells --missing zero, the Python package
// input={'missing': 'zero'}.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "kith/core/json.hpp"

namespace kith {

/// The ids that texts of the library name.
inline constexpr std::array<std::string_view, 28> kMentioned = {
    "among",         "append",        "budget",    "data",       "diagonal",        "distance",
    "distance-from", "from-distance", "gamma",     "grid",       "groups",          "json",
    "labels",        "measure",       "method",    "missing",    "rescale",         "scale",
    "score-column",  "self",          "set",       "similarity", "similarity-from", "sizes",
    "stratify",      "symmetrise",    "transform", "transpose"};

/// How a front end spells an id of `kMentioned`; the value may be empty.
using Spelling = std::string (*)(std::string_view id, std::string_view value);

/// The text with each mention spelled. Brackets around anything else stay as they are.
[[nodiscard]] std::string spelled(std::string_view text, Spelling spelling);
/// The same in every text of a document.
[[nodiscard]] Json spelled_json(Json document, Spelling spelling);

}  // namespace kith
