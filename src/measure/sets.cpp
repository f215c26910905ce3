// SPDX-License-Identifier: Apache-2.0
#include "measure/sets.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "data/formats/checks.hpp"
#include "measure/strings.hpp"

namespace kith::detail {

SetData read_sets(const std::string& path, const RunContext& ctx) {
  StringData lines = read_lines(path,
                                {.samples = "sets",
                                 .as_meant = "give each an id (id<TAB>words)",
                                 .of_fasta = "sequences are compared by smith-waterman and "
                                             "needleman-wunsch"},
                                ctx);
  SetData data{.source = std::move(lines.source), .ids = std::move(lines.ids), .values = {}};
  data.values.reserve(lines.values.size());
  std::vector<std::string_view> words;
  for (const std::string& line : lines.values) {
    split_blanks(line, words);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    data.values.emplace_back(words.begin(), words.end());
  }
  return data;
}

}  // namespace kith::detail
