// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "kith/measure/raw_matrix.hpp"

namespace kith::test {

inline RawMatrix raw_matrix(std::string name, Measure measure, RawData samples, Index file = 0) {
  RawMatrix matrix;
  matrix.name = std::move(name);
  matrix.measure.measure = measure;
  matrix.samples = std::move(samples);
  matrix.file = file;
  return matrix;
}

}  // namespace kith::test
