// SPDX-License-Identifier: Apache-2.0
#include "report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "kith/core/text.hpp"

namespace kith {
namespace {

/// C0 and C1 controls, line and paragraph separators, and the marks that turn the direction of
/// text: what a terminal or an editor would obey instead of showing.
bool is_obeyed(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

std::string shown(char32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\u{{{:x}}}", static_cast<unsigned>(c));
  }
}

constexpr std::pair<char, std::string_view> kLatex[] = {
    {'\\', "\\textbackslash{}"},
    {'{', "\\{"},
    {'}', "\\}"},
    {'$', "\\$"},
    {'&', "\\&"},
    {'#', "\\#"},
    {'%', "\\%"},
    {'_', "\\_"},
    {'^', "\\textasciicircum{}"},
    {'~', "\\textasciitilde{}"},
    {'<', "\\textless{}"},
    {'>', "\\textgreater{}"},
    {'|', "\\textbar{}"},
    {'"', "\\char34{}"},  // active in some languages of babel
    {'`', "\\char96{}"},
    {'\'', "\\char39{}"},
    {'[', "{[}"},  // after the end of a row, [ and * would be arguments of it
    {'*', "{*}"},
};

}  // namespace

std::string visible(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t next = at + 1;  // behind the continuation bytes of this character
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0U) == 0x80U) ++next;
    const std::string_view piece = text.substr(at, next - at);
    const std::optional<std::u32string> point = code_points(piece);
    if (!point || point->size() != 1) {
      for (const char byte : piece) {
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else {
      result += is_obeyed(point->front()) ? shown(point->front()) : std::string(piece);
    }
    at = next;
  }
  return result;
}

std::string escape_text(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled += c == '\\' ? "\\\\" : std::string(1, c);
  return visible(doubled);
}

std::string escape_csv(std::string_view text) {
  const bool plain =
      text.find_first_of(",\"\r\n") == std::string_view::npos && trim(text).size() == text.size();
  if (plain) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

std::string escape_markdown(std::string_view text) {
  const std::string shown = visible(text);
  std::string result;
  bool only_digits = true;  // so far: "1. name", "2) name" and "- name" would begin a list
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    const bool begins_list = only_digits && shown.substr(i + 1, 1) == " " &&
                             std::string_view("-+.)").find(c) != std::string_view::npos;
    const bool markup = std::string_view("\\`*_{}[]<>#|$~&!^@").find(c) != std::string_view::npos;
    if (begins_list || markup) result += '\\';
    result += c;
    only_digits = only_digits && c >= '0' && c <= '9';
  }
  return result;
}

std::string escape_latex(std::string_view text) {
  std::string result;
  char before = 0;
  for (const char c : visible(text)) {
    if (c == '-' && before == '-') result += "{}";  // two would become a dash
    const auto* special = std::ranges::find(kLatex, c, &std::pair<char, std::string_view>::first);
    result += special == std::end(kLatex) ? std::string_view(&c, 1) : special->second;
    before = c;
  }
  return result;
}

}  // namespace kith
