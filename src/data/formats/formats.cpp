// SPDX-License-Identifier: Apache-2.0
// Which format a file has, and who reads or writes it.
#include "kith/data/formats.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "core/errors.hpp"
#include "data/formats/csv_layout.hpp"
#include "data/formats/readers.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

using detail::ByteSource;

/// The name without folders and compression endings, in lower case.
std::string plain_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  std::string name = lower_case(path);
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  return name;
}

/// "dir/Voting.csv.gz" -> "Voting".
std::string stem(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  path = path.substr(0, plain_name(path).size());
  const std::size_t dot = path.rfind('.');
  return std::string(dot == std::string_view::npos || dot == 0 ? path : path.substr(0, dot));
}

/// A magic word outranks the name, the name of a particular format outranks a guess, and what is
/// left is looked at: a table in csv or tsv clothes may still be an edge list or a BLAST table.
Format detect(ByteSource& source) {
  std::string_view head = source.head();
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  if (detail::looks_like_npy(head)) return Format::kNpy;
  if (detail::looks_like_mat(head)) return Format::kMat;
  if (detail::looks_like_matrix_market(head)) return Format::kMatrixMarket;
  const std::optional<Format> named = format_of_name(source.name());
  if (named && named != Format::kCsv && named != Format::kTsv) return *named;
  if (detail::looks_like_blast(head)) return Format::kBlast;
  if (detail::looks_like_libsvm(head)) return Format::kLibsvm;
  if (detail::looks_like_phylip(head)) return Format::kPhylip;
  if (detail::looks_like_edges(head)) return Format::kEdges;
  if (named) return *named;
  return detail::find_separator(head) == '\t' ? Format::kTsv : Format::kCsv;
}

SimilaritySet read_as(Format format, ByteSource& source, const ReadSettings& settings,
                      const RunContext& ctx) {
  switch (format) {
    case Format::kCsv:
    case Format::kTsv:
      return detail::read_csv(source, settings, ctx);
    case Format::kNpy:
      return detail::read_npy(source, settings, ctx);
    case Format::kMatrixMarket:
      return detail::read_matrix_market(source, settings, ctx);
    case Format::kLibsvm:
      return detail::read_libsvm(source, settings, ctx);
    case Format::kPhylip:
      return detail::read_phylip(source, settings, ctx);
    case Format::kEdges:
      return detail::read_edges(source, settings, ctx);
    case Format::kBlast:
      return detail::read_blast(source, settings, ctx);
    case Format::kMat:
      return detail::read_mat(source, settings, ctx);
  }
  throw Error(ErrorCode::kInternal, "a format without a reader");
}

/// Rows become columns, with their ids.
void transpose(SimilaritySet& set) {
  if (const auto* sparse = std::get_if<SparseBlock>(&set.block)) {
    set.block = transposed(*sparse);
  } else {
    set.block = DenseBlock(RowMatrix(std::get<DenseBlock>(set.block).values().transpose()));
  }
  std::swap(set.row_ids, set.column_ids);
  set.applied.emplace_back("rows and columns have changed places");
}

void check_not_empty(ByteSource& source) {
  if (!source.head().empty()) return;
  throw bad_input({source.name()}, "the file is empty; a matrix was expected");
}

/// As it was asked for, or as it looks: then it must not be samples themselves.
Format format_of(const ReadSettings& settings, ByteSource& source) {
  if (settings.format) return *settings.format;
  const Format format = detect(source);
  if (format == Format::kCsv || format == Format::kTsv) {
    detail::refuse_raw_samples(source.name(), source.head());
  }
  return format;
}

SimilaritySet read_opened(Format format, ByteSource& source, const ReadSettings& settings,
                          const RunContext& ctx) {
  check_not_empty(source);
  SimilaritySet set = read_as(format, source, settings, ctx);
  set.name = stem(source.name());
  set.source = source.name();
  set.format = enum_name(format);
  set.ordered = format != Format::kEdges && format != Format::kBlast;
  if (settings.transpose) transpose(set);
  return set;
}

/// Rows of a table that was read whole; for npy these come straight from the mapped file.
class WholeRows final : public RowReader {
 public:
  explicit WholeRows(SimilaritySet set) : set_(std::move(set)) {}
  [[nodiscard]] Index cols() const override { return set_.cols(); }
  [[nodiscard]] std::span<const std::string> column_ids() const override { return set_.column_ids; }
  [[nodiscard]] bool has_row_ids() const override { return !set_.row_ids.empty(); }
  [[nodiscard]] bool next(std::span<double> row, std::string& id) override {
    if (at_ == set_.rows()) return false;
    detail::copy_row(set_.block, at_, row);
    id = has_row_ids() ? set_.row_ids[static_cast<std::size_t>(at_)] : std::string();
    ++at_;
    return true;
  }
  [[nodiscard]] const SimilaritySet* whole() const override { return &set_; }

 private:
  SimilaritySet set_;
  Index at_ = 0;
};

struct Ending {
  std::string_view text;
  Format format;
};
constexpr std::array<Ending, 17> kEndings = {{{".csv", Format::kCsv},
                                              {".tsv", Format::kTsv},
                                              {".tab", Format::kTsv},
                                              {".npy", Format::kNpy},
                                              {".mtx", Format::kMatrixMarket},
                                              {".mm", Format::kMatrixMarket},
                                              {".libsvm", Format::kLibsvm},
                                              {".svm", Format::kLibsvm},
                                              {".phy", Format::kPhylip},
                                              {".phylip", Format::kPhylip},
                                              {".edges", Format::kEdges},
                                              {".edgelist", Format::kEdges},
                                              {".m8", Format::kBlast},
                                              {".b6", Format::kBlast},
                                              {".blast6", Format::kBlast},
                                              {".blast", Format::kBlast},
                                              {".mat", Format::kMat}}};

std::string writable_endings() { return ".csv, .tsv, .npy, .mtx, .libsvm or .edges"; }

}  // namespace

void detail::copy_row(const Block& block, Index i, std::span<double> row) {
  if (const auto* dense = std::get_if<DenseBlock>(&block)) {
    std::ranges::copy(dense->row(i), row.begin());
    return;
  }
  const auto& sparse = std::get<SparseBlock>(block);
  std::ranges::fill(row, sparse.absent_value());
  const SparseRow listed = sparse.row(i);
  for (std::size_t e = 0; e < listed.size(); ++e) {
    row[static_cast<std::size_t>(listed.columns[e])] = listed.values[e];
  }
}

std::optional<Format> format_of_name(std::string_view path) {
  const std::string name = plain_name(path);
  for (const Ending& ending : kEndings) {
    if (name.ends_with(ending.text)) return ending.format;
  }
  return std::nullopt;
}

SimilaritySet read_similarity(const std::string& path, const ReadSettings& settings,
                              const RunContext& ctx) {
  ByteSource source = ByteSource::open(path);
  const Format format = format_of(settings, source);
  return read_opened(format, source, settings, ctx);
}

std::unique_ptr<RowReader> open_rows(const std::string& path, const ReadSettings& settings,
                                     const RunContext& ctx) {
  ByteSource source = ByteSource::open(path);
  const Format format = format_of(settings, source);
  if (settings.transpose) {
    return std::make_unique<WholeRows>(read_opened(format, source, settings, ctx));
  }
  check_not_empty(source);
  if (format == Format::kCsv || format == Format::kTsv) {
    return detail::csv_rows(std::move(source), settings, ctx);
  }
  if (format == Format::kLibsvm) return detail::libsvm_rows(std::move(source), settings, ctx);
  return std::make_unique<WholeRows>(read_opened(format, source, settings, ctx));
}

Format writable_format(const std::string& path, std::optional<Format> format) {
  const std::optional<Format> chosen = format ? format : format_of_name(path);
  if (!chosen) {
    throw invalid(
        "cannot tell the format to write from the name {}; end it in {}, or "
        "name the format",
        in_quotes(path), writable_endings());
  }
  if (*chosen == Format::kPhylip || *chosen == Format::kBlast || *chosen == Format::kMat) {
    throw invalid("{}: the format {} can be read but not written; use {}", path, enum_name(*chosen),
                  writable_endings());
  }
  return *chosen;
}

bool keeps_ids(Format format) {
  switch (format) {
    case Format::kCsv:
    case Format::kTsv:
    case Format::kPhylip:
    case Format::kEdges:
    case Format::kBlast:
      return true;
    case Format::kNpy:
    case Format::kMatrixMarket:
    case Format::kLibsvm:
    case Format::kMat:
      return false;
  }
  throw Error(ErrorCode::kInternal, "not a format");
}

void write_similarity(const std::string& path, std::optional<Format> format,
                      const SimilaritySet& set, std::span<const int> class_ids,
                      const RunContext& ctx) {
  const Format chosen = writable_format(path, format);
  AtomicFile file(path);
  switch (chosen) {
    case Format::kCsv:
      detail::write_csv(file, set, ',', ctx);
      break;
    case Format::kTsv:
      detail::write_csv(file, set, '\t', ctx);
      break;
    case Format::kNpy:
      detail::write_npy(file, set, ctx);
      break;
    case Format::kMatrixMarket:
      detail::write_matrix_market(file, set, ctx);
      break;
    case Format::kLibsvm:
      detail::write_libsvm(file, set, class_ids, ctx);
      break;
    case Format::kEdges:
      detail::write_edges(file, set, ctx);
      break;
    case Format::kPhylip:
    case Format::kBlast:
    case Format::kMat:
      throw Error(ErrorCode::kInternal, "refused above");
  }
  file.commit();
}

}  // namespace kith
