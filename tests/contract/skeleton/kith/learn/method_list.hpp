// SPDX-License-Identifier: Apache-2.0
// The list of methods with the skeleton alone, in the place of include/kith/learn/method_list.hpp.
#pragma once

#include <array>

#include "kith/learn/method.hpp"
#include "skeleton.hpp"

namespace kith {

using Methods = MethodList<SkeletonSettings>;

inline constexpr auto kReferences = std::to_array<Reference>(
    {{"TR", "Chen, Garcia, Gupta, Rahimi, Cazzanti: Similarity-based classification, 2009"}});

}  // namespace kith
