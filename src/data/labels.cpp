// SPDX-License-Identifier: Apache-2.0
#include "kith/data/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
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

[[noreturn]] void refuse_cells(const std::string& file, const Record& record, std::size_t found,
                               std::string_view what) {
  throw bad_input({file, record.line},
                  "{} holds {} cell{}; every line must hold two, an id and a {}, "
                  "separated by a tab as on the first line",
                  in_quotes(record.text), found, found == 1 ? "" : "s", what);
}

/// `swapped` says that the second column could be the ids.
[[noreturn]] void refuse_repeated(const std::string& file, const std::string& id, long earlier,
                                  long line, char separator, bool swapped, std::string_view what) {
  std::string message = fmt::format("the id {} stands on lines {} and {}; ids must differ",
                                    in_quotes(id), earlier, line);
  if (separator == ',') {
    message += fmt::format(
        " (where the comma belongs to a {0} and is no separator, put the {0} in quotes)", what);
  } else if (swapped) {
    message += fmt::format("; the id stands before the {}, and here the second cells differ", what);
  }
  throw bad_input({file, line, 1}, message);
}

LabelFile pairs(const std::string& path, std::span<const Record> records, char separator,
                std::string_view what) {
  LabelFile file{.source = path, .ids = {}, .labels = {}, .what = std::string(what)};
  std::unordered_map<std::string, long> seen;
  std::unordered_set<std::string> labels;
  for (const Record& record : records) {
    const std::vector<Cell> cells = detail::split_cells(record.text, separator);
    if (cells.size() != 2) refuse_cells(path, record, cells.size(), what);
    if (&record == &records.front() && same_word(cells[0].text, "id") &&
        same_word(cells[1].text, what)) {
      continue;
    }
    check_cell(path, record, cells[0], "id");
    check_cell(path, record, cells[1], what);
    const auto [earlier, fresh] = seen.emplace(cells[0].text, record.line);
    labels.insert(cells[1].text);
    if (!fresh) {
      refuse_repeated(path, cells[0].text, earlier->second, record.line, separator,
                      labels.size() > file.labels.size(), what);
    }
    file.ids.push_back(cells[0].text);
    file.labels.push_back(cells[1].text);
  }
  if (file.labels.empty()) throw bad_input({path}, "a header and no {}s below it", what);
  return file;
}

LabelFile singles(const std::string& path, std::span<const Record> records, std::string_view what) {
  LabelFile file{.source = path, .ids = {}, .labels = {}, .what = std::string(what)};
  for (const Record& record : records) {
    Cell cell = detail::cell_at(record.text, 0, record.text.size());
    check_cell(path, record, cell, what);
    file.labels.push_back(std::move(cell.text));
  }
  return file;
}

LabelFile numbers(detail::ByteSource& source, std::string_view what) {
  const RowMatrix values = detail::read_idx(source, {});
  if (values.cols() != 1) {
    throw bad_input({source.name()}, "its IDX data have {} numbers per sample; {}s have one each",
                    values.cols(), what);
  }
  LabelFile file{.source = source.name(), .ids = {}, .labels = {}, .what = std::string(what)};
  for (const double value : values.col(0)) file.labels.push_back(format_double(value));
  return file;
}

[[noreturn]] void refuse_without_ids(const LabelFile& file, std::span<const std::string> sample_ids,
                                     std::string_view table) {
  throw broken(
      "{}: it has one {} per line, but {} lists pairs of ids, which have no "
      "order. Write the id and the {} of a sample on each line, separated "
      "by a tab, such as {}<TAB>{}",
      file.source, file.what, table, file.what, sample_ids.front(), file.labels.front());
}

/// Labels without ids: as many as samples.
void check_count(const LabelFile& file, Index sample_count) {
  if (std::ssize(file.labels) == sample_count) return;
  std::string message = fmt::format(
      "{}: {} {}{} for {} sample{}; there must be one per sample", file.source, file.labels.size(),
      file.what, file.labels.size() == 1 ? "" : "s", sample_count, sample_count == 1 ? "" : "s");
  if (same_word(file.labels.front(), file.what) || same_word(file.labels.front(), "class")) {
    message += fmt::format(" (its first line is {}: a header belongs only above id and {})",
                           in_quotes(file.labels.front()), file.what);
  }
  throw Error(ErrorCode::kBadInput, message);
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
  std::unordered_map<std::string_view, int> number;
  for (const std::string& name : per_sample) {
    if (number.emplace(name, 0).second) labels.names.push_back(name);
  }
  std::sort(labels.names.begin(), labels.names.end(), natural_less);
  int next = 0;
  for (const std::string& name : labels.names) number[name] = next++;
  labels.ids.reserve(per_sample.size());
  for (const std::string& name : per_sample) labels.ids.push_back(number.at(name));
  return labels;
}

Labels select(const Labels& labels, std::span<const Index> samples) {
  return {.ids = values_at(labels.ids, samples),
          .names = labels.names,
          .groups = select(labels.groups, samples)};
}

LabelFile read_labels(const std::string& path, std::string_view what) {
  detail::ByteSource source = detail::ByteSource::open(path);
  std::string_view head = source.head();
  if (detail::looks_like_idx(head)) return numbers(source, what);
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t start = std::min(head.find_first_not_of("\r\n"), head.size());
  const bool tabs =
      head.substr(start, head.find('\n', start) - start).find('\t') != std::string_view::npos;
  const std::vector<Record> records = read_records(source, tabs ? '\t' : ',');
  if (records.empty()) throw bad_input({path}, "the file is empty; {}s were expected", what);
  if (tabs) return pairs(path, records, '\t', what);
  const bool commas = std::all_of(records.begin(), records.end(), [](const Record& record) {
    return detail::split_cells(record.text, ',').size() == 2;
  });
  return commas ? pairs(path, records, ',', what) : singles(path, records, what);
}

std::string unmatched_note(const LabelFile& file, std::span<const std::string> unmatched) {
  return fmt::format("{}: {} of {} ids are not among the samples and are left out: {}", file.source,
                     unmatched.size(), file.ids.size(), list_some(unmatched));
}

JoinedTexts join_texts(const LabelFile& file, std::span<const std::string> sample_ids,
                       Index sample_count, const RunContext& ctx, std::string_view unordered) {
  const bool by_id = !file.ids.empty() && !sample_ids.empty();
  if (!by_id && (unordered.empty() || !file.ids.empty())) check_count(file, sample_count);
  StreamedLabels labels(file, unordered);
  JoinedTexts joined;
  for (const std::size_t at : labels.next(sample_ids, sample_count, ctx)) {
    joined.texts.push_back(file.labels[at]);
  }
  joined.unmatched = labels.finish();
  if (!joined.unmatched.empty()) ctx.message(unmatched_note(file, joined.unmatched));
  return joined;
}

JoinedLabels join_labels(const LabelFile& file, std::span<const std::string> sample_ids,
                         Index sample_count, const RunContext& ctx, std::string_view unordered) {
  JoinedTexts joined = join_texts(file, sample_ids, sample_count, ctx, unordered);
  return {make_labels(joined.texts), std::move(joined.unmatched)};
}

StreamedLabels::StreamedLabels(const LabelFile& file, std::string_view unordered)
    : file_(file), unordered_(unordered), used_(file.ids.size(), 0) {
  for (std::size_t i = 0; i < file.ids.size(); ++i) position_.emplace(file.ids[i], i);
}

std::vector<std::size_t> StreamedLabels::next(std::span<const std::string> ids, Index count,
                                              const RunContext& ctx) {
  const Index before = std::exchange(done_, done_ + count);
  if (count == 0) return {};
  if (file_.ids.empty() || ids.empty()) return by_position(ids, before, ctx);
  std::vector<std::size_t> labels;
  std::vector<std::string> without;
  for (const std::string& id : ids) {
    const auto found = position_.find(id);
    if (found == position_.end()) {
      without.push_back(in_quotes(id));
      continue;
    }
    used_[found->second] = 1;
    labels.push_back(found->second);
  }
  if (without.empty()) return labels;
  throw broken("{}: {} of {} samples{} have no {}: {}; every sample needs one", file_.source,
               without.size(), ids.size(),
               before == 0 ? "" : fmt::format(" from number {} on", before + 1), file_.what,
               list_some(without));
}

std::vector<std::size_t> StreamedLabels::by_position(std::span<const std::string> ids, Index before,
                                                     const RunContext& ctx) const {
  if (file_.ids.empty() && !unordered_.empty() && !ids.empty()) {
    refuse_without_ids(file_, ids, unordered_);
  }
  if (done_ > std::ssize(file_.labels)) {
    throw broken("{}: {} for {} samples or more; there must be one per sample", file_.source,
                 counted(std::ssize(file_.labels), file_.what), done_);
  }
  if (before == 0 && !file_.ids.empty()) {
    ctx.message(
        fmt::format("{}: the samples have no ids, so that the {}s are taken in the "
                    "order of the file",
                    file_.source, file_.what));
  } else if (before == 0 && !ids.empty()) {
    ctx.message(fmt::format("{} has no ids, so its {}s are taken in the order of the samples",
                            file_.source, file_.what));
  }
  std::vector<std::size_t> labels(static_cast<std::size_t>(done_ - before));
  std::iota(labels.begin(), labels.end(), static_cast<std::size_t>(before));
  return labels;
}

std::vector<std::string> StreamedLabels::finish() const {
  const bool by_id = std::ranges::find(used_, 1) != used_.end();
  if (!by_id) check_count(file_, done_);
  std::vector<std::string> unmatched;
  for (std::size_t i = 0; by_id && i < file_.ids.size(); ++i) {
    if (used_[i] == 0) unmatched.push_back(file_.ids[i]);
  }
  return unmatched;
}

}  // namespace kith
