// SPDX-License-Identifier: Apache-2.0
// Tabular output of BLAST (outfmt 6, and 7 with its comments), DIAMOND and MMseqs2: tab-separated,
// the ids in the first two columns. Search tools report several alignments of a pair and leave
// unrelated pairs out; the first is a matter of --duplicates, the second of --missing.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "data/formats/pair_list.hpp"
#include "data/formats/readers.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr std::size_t kColumns = 12;
constexpr long kLinesBetweenChecks = 1L << 16;

struct ColumnName {
  std::string_view name;
  std::size_t column;  // from 1
};
// The names of BLAST, then those other tools give to the same columns.
constexpr std::array<ColumnName, 23> kNames = {
    {{"qaccver", 1}, {"saccver", 2},   {"pident", 3}, {"length", 4}, {"mismatch", 5},
     {"gapopen", 6}, {"qstart", 7},    {"qend", 8},   {"sstart", 9}, {"send", 10},
     {"evalue", 11}, {"bitscore", 12}, {"qseqid", 1}, {"sseqid", 2}, {"query", 1},
     {"target", 2},  {"qacc", 1},      {"sacc", 2},   {"fident", 3}, {"alnlen", 4},
     {"tstart", 9},  {"tend", 10},     {"bits", 12}}};

struct ScoreColumn {
  std::size_t column = kColumns;  // from 1
  bool named = true;              // a name stands for one of the twelve
};

ScoreColumn score_column(const std::string& wanted) {
  const std::string rule =
      "; it is the name of a number column of outfmt 6 (pident, length, mismatch, gapopen, qstart, "
      "qend, sstart, send, evalue, bitscore) or a column number from 3";
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [&](const ColumnName& c) { return c.name == wanted; });
  ScoreColumn chosen;
  if (found != kNames.end()) {
    chosen = {found->column, true};
  } else {
    const std::optional<long long> number = parse_integer(wanted);
    if (!number || *number < 1 || *number > 100000) {
      throw invalid("the score column {} is not known{}", in_quotes(wanted), rule);
    }
    chosen = {static_cast<std::size_t>(*number), false};
  }
  if (chosen.column < 3) throw invalid("the score column {} holds ids{}", in_quotes(wanted), rule);
  return chosen;
}

/// Splits at tabs, as many fields as are asked for; gives back how many there were.
std::size_t split_tabs(std::string_view line, std::size_t most,
                       std::vector<std::string_view>& fields) {
  fields.clear();
  while (fields.size() < most) {
    const std::size_t end = line.find('\t');
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  return fields.size();
}

/// The comments of outfmt 7 name every query, and say `# 0 hits found` of one that has no line of
/// its own below. `query` is the last that was named.
void note_query_without_hits(std::string_view comment, std::string& query, long line,
                             PairList& list) {
  constexpr std::string_view kQuery = "# Query: ";
  if (comment.starts_with(kQuery)) {
    const std::string_view title = trim(comment.substr(kQuery.size()));
    query = title.substr(0, title.find_first_of(" \t"));
  } else if (trim(comment) == "# 0 hits found" && !query.empty()) {
    list.declare_row(query, line);
  }
}

std::optional<std::size_t> named_column(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &ColumnName::name);
  return found == kNames.end() ? std::nullopt : std::optional(found->column);
}

}  // namespace

bool looks_like_blast(std::string_view head) {
  constexpr std::size_t kLooked = 50;
  const std::vector<std::string_view> lines = whole_lines(head, '#', kLooked);
  std::vector<std::string_view> fields;
  bool words = false;
  for (const std::string_view line : lines) {
    if (split_tabs(line, kColumns, fields) < kColumns) return false;
    for (std::size_t i = 2; i < kColumns; ++i) {
      if (!parse_double(trim(fields[i]))) return false;
    }
    for (std::size_t i = 6; i < 10; ++i) {  // where the alignment begins and ends
      if (!parse_integer(trim(fields[i]))) return false;
    }
    words = words || (!parse_double(fields[0]) && !parse_double(fields[1]));
  }
  return words;  // a table of numbers with an id column has none in its second
}

SimilaritySet read_blast(ByteSource& source, const ReadSettings& settings, const RunContext& ctx) {
  const ScoreColumn score = score_column(settings.score_column);
  const std::size_t needed = score.named ? kColumns : score.column;
  LineReader lines(source);
  PairList list(source.name(), settings);
  std::vector<std::string_view> fields;
  std::string query;  // that the comments above name
  std::string_view line;
  while (lines.next(line)) {
    if (lines.line_number() % kLinesBetweenChecks == 0) source.report("reading alignments", ctx);
    if (line.starts_with('#')) {
      if (settings.bipartite) note_query_without_hits(line, query, lines.line_number(), list);
      continue;
    }
    if (trim(line).empty()) continue;
    const std::size_t count = split_tabs(line, needed, fields);
    if (count < needed) {
      throw bad_input(lines.place(),
                      "{} has {} tab-separated columns where at least {} are needed{}",
                      in_quotes(line), count, needed,
                      score.named ? " (outfmt 6); name the score column by number in tables "
                                    "of other columns"
                                  : " for the score column");
    }
    for (std::size_t i = 0; i < 2; ++i) {
      fields[i] = trimmed_in_place(fields[i]);
      if (fields[i].empty()) throw bad_input(lines.place_of(fields[i]), "the id is empty");
    }
    const double value =
        number_in(trimmed_in_place(fields[score.column - 1]), lines, MissingWord::kRefused);
    list.add(fields[0], fields[1], value, lines.line_number());
  }
  SimilaritySet set = list.finish(ctx);
  set.score_column = settings.score_column;
  return set;
}

}  // namespace kith::detail

namespace kith {

bool may_be_same_score(std::string_view column, std::string_view other) {
  const std::optional<std::size_t> first = detail::named_column(column);
  const std::optional<std::size_t> second = detail::named_column(other);
  return !first || !second || *first == *second;
}

}  // namespace kith
