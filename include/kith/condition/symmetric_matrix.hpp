// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <new>
#include <utility>

#include "kith/core/types.hpp"

namespace kith {

/// A symmetric matrix to read: its own numbers, which copies share, or a view of numbers that stay
/// alive elsewhere.
class SymmetricMatrix : public Eigen::Map<const Matrix> {
 public:
  using View = Eigen::Map<const Matrix>;

  SymmetricMatrix() : View(nullptr, 0, 0) {}
  SymmetricMatrix(const View& view) : View(view) {}  // NOLINT(google-explicit-constructor)
  SymmetricMatrix(Matrix own)                        // NOLINT(google-explicit-constructor)
      : SymmetricMatrix(std::make_shared<const Matrix>(std::move(own))) {}
  SymmetricMatrix(const SymmetricMatrix&) = default;
  ~SymmetricMatrix() = default;
  SymmetricMatrix& operator=(const SymmetricMatrix& other) {
    if (this == &other) return *this;
    own_ = other.own_;
    new (static_cast<View*>(this)) View(other);  // as Eigen has a Map changed
    return *this;
  }

 private:
  explicit SymmetricMatrix(std::shared_ptr<const Matrix> own)
      : View(own->data(), own->rows(), own->cols()), own_(std::move(own)) {}

  std::shared_ptr<const Matrix> own_;
};

}  // namespace kith
