// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

#include "kith/core/error.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {

/// What `work` returns. Where it throws and the matrix at hand is one of several, the message
/// begins with the name of the matrix.
template <class Function>
auto of_matrix(const std::string& name, std::size_t matrices, const Function& work) {
  if (matrices == 1) return work();
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInterrupted) throw;
    throw Error(error.code(), fmt::format("matrix {}: {}", in_quotes(name), error.what()));
  }
}

}  // namespace kith::detail
