// SPDX-License-Identifier: Apache-2.0
// Vectors that start at a cache line: a load as wide as a line that straddles two takes twice as
// long.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "kith/core/types.hpp"

namespace kith::dual {

inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

template <class T>
struct CacheAligned {
  using value_type = T;
  CacheAligned() = default;
  template <class U>
  CacheAligned(const CacheAligned<U>&) {}  // NOLINT(google-explicit-constructor): rebinding
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{kCacheLine}));
  }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{kCacheLine}); }
  bool operator==(const CacheAligned&) const { return true; }
};

template <class T>
using AlignedVector = std::vector<T, CacheAligned<T>>;

/// Memory that is not initialised and only ever grows: pages that nothing is written to cost
/// nothing.
template <class T>
class AlignedMemory {
 public:
  [[nodiscard]] T* data() const { return memory_.get(); }
  /// Room for `n`; loses what it held if it must grow.
  void require(std::size_t n) {
    if (n <= capacity_) return;
    capacity_ = n;
    constexpr std::align_val_t kAlign{kHugePage};
    memory_.reset(static_cast<T*>(::operator new(capacity_ * sizeof(T), kAlign)));
#ifdef __linux__
    // Columns are written once or twice: a page fault for every 4 KiB would cost as much as that.
    madvise(memory_.get(), capacity_ * sizeof(T) / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete (p, std::align_val_t{kHugePage}); }
  };
  std::unique_ptr<T, Free> memory_;
  std::size_t capacity_ = 0;
};

/// The length at which the next column starts at a cache line, and two vectors of any width in use
/// leave no remainder.
template <class T>
[[nodiscard]] constexpr Index padded(Index n) {
  constexpr auto kTwoLines = static_cast<Index>(2 * kCacheLine / sizeof(T));
  return (n + kTwoLines - 1) / kTwoLines * kTwoLines;
}

}  // namespace kith::dual
