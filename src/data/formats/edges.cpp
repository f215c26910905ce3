// SPDX-License-Identifier: Apache-2.0
// Edge list: `id id weight` per line, separated by tabs, commas or blanks (the first pair decides).
// Lines that begin with # are comments, except those of kith itself, which carry what a bare list
// cannot: `#kith directed`, `#kith bipartite`, `#kith absent zero`, and `#kith id|row|column NAME`,
// which fix the order of the samples and keep those without a pair.
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "data/formats/checks.hpp"
#include "data/formats/pair_list.hpp"
#include "data/formats/readers.hpp"
#include "data/formats/text_out.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr std::string_view kDirective = "#kith ";
constexpr long kLinesBetweenChecks = 1L << 16;

enum class Separator { kTab, kComma, kBlank };

Separator separator_of(std::string_view line) {
  if (line.find('\t') != std::string_view::npos) return Separator::kTab;
  if (line.find(',') != std::string_view::npos) return Separator::kComma;
  return Separator::kBlank;
}

/// The first fields of a line, and how many it has (counted up to one more than are kept).
struct Fields {
  std::array<std::string_view, 3> text;
  std::size_t count = 0;

  void add(std::string_view field) {
    if (count < text.size()) text[count] = trimmed_in_place(field);
    ++count;
  }
};

Fields split_line(std::string_view line, Separator separator) {
  Fields fields;
  const char mark = separator == Separator::kTab ? '\t' : ',';
  while (fields.count <= fields.text.size()) {
    if (separator == Separator::kBlank) {
      const std::size_t start = line.find_first_not_of(' ');
      if (start == std::string_view::npos) break;
      line.remove_prefix(start);
    }
    const std::size_t end = line.find(separator == Separator::kBlank ? ' ' : mark);
    fields.add(line.substr(0, end));
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  return fields;
}

void follow_directive(std::string_view text, const LineReader& lines, PairList& list) {
  const std::size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  const std::string_view name =
      space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  if (word == "directed" && name.empty()) {
    list.set_direction(PairList::Direction::kDirected);
  } else if (word == "bipartite" && name.empty() && list.empty()) {
    list.set_bipartite();
  } else if (word == "absent" && name == "zero") {
    list.set_absent(Absent::kZero);
  } else if ((word == "id" || word == "row") && !name.empty()) {
    list.declare_row(name, lines.line_number());
  } else if (word == "column" && !name.empty()) {
    list.declare_column(name, lines.line_number());
  } else {
    throw bad_input(lines.place(),
                    in_quotes(text) +
                        " is no instruction of an edge list: directed, bipartite (before the first "
                        "pair), absent zero, id NAME, row NAME and column NAME are");
  }
}

void add_pair(std::string_view line, Separator separator, const LineReader& lines, PairList& list) {
  const Fields fields = split_line(line, separator);
  if (fields.count != 3) {
    const std::string has = fields.count > 3 ? "more than 3" : std::to_string(fields.count);
    throw bad_input(lines.place(), in_quotes(line) + " has " + has +
                                       " fields; an edge is id, id and weight, separated by " +
                                       (separator == Separator::kTab     ? "tabs"
                                        : separator == Separator::kComma ? "commas"
                                                                         : "blanks"));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (fields.text[i].empty()) throw bad_input(lines.place_of(fields.text[i]), "the id is empty");
  }
  if (list.empty() && !parse_double(fields.text[2])) {
    throw bad_input(
        lines.place_of(fields.text[2]),
        in_quotes(fields.text[2]) + " is not a number; a line of column names must begin with #");
  }
  const double weight = number_in(fields.text[2], lines, MissingWord::kRefused);
  list.add(fields.text[0], fields.text[1], weight, lines.line_number());
}

bool is_count(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// --- writing

struct WrittenIds {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  bool bipartite = false;
};

std::vector<std::string> positions(Index count) {
  std::vector<std::string> ids;
  ids.reserve(static_cast<std::size_t>(count));
  for (Index i = 1; i <= count; ++i) ids.push_back(std::to_string(i));
  return ids;
}

void refuse_unwritable(const std::vector<std::string>& ids, const std::string& file) {
  IdTable seen;
  for (const std::string& id : ids) {
    const bool clean = !id.empty() && id.find_first_of("\t\n\r") == std::string::npos &&
                       id.front() != '#' && trim(id).size() == id.size();
    if (!clean) {
      throw Error(ErrorCode::kInvalidArgument,
                  file + ": the id " + in_quotes(id) +
                      " cannot stand in an edge list (no tabs, line ends, outer blanks or leading "
                      "#, and not empty)");
    }
    const Index before = seen.size();
    if (seen.intern(id) != before) {
      throw Error(ErrorCode::kInvalidArgument, file + ": the id " + in_quotes(id) +
                                                   " occurs twice; an edge list needs one each");
    }
  }
}

WrittenIds ids_of(const SimilaritySet& set, const std::string& file) {
  WrittenIds ids;
  ids.rows = set.row_ids;
  ids.columns = set.column_ids;
  const bool square = set.rows() == set.cols();
  if (square && ids.rows.empty()) ids.rows = ids.columns;
  if (ids.rows.empty()) ids.rows = positions(set.rows());
  if (ids.columns.empty()) ids.columns = square ? ids.rows : positions(set.cols());
  ids.bipartite = ids.rows != ids.columns;
  refuse_unwritable(ids.rows, file);
  if (ids.bipartite) refuse_unwritable(ids.columns, file);
  return ids;
}

/// A complete table needs no instructions: its pairs name every sample in order and both ways.
bool is_complete(const Block& block) {
  const auto* dense = std::get_if<DenseBlock>(&block);
  return dense != nullptr && missing_pairs(block) == 0;
}

void write_instructions(TextOut& out, const WrittenIds& ids, const Block& block) {
  if (ids.bipartite) {
    out << "#kith bipartite";
    out.end_line();
  }
  if (is_complete(block)) return;
  if (!ids.bipartite) {
    out << "#kith directed";
    out.end_line();
  }
  const auto* sparse = std::get_if<SparseBlock>(&block);
  if (sparse != nullptr && sparse->absent == Absent::kZero) {
    out << "#kith absent zero";
    out.end_line();
  }
  for (const std::string& id : ids.rows) {
    out << (ids.bipartite ? "#kith row " : "#kith id ") << id;
    out.end_line();
  }
  if (!ids.bipartite) return;
  for (const std::string& id : ids.columns) {
    out << "#kith column " << id;
    out.end_line();
  }
}

}  // namespace

bool looks_like_edges(std::string_view head) {
  if (head.starts_with(kDirective)) return true;
  constexpr std::size_t kLooked = 100;
  const std::vector<std::string_view> lines = whole_lines(head, '#', kLooked);
  if (lines.empty()) return false;
  const Separator separator = separator_of(lines.front());
  bool words = true;   // both ids are text in every line
  bool counts = true;  // both are whole numbers in every line
  bool fraction = false;
  for (const std::string_view line : lines) {
    const Fields fields = split_line(line, separator);
    if (fields.count != 3 || fields.text[0].empty() || fields.text[1].empty()) return false;
    const std::optional<double> weight = parse_double(fields.text[2]);
    if (!weight || !std::isfinite(*weight)) return false;
    words = words && !parse_double(fields.text[0]) && !parse_double(fields.text[1]);
    counts = counts && is_count(fields.text[0]) && is_count(fields.text[1]);
    fraction = fraction || *weight != std::floor(*weight);
  }
  // Three columns of numbers may be a matrix: of three rows, or one of whole numbers.
  return words || (counts && lines.size() > 3 && (fraction || separator == Separator::kBlank));
}

SimilaritySet read_edges(ByteSource& source, const ReadSettings& settings, const RunContext& ctx) {
  LineReader lines(source);
  PairList list(source.name(), settings);
  std::optional<Separator> separator;
  std::string_view line;
  while (lines.next(line)) {
    if (lines.line_number() % kLinesBetweenChecks == 0) source.report("reading edges", ctx);
    if (line.starts_with(kDirective)) {
      follow_directive(line.substr(kDirective.size()), lines, list);
      continue;
    }
    if (line.starts_with('#') || trim(line).empty()) continue;
    if (!separator) separator = separator_of(line);
    add_pair(line, *separator, lines, list);
  }
  return list.finish(ctx);
}

void write_edges(AtomicFile& file, const SimilaritySet& set, const RunContext& ctx) {
  const WrittenIds ids = ids_of(set, file.path());
  TextOut out(file);
  write_instructions(out, ids, set.block);
  const auto put = [&](Index i, Index j, double value) {
    out << ids.rows[static_cast<std::size_t>(i)] << '\t' << ids.columns[static_cast<std::size_t>(j)]
        << '\t' << value;
    out.end_line();
  };
  const auto* dense = std::get_if<DenseBlock>(&set.block);
  const auto* sparse = std::get_if<SparseBlock>(&set.block);
  for (Index i = 0; i < set.rows(); ++i) {
    ctx.check_stop();
    if (dense != nullptr) {
      for (Index j = 0; j < set.cols(); ++j) {
        if (!std::isnan((*dense)(i, j))) put(i, j, (*dense)(i, j));
      }
      continue;
    }
    const SparseRow row = sparse->row(i);
    for (std::size_t e = 0; e < row.size(); ++e) put(i, row.columns[e], row.values[e]);
  }
  out.flush();
}

}  // namespace kith::detail
