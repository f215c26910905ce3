// SPDX-License-Identifier: Apache-2.0
#include "kith/data/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/errors.hpp"
#include "data/formats/delimited.hpp"
#include "data/formats/idx.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

using detail::Cell;

struct Record {
  std::string text;
  long line = 0;
};

bool same_word(std::string_view text, std::string_view word) {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

/// All lines up to the last that is not blank.
std::vector<Record> read_records(detail::ByteSource& source, char separator) {
  detail::RecordReader reader(source, separator);
  std::vector<Record> records;
  std::size_t wanted = 0;
  std::string_view record;
  while (reader.next(record)) {
    records.push_back({std::string(record), reader.line_number()});
    if (!trim(record).empty()) wanted = records.size();
  }
  records.resize(wanted);
  return records;
}

void check_cell(const std::string& file, const Record& record, const Cell& cell,
                std::string_view what) {
  const FilePlace place = detail::place_in(file, record.line, record.text, cell.offset);
  if (cell.text.empty()) throw bad_input(place, "an empty {}; every line must hold one", what);
  if (!is_valid_utf8(cell.text)) {
    throw bad_input(place,
                    "the {} {} is not UTF-8; convert the file first, for "
                    "example with iconv -f LATIN1 -t UTF-8",
                    what, in_quotes(cell.text));
  }
}

[[noreturn]] void refuse_cells(const std::string& file, const Record& record, std::size_t found) {
  throw bad_input({file, record.line},
                  "{} holds {} cell{}; every line must hold two, an id and a label, "
                  "separated by a tab as on the first line",
                  in_quotes(record.text), found, found == 1 ? "" : "s");
}

/// `swapped` says that the second column could be the ids.
[[noreturn]] void refuse_repeated(const std::string& file, const std::string& id, long earlier,
                                  long line, char separator, bool swapped) {
  std::string message = fmt::format("the id {} stands on lines {} and {}; ids must differ",
                                    in_quotes(id), earlier, line);
  if (separator == ',') {
    message += " (where the comma belongs to a label and is no separator, put the label in quotes)";
  } else if (swapped) {
    message += "; the id stands before the label, and here the second cells differ";
  }
  throw bad_input({file, line, 1}, message);
}

LabelFile pairs(const std::string& path, std::span<const Record> records, char separator) {
  LabelFile file{.source = path};
  std::unordered_map<std::string, long> seen;
  std::unordered_set<std::string> labels;
  for (const Record& record : records) {
    const std::vector<Cell> cells = detail::split_cells(record.text, separator);
    if (cells.size() != 2) refuse_cells(path, record, cells.size());
    if (&record == &records.front() && same_word(cells[0].text, "id") &&
        same_word(cells[1].text, "label")) {
      continue;
    }
    check_cell(path, record, cells[0], "id");
    check_cell(path, record, cells[1], "label");
    const auto [earlier, fresh] = seen.emplace(cells[0].text, record.line);
    labels.insert(cells[1].text);
    if (!fresh) {
      refuse_repeated(path, cells[0].text, earlier->second, record.line, separator,
                      labels.size() > file.labels.size());
    }
    file.ids.push_back(cells[0].text);
    file.labels.push_back(cells[1].text);
  }
  if (file.labels.empty()) throw bad_input({path}, "a header and no labels below it");
  return file;
}

LabelFile singles(const std::string& path, std::span<const Record> records) {
  LabelFile file{.source = path};
  for (const Record& record : records) {
    Cell cell = detail::cell_at(record.text, 0, record.text.size());
    check_cell(path, record, cell, "label");
    file.labels.push_back(std::move(cell.text));
  }
  return file;
}

LabelFile numbers(detail::ByteSource& source) {
  const RowMatrix values = detail::read_idx(source, {});
  if (values.cols() != 1) {
    throw bad_input({source.name()},
                    "its IDX data have {} numbers per sample; labels have one each", values.cols());
  }
  LabelFile file{.source = source.name()};
  for (const double value : values.col(0)) file.labels.push_back(format_double(value));
  return file;
}

[[noreturn]] void refuse_without_ids(const LabelFile& file, std::span<const std::string> sample_ids,
                                     std::string_view table) {
  throw broken(
      "{}: it has one label per line, but {} lists pairs of ids, which have no "
      "order. Write the id and the label of a sample on each line, separated "
      "by a tab, such as {}<TAB>{}",
      file.source, table, sample_ids.front(), file.labels.front());
}

JoinedLabels join_by_position(const LabelFile& file, std::span<const std::string> sample_ids,
                              Index sample_count, const RunContext& ctx) {
  if (static_cast<Index>(file.labels.size()) != sample_count) {
    std::string message =
        fmt::format("{}: {} label{} for {} sample{}; there must be one per sample", file.source,
                    file.labels.size(), file.labels.size() == 1 ? "" : "s", sample_count,
                    sample_count == 1 ? "" : "s");
    if (same_word(file.labels.front(), "label") || same_word(file.labels.front(), "class")) {
      message += fmt::format(" (its first line is {}: a header belongs only above id and label)",
                             in_quotes(file.labels.front()));
    }
    throw Error(ErrorCode::kBadInput, message);
  }
  if (!file.ids.empty()) {
    ctx.message(
        fmt::format("{}: the samples have no ids, so that the labels are taken in the "
                    "order of the file",
                    file.source));
  } else if (!sample_ids.empty()) {
    ctx.message(fmt::format("{} has no ids, so its labels are taken in the order of the samples",
                            file.source));
  }
  return {make_labels(file.labels), {}};
}

}  // namespace

std::vector<std::vector<Index>> Labels::members(std::span<const Index> order) const {
  std::vector<std::vector<Index>> of_class(names.size());
  for (const Index i : order) {
    of_class[static_cast<std::size_t>(ids[static_cast<std::size_t>(i)])].push_back(i);
  }
  return of_class;
}

std::vector<Index> Labels::counts() const {
  std::vector<Index> count(names.size(), 0);
  for (const int id : ids) ++count[static_cast<std::size_t>(id)];
  return count;
}

bool Labels::has_two_classes() const {
  return std::any_of(ids.begin(), ids.end(), [&](int id) { return id != ids.front(); });
}

Labels make_labels(std::span<const std::string> per_sample) {
  Labels labels;
  labels.names.assign(per_sample.begin(), per_sample.end());
  std::sort(labels.names.begin(), labels.names.end(), natural_less);
  labels.names.erase(std::unique(labels.names.begin(), labels.names.end()), labels.names.end());
  std::unordered_map<std::string_view, int> number;
  for (const std::string& name : labels.names)
    number.emplace(name, static_cast<int>(number.size()));
  labels.ids.reserve(per_sample.size());
  for (const std::string& name : per_sample) labels.ids.push_back(number.at(name));
  return labels;
}

Labels select(const Labels& labels, std::span<const Index> samples) {
  return {.ids = values_at(labels.ids, samples), .names = labels.names};
}

LabelFile read_labels(const std::string& path) {
  detail::ByteSource source = detail::ByteSource::open(path);
  std::string_view head = source.head();
  if (detail::looks_like_idx(head)) return numbers(source);
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t start = std::min(head.find_first_not_of("\r\n"), head.size());
  const bool tabs =
      head.substr(start, head.find('\n', start) - start).find('\t') != std::string_view::npos;
  const std::vector<Record> records = read_records(source, tabs ? '\t' : ',');
  if (records.empty()) throw bad_input({path}, "the file is empty; labels were expected");
  if (tabs) return pairs(path, records, '\t');
  const bool commas = std::all_of(records.begin(), records.end(), [](const Record& record) {
    return detail::split_cells(record.text, ',').size() == 2;
  });
  return commas ? pairs(path, records, ',') : singles(path, records);
}

JoinedLabels join_labels(const LabelFile& file, std::span<const std::string> sample_ids,
                         Index sample_count, const RunContext& ctx, std::string_view unordered) {
  if (file.ids.empty() && !unordered.empty() && !sample_ids.empty()) {
    refuse_without_ids(file, sample_ids, unordered);
  }
  if (file.ids.empty() || sample_ids.empty()) {
    return join_by_position(file, sample_ids, sample_count, ctx);
  }
  const MatchedIds matched = match_ids(sample_ids, positions_of(file.ids));
  if (!matched.unknown.empty()) {
    throw broken("{}: {} of {} samples have no label: {}; every sample needs one", file.source,
                 matched.unknown.size(), sample_ids.size(), list_some(matched.unknown));
  }
  JoinedLabels joined{make_labels(values_at(file.labels, matched.positions)), {}};
  const Positions samples = positions_of(sample_ids);
  for (const std::string& id : file.ids) {
    if (!samples.contains(id)) joined.unmatched.push_back(id);
  }
  if (!joined.unmatched.empty()) {
    ctx.message(fmt::format("{}: {} of {} ids are not among the samples and are left out: {}",
                            file.source, joined.unmatched.size(), file.ids.size(),
                            list_some(joined.unmatched)));
  }
  return joined;
}

}  // namespace kith
