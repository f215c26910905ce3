// SPDX-License-Identifier: Apache-2.0
#include "measure/readers.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "kith/core/text.hpp"
#include "measure/strings.hpp"

namespace kith::detail {
namespace {

/// "y,n,?" on every line: a table, whose cells nothing separates here.
bool is_table(const std::vector<std::string>& lines) {
  const auto commas = [](const std::string& line) { return std::ranges::count(line, ','); };
  return lines.size() > 1 && std::ranges::all_of(lines, [&](const std::string& line) {
           return line.find_first_of(" \t") == std::string::npos && commas(line) > 0 &&
                  commas(line) == commas(lines.front());
         });
}

}  // namespace

SetData read_sets(const std::string& path, const RunContext& ctx) {
  const LineKind kind{
      .reading = {.samples = "sets",
                  .as_meant = "give each an id (id<TAB>words)",
                  .of_fasta = "sequences are compared by smith-waterman and needleman-wunsch"},
      .sample = "set",
      .with_id = "id<TAB>words"};
  StringData lines = read_lines(path, kind, ctx);
  if (is_table(lines.values)) {
    throw bad_input({path, 1},
                    "{} has no blank, and neither has any other line: every set would "
                    "be one word, commas and all. The words of a set are separated by "
                    "blanks; a table of words is compared by value-difference",
                    in_quotes(lines.values.front()));
  }
  SetData data{.source = std::move(lines.source), .ids = std::move(lines.ids), .values = {}};
  data.values.reserve(lines.values.size());
  std::vector<std::string_view> words;
  for (const std::string& line : lines.values) {
    split_blanks(line, words);
    if (words.empty() && data.ids.empty()) {
      refuse_empty_line({path, std::ssize(data.values) + 1}, kind);
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    data.values.emplace_back(words.begin(), words.end());
  }
  return data;
}

}  // namespace kith::detail
