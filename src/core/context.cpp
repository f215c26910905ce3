// SPDX-License-Identifier: Apache-2.0
#include "kith/core/context.hpp"

#include "kith/core/error.hpp"

namespace kith {

void RunContext::check_stop() const {
  if (stop.stop_requested()) throw Error(ErrorCode::kInterrupted, "interrupted");
}

}  // namespace kith
