// SPDX-License-Identifier: Apache-2.0
#include "measure/strings.hpp"

#include <fmt/format.h>

#include <string_view>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "kith/core/text.hpp"
#include "measure/readers.hpp"

namespace kith::detail {
namespace {

constexpr long kLinesPerProgress = 1 << 14;

void check_utf8(const LineReader& lines, std::string_view line) {
  if (is_valid_utf8(line)) return;
  throw bad_input(lines.place(), "{} is not UTF-8; strings must be UTF-8 text", in_quotes(line));
}

/// The id and the string of a line with ids.
class IdColumn {
 public:
  explicit IdColumn(const LineKind& kind) : kind_(kind) {}

  /// Takes the id off the front of the line and returns the rest.
  std::string_view take(const LineReader& lines, std::string_view line, StringData& data) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      throw bad_input(lines.place(),
                      "{} has no tab, but the first line has; every line must be "
                      "{}, or none",
                      in_quotes(line), kind_.with_id);
    }
    const std::string id(line.substr(0, tab));
    if (id.empty()) throw bad_input(lines.place(1), "the id before the tab is empty");
    ids_.add(id, lines.place(1));
    data.ids.push_back(id);
    return line.substr(tab + 1);
  }

 private:
  const LineKind& kind_;
  FileIds ids_;
};

void check_tabs(const LineReader& lines, const LineKind& kind, std::string_view string,
                bool has_ids) {
  if (string.find('\t') == std::string_view::npos) return;
  throw bad_input(
      lines.place(),
      has_ids ? fmt::format("{} has a second tab; a line is {}", in_quotes(string), kind.with_id)
              : fmt::format("{} has a tab, but the first line has none; every line must be {}, or "
                            "none",
                            in_quotes(string), kind.with_id));
}

}  // namespace

StringData read_strings(const std::string& path, const RunContext& ctx) {
  return read_lines(path,
                    {.reading = {.samples = "strings",
                                 .as_meant = "give each an id (id<TAB>string)",
                                 .of_fasta = "a file whose name ends in .fasta, .fa, .faa or .fna "
                                             "gives its sequences as strings"},
                     .sample = "string",
                     .with_id = "id<TAB>string"},
                    ctx);
}

void refuse_empty_line(const FilePlace& place, const LineKind& kind) {
  throw bad_input(place,
                  "the line is empty; give every line an id ({}) to have an "
                  "empty {} among the samples",
                  kind.with_id, kind.sample);
}

StringData read_lines(const std::string& path, const LineKind& kind, const RunContext& ctx) {
  ByteSource source = ByteSource::open(path);
  LineReader lines(source);
  StringData data;
  data.source = path;
  IdColumn ids(kind);
  OtherKind other;
  bool has_ids = false;
  long first_empty = 0;  // the line, 0: none
  std::string_view line;
  while (lines.next(line)) {
    check_utf8(lines, line);
    if (data.values.empty()) has_ids = line.find('\t') != std::string_view::npos;
    if (has_ids) {
      line = ids.take(lines, line, data);
    } else {
      other.take(line, lines.line_number());
    }
    check_tabs(lines, kind, line, has_ids);
    if (line.empty() && !has_ids && first_empty == 0) first_empty = lines.line_number();
    data.values.emplace_back(line);
    if (lines.line_number() % kLinesPerProgress == 0) source.report("reading strings", ctx);
  }
  if (data.values.empty()) throw bad_input({path}, "the file has no lines; it must hold strings");
  other.refuse(path, kind.reading);
  if (first_empty != 0) refuse_empty_line({path, first_empty}, kind);
  return data;
}

}  // namespace kith::detail
