// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace kith {

/// Cores this process may use (its affinity mask), at least 1.
[[nodiscard]] int available_cores();

/// Runs body(0) .. body(count-1), each exactly once, on at most `threads` threads (oneTBB).
/// Units are independent and write to their own slots, so results do not depend on `threads`.
/// The first exception in index order is rethrown after all started units have ended.
/// May be nested; inner calls share the outer call's threads.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body);

/// The same over chunks [begin, end) of at most `grain` items, whose bounds depend on `grain`
/// alone.
void parallel_chunks(std::size_t count, std::size_t grain, int threads,
                     const std::function<void(std::size_t begin, std::size_t end)>& body);

}  // namespace kith
