// SPDX-License-Identifier: Apache-2.0
#include "kith/core/mention.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kith {

std::string spelled(std::string_view text, Spelling spelling) {
  constexpr std::string_view kOpen = "[[";
  constexpr std::string_view kClose = "]]";
  std::string result;
  while (true) {
    const std::size_t open = text.find(kOpen);
    const std::size_t close = open == std::string_view::npos ? open : text.find(kClose, open);
    if (close == std::string_view::npos) return result.append(text);
    const std::string_view inside = text.substr(open + kOpen.size(), close - open - kOpen.size());
    const std::string_view id = inside.substr(0, inside.find('='));
    if (std::find(kMentioned.begin(), kMentioned.end(), id) == kMentioned.end()) {
      result.append(text.substr(0, open + 1));
      text.remove_prefix(open + 1);
      continue;
    }
    const std::string_view value = id == inside ? "" : inside.substr(id.size() + 1);
    result.append(text.substr(0, open)).append(spelling(id, value));
    text.remove_prefix(close + kClose.size());
  }
}

Json spelled_json(Json document, Spelling spelling) {
  if (document.is_string()) return spelled(document.get_ref<const std::string&>(), spelling);
  if (document.is_structured()) {
    for (Json& part : document) part = spelled_json(std::move(part), spelling);
  }
  return document;
}

}  // namespace kith
