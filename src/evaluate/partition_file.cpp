// SPDX-License-Identifier: Apache-2.0
// Partitions as text: a header line `sample<TAB>1<TAB>2...`, then a line per sample.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/errors.hpp"
#include "data/formats/stream.hpp"
#include "kith/core/text.hpp"
#include "kith/data/atomic_file.hpp"
#include "kith/evaluate/partitions.hpp"

namespace kith {
namespace {

constexpr int kTest = -1;
constexpr int kUnused = -2;
constexpr int kTrain = -3;  // whose fold the file does not say

int parse_cell(std::string_view cell, const FilePlace& place) {
  if (cell == "test") return kTest;
  if (cell == "train") return kTrain;
  if (cell == "-") return kUnused;
  const std::optional<long long> fold = parse_integer(cell);
  if (fold && *fold >= 1 && *fold <= 1000) return static_cast<int>(*fold) - 1;
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

/// cells[sample][partition]; a sample without a line is in no part.
std::vector<std::vector<int>> read_cells(const std::string& path, std::span<const std::string> ids,
                                         Index samples) {
  detail::ByteSource source = detail::ByteSource::open(path);
  detail::LineReader lines(source);
  const SampleNames names(ids, samples);
  std::vector<std::vector<int>> cells(static_cast<std::size_t>(samples));
  std::string_view line;
  std::size_t columns = 0;
  while (lines.next(line)) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string_view> parts = split(line, '\t');
    if (columns == 0) {
      if (parts.size() < 2 || parts.front() != "sample") {
        throw bad_input(lines.place(),
                        "a partition file begins with `sample`, then a name per partition, "
                        "separated by tabs");
      }
      columns = parts.size();
      continue;
    }
    if (parts.size() != columns) {
      throw bad_input(lines.place(), "{} cells; the first line has {}", parts.size(), columns);
    }
    std::vector<int>& row = cells[names.find(parts.front(), lines.place_of(parts.front()))];
    if (!row.empty()) {
      throw bad_input(lines.place(), "sample {} stands twice", in_quotes(parts.front()));
    }
    for (std::size_t i = 1; i < columns; ++i) {
      row.push_back(parse_cell(parts[i], lines.place_of(parts[i])));
    }
  }
  if (columns == 0) throw bad_input({path}, "the file is empty; partitions were expected");
  for (std::vector<int>& row : cells) row.resize(columns - 1, kUnused);
  return cells;
}

/// Folds where the file says `train` alone.
void draw_missing_folds(Partition& partition, std::size_t index, const std::string& path,
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
                                       Index samples, const FoldsOf& folds_of) {
  const std::vector<std::vector<int>> cells = read_cells(path, ids, samples);
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
    draw_missing_folds(partitions[p], p, path, folds_of);
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
