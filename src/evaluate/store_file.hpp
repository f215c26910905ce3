// SPDX-License-Identifier: Apache-2.0
// Opening, checking, creating and closing the file of a store.
#pragma once

#include "evaluate/sqlite.hpp"
#include "kith/evaluate/store.hpp"

namespace kith::detail {

/// A connection to a store of the current version, new where there was nothing. Throws Error naming
/// the file and what is wrong with it.
[[nodiscard]] SqlConnection open_store(const std::string& path, StoreAccess access,
                                       std::chrono::milliseconds patience);

/// Before the connection is closed: leaves one file without companions if nobody else has it open.
void settle_store(SqlConnection& connection) noexcept;

}  // namespace kith::detail
