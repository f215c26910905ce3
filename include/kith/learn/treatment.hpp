// SPDX-License-Identifier: Apache-2.0
// What is done to the similarities of a new sample before a machine sees them.
#pragma once

#include <array>
#include <string_view>

#include "kith/core/settings.hpp"

namespace kith {

/// Each method's settings say which of them it has. s are the similarities of a new sample, S those
/// of the training samples, K = V diag(d) V' their kernel.
enum class Treatment {
  kLinear,     ///< the linear map that made K of S
  kAugmented,  ///< as S with s as border becomes a kernel: [LA]'s rule, one new sample at a time
  kNone,       ///< s as it is
  kMap,        ///< K S^+ s, small eigenvalues of S cut
  kSample,     ///< the nearest (k, r) for which K with border k and corner r is a kernel, [CGR] (8)
  kProject,    ///< V V' s
};
constexpr auto enum_names(Treatment /*of*/) {
  return named("linear", "augmented", "none", "map", "sample", "project");
}

}  // namespace kith
