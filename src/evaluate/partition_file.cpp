// SPDX-License-Identifier: Apache-2.0
// Partitions as text: a header line `sample<TAB>1<TAB>2...`, then a line per sample; the same
// without a header; or one partition as a word per line in the order of the rows.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/errors.hpp"
#include "data/formats/delimited.hpp"
#include "data/formats/stream.hpp"
#include "kith/core/text.hpp"
#include "kith/data/atomic_file.hpp"
#include "kith/evaluate/partitions.hpp"

namespace kith {
namespace {

constexpr int kTest = -1;
constexpr int kUnused = -2;
constexpr int kTrain = -3;  // whose fold the file does not say

std::optional<int> part_of(std::string_view cell) {
  if (cell == "test") return kTest;
  if (cell == "train") return kTrain;
  if (cell == "-") return kUnused;
  const std::optional<long long> fold = parse_integer(cell);
  if (fold && *fold >= 1 && *fold <= 1000) return static_cast<int>(*fold) - 1;
  return std::nullopt;
}

bool is_cell(std::string_view cell) { return part_of(cell).has_value(); }

int parse_cell(std::string_view cell, const FilePlace& place) {
  if (const std::optional<int> part = part_of(cell)) return *part;
  throw bad_input(place, "{} must be `test`, `train`, a fold (1 to 1000) or `-`", in_quotes(cell));
}

/// Which sample a line is about.
class SampleNames {
 public:
  SampleNames(std::span<const std::string> ids, Index samples) : samples_(samples) {
    for (std::size_t i = 0; i < ids.size(); ++i) position_.emplace(ids[i], i);
  }

  std::size_t find(std::string_view name, const FilePlace& place) const {
    if (position_.empty()) {
      const std::optional<long long> at = parse_integer(name);
      if (at && *at >= 1 && *at <= samples_) return static_cast<std::size_t>(*at - 1);
      throw bad_input(place, "{} must be the position of a sample, 1 to {}", in_quotes(name),
                      samples_);
    }
    const auto found = position_.find(std::string(name));
    if (found != position_.end()) return found->second;
    throw bad_input(place, "{} is not among the samples", in_quotes(name));
  }

 private:
  std::unordered_map<std::string, std::size_t> position_;
  Index samples_;
};

/// A line that is neither a comment nor empty.
struct Line {
  std::string text;
  long number = 0;
  bool after_empty = false;  ///< an empty line stands before it, and another line before that
};

std::vector<Line> read_lines(const std::string& path) {
  detail::ByteSource source = detail::ByteSource::open(path);
  detail::LineReader reader(source);
  std::vector<Line> lines;
  std::string_view text;
  bool empty = false;
  while (reader.next(text)) {
    if (text.starts_with('#')) continue;
    if (trim(text).empty()) {
      empty = !lines.empty();
      continue;
    }
    lines.push_back({std::string(text), reader.place().line, std::exchange(empty, false)});
  }
  if (lines.empty()) throw bad_input({path}, "the file is empty; partitions were expected");
  return lines;
}

/// Reads the three forms of a file. Each becomes cells[sample][partition]; a sample without a line
/// is in no part.
class CellReader {
 public:
  CellReader(const std::string& path, std::span<const std::string> ids, Index samples,
             std::string_view unordered)
      : path_(path),
        ids_(ids),
        samples_(samples),
        unordered_(unordered),
        lines_(read_lines(path)),
        separator_(lines_.front().text.find('\t') != std::string::npos ? '\t' : ',') {}

  std::vector<std::vector<int>> read() const {
    const std::vector<std::string_view> first = split(lines_.front().text, separator_);
    if (first.size() == 1) return read_list();
    const bool header =
        first.front() == "sample" || (first.front() == "id" && !is_cell(trim(first.back())));
    return read_table(first.size(), header);
  }

 private:
  [[nodiscard]] FilePlace place(const Line& line, std::string_view part) const {
    return detail::place_in(path_, line.number, line.text,
                            static_cast<std::size_t>(part.data() - line.text.data()));
  }

  /// A word for each sample, in the order of the rows.
  [[nodiscard]] std::vector<std::vector<int>> read_list() const {
    const Line& first = lines_.front();
    if (!is_cell(trim(first.text))) {
      throw bad_input(
          {path_, first.number},
          "{} is no part of a division: a file has `test`, `train`, a fold (1 to 1000) or `-` for "
          "each sample on a line of its own, in the order of the rows, or after the id of the "
          "sample and a tab; or it begins with `sample`, then a name per partition, separated by "
          "tabs",
          in_quotes(trim(first.text)));
    }
    if (!unordered_.empty()) {
      throw bad_input({path_},
                      "it has no ids, but {} lists pairs of ids, which have no order. Write the id "
                      "of a sample before its part, separated by a tab, such as {}<TAB>{}",
                      unordered_, ids_.empty() ? "ID" : ids_.front(), trim(first.text));
    }
    std::vector<std::vector<int>> cells;
    for (const Line& line : lines_) {
      if (line.after_empty) {
        throw bad_input({path_, line.number - 1},
                        "an empty line; a list without ids has a word for each sample");
      }
      cells.push_back({parse_cell(trim(line.text), {path_, line.number})});
    }
    if (std::ssize(cells) != samples_) {
      throw bad_input({path_}, "{} lines for {} samples; a list without ids has one for each",
                      cells.size(), samples_);
    }
    return cells;
  }

  /// The name of a sample and a cell per partition on each line.
  [[nodiscard]] std::vector<std::vector<int>> read_table(std::size_t columns, bool header) const {
    const SampleNames names(ids_, samples_);
    std::vector<std::vector<int>> cells(static_cast<std::size_t>(samples_));
    for (const Line& line : std::span(lines_).subspan(header ? 1 : 0)) {
      const std::vector<std::string_view> parts = split(line.text, separator_);
      if (parts.size() != columns) {
        throw bad_input({path_, line.number}, "{} cell{}; the first line has {}", parts.size(),
                        parts.size() == 1 ? "" : "s", columns);
      }
      std::vector<int>& row = cells[names.find(parts.front(), place(line, parts.front()))];
      if (!row.empty()) {
        throw bad_input({path_, line.number}, "sample {} stands twice", in_quotes(parts.front()));
      }
      for (std::size_t i = 1; i < columns; ++i) {
        row.push_back(parse_cell(trim(parts[i]), place(line, parts[i])));
      }
    }
    for (std::vector<int>& row : cells) row.resize(columns - 1, kUnused);
    return cells;
  }

  const std::string& path_;
  std::span<const std::string> ids_;
  Index samples_;
  std::string_view unordered_;
  std::vector<Line> lines_;
  char separator_;
};

/// Folds where the file says `train` alone.
void fill_folds(Partition& partition, std::size_t index, const std::string& path,
                const FoldsOf& folds_of) {
  const auto without = std::ranges::count(partition.fold_of, kTrain);
  if (without == 0) return;
  if (without != std::ssize(partition.fold_of)) {
    throw bad_input({path},
                    "partition {} has `train` beside numbers of folds; all of its training samples "
                    "are numbered or none is",
                    index + 1);
  }
  if (!folds_of) throw bad_input({path}, "partition {} has no folds", index + 1);
  partition.fold_of = folds_of(partition.train, index);
}

}  // namespace

std::vector<Partition> read_partitions(const std::string& path, std::span<const std::string> ids,
                                       Index samples, const FoldsOf& folds_of,
                                       std::string_view unordered) {
  const std::vector<std::vector<int>> cells = CellReader(path, ids, samples, unordered).read();
  std::vector<Partition> partitions(cells.empty() ? 0 : cells.front().size());
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const int cell = cells[i][p];
      if (cell == kUnused) continue;
      if (cell == kTest) {
        partitions[p].test.push_back(static_cast<Index>(i));
      } else {
        partitions[p].train.push_back(static_cast<Index>(i));
        partitions[p].fold_of.push_back(cell);
      }
    }
    fill_folds(partitions[p], p, path, folds_of);
  }
  try {
    check_partitions(partitions, samples);
  } catch (const Error& error) {
    throw Error(ErrorCode::kBadInput, path + ": " + error.what());
  }
  return partitions;
}

void write_partitions(const std::string& path, std::span<const Partition> partitions,
                      std::span<const std::string> ids, Index samples) {
  std::vector<std::vector<std::string>> cells(static_cast<std::size_t>(samples),
                                              std::vector<std::string>(partitions.size(), "-"));
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    for (const Index i : partitions[p].test) cells[static_cast<std::size_t>(i)][p] = "test";
    for (std::size_t t = 0; t < partitions[p].train.size(); ++t) {
      cells[static_cast<std::size_t>(partitions[p].train[t])][p] =
          std::to_string(partitions[p].fold_of[t] + 1);
    }
  }
  std::string text = "sample";
  for (std::size_t p = 0; p < partitions.size(); ++p) text += fmt::format("\t{}", p + 1);
  text += '\n';
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string name = ids.empty() ? std::to_string(i + 1) : ids[i];
    if (name.find_first_of("\t\r\n") != std::string::npos || name.starts_with('#')) {
      throw invalid(
          "{}: the id {} cannot stand in a partition file (tab, line end or a "
          "leading #)",
          path, in_quotes(name));
    }
    text += name;
    for (const std::string& cell : cells[i]) text += "\t" + cell;
    text += '\n';
  }
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace kith
