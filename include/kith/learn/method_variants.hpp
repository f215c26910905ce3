// SPDX-License-Identifier: Apache-2.0
// What AnySettings and AnyModel of registry.hpp hold. Few sources include this: it knows the header
// of every method, and the others compile quickly.
#pragma once

#include "kith/learn/method_list.hpp"
#include "kith/learn/registry.hpp"

namespace kith {

struct SettingsVariant : Methods::Settings {
  using Methods::Settings::variant;
};
struct ModelVariant : Methods::Model {
  using Methods::Model::variant;
};

}  // namespace kith
