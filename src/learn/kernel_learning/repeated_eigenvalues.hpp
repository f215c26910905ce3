// SPDX-License-Identifier: Apache-2.0
// Methods that learn one number per eigenvector of a matrix depend on which eigenvectors a repeated
// eigenvalue was given.
#pragma once

#include <string>
#include <vector>

#include "kith/core/types.hpp"

namespace kith::detail {

/// Whether what was learned differs among eigenvalues (ascending) that are the same up to rounding:
/// the kernel is then no function of the matrix alone.
[[nodiscard]] bool differ_where_repeated(const Vector& lambda, const Vector& learned);

/// The note about it; `where` are the matrices or pairs of classes concerned.
[[nodiscard]] std::string repeated_note(const std::vector<std::string>& where);

}  // namespace kith::detail
