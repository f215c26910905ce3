// SPDX-License-Identifier: Apache-2.0
// A value behind a pointer, copied as a value. Its type may be incomplete where a Boxed is used:
// only the source that includes boxed_definition.hpp and instantiates the class needs the
// definition.
#pragma once

#include <memory>

namespace kith {

template <class T>
class Boxed {
 public:
  Boxed();
  explicit Boxed(T value);
  Boxed(const Boxed& other);
  Boxed(Boxed&& other) noexcept;
  Boxed& operator=(const Boxed& other);
  Boxed& operator=(Boxed&& other) noexcept;
  ~Boxed();

  /// Not after the value was moved from.
  [[nodiscard]] T& operator*() { return *value_; }
  [[nodiscard]] const T& operator*() const { return *value_; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace kith
