// SPDX-License-Identifier: Apache-2.0
// Built in place of the bundled page where KITH_REPORT_BUNDLE is off.
#include "report/page_source.hpp"

namespace kith {

std::string_view page_source() { return {}; }

}  // namespace kith
