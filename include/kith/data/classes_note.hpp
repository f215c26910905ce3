// SPDX-License-Identifier: Apache-2.0
// Labels that are hardly labels: of which every sample, or nearly every one, has its own.
#pragma once

#include <string>
#include <string_view>

#include "kith/core/context.hpp"
#include "kith/data/labels.hpp"

namespace kith {

/// What a user should know about classes of a single sample, such as those of a column of ids that
/// was taken for labels; `source` is what the labels are called.
struct ClassesNote {
  std::string text;               ///< empty: at most half of the classes are so small
  bool nothing_to_learn = false;  ///< each of three samples or more has a class of its own
};
[[nodiscard]] ClassesNote note_on_classes(const Labels& labels, std::string_view source);
/// Says the note, or throws Error where there is nothing to learn.
void check_classes(const Labels& labels, std::string_view source, const RunContext& ctx);
/// Throws Error unless there are samples of two classes; `samples` is what they are called.
void check_two_classes(const Labels& labels, std::string_view samples);

}  // namespace kith
