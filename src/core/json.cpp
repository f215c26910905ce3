// SPDX-License-Identifier: Apache-2.0
#include "kith/core/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace kith {

Json real(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json real(const Vector& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(real(value));
  return list;
}

}  // namespace kith
