// SPDX-License-Identifier: Apache-2.0
#include "report/sections.hpp"

#include <fmt/format.h>

#include "kith/report/text_art.hpp"

namespace kith {

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string heading(const std::string& text, const TextStyle& style) {
  return style.colour ? "\n\033[1m" + text + "\033[0m\n" : "\n" + text + "\n";
}

std::string fact(const std::string& name, const std::string& value, const TextStyle& style) {
  constexpr std::size_t kNameWidth = 15;
  const std::string indent(kNameWidth + 2, ' ');
  std::string text = wrap(value, style.width, indent);
  text.replace(0, indent.size(), fmt::format("  {:<{}}", name, kNameWidth));
  return text;
}

}  // namespace kith
