// SPDX-License-Identifier: Apache-2.0
#include "kith/core/shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kith/core/error.hpp"

namespace kith {
namespace {

TEST(Shape, OnlySquareMatricesPass) {
  check_square("the matrix", 0, 0);
  check_square("the matrix", 3, 3);
  EXPECT_THAT([] { check_square("the block", 3, 4); },
              testing::ThrowsMessage<Error>("the block is 3 x 4; it must be square"));
}

}  // namespace
}  // namespace kith
