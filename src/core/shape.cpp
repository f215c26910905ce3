// SPDX-License-Identifier: Apache-2.0
#include "kith/core/shape.hpp"

#include "core/errors.hpp"

namespace kith {

void check_square(std::string_view what, Index rows, Index cols) {
  if (rows != cols) throw invalid("{} is {} x {}; it must be square", what, rows, cols);
}

}  // namespace kith
