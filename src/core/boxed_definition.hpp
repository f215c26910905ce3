// SPDX-License-Identifier: Apache-2.0
// The members of Boxed, for the one source that instantiates it for a type: template class
// Boxed<T>.
#pragma once

#include <memory>
#include <utility>

#include "kith/core/boxed.hpp"

namespace kith {

template <class T>
Boxed<T>::Boxed() : value_(std::make_unique<T>()) {}
template <class T>
Boxed<T>::Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
template <class T>
Boxed<T>::Boxed(const Boxed& other)
    : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
template <class T>
Boxed<T>::Boxed(Boxed&& other) noexcept = default;
template <class T>
Boxed<T>& Boxed<T>::operator=(const Boxed& other) {
  if (this != &other) value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
  return *this;
}
template <class T>
Boxed<T>& Boxed<T>::operator=(Boxed&& other) noexcept = default;
template <class T>
Boxed<T>::~Boxed() = default;

}  // namespace kith
