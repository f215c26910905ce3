// SPDX-License-Identifier: Apache-2.0
// The list of methods with the skeleton alone, in the place of include/kith/learn/method_list.hpp.
#pragma once

#include "kith/learn/method.hpp"
#include "skeleton.hpp"

namespace kith {

using Methods = MethodList<SkeletonSettings>;

}  // namespace kith
