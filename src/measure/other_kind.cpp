// SPDX-License-Identifier: Apache-2.0
#include "measure/other_kind.hpp"

#include <algorithm>
#include <optional>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

/// The index of `index:value`; none: the field is something else.
std::optional<long long> index_of(std::string_view field) {
  const std::size_t colon = field.find(':');
  if (colon == std::string_view::npos || !parse_double(field.substr(colon + 1))) {
    return std::nullopt;
  }
  return parse_integer(field.substr(0, colon));
}

/// Several where a sample has several classes: "1,2".
bool are_labels(std::string_view field) {
  return std::ranges::all_of(
      split(field, ','), [](std::string_view label) { return parse_double(label).has_value(); });
}

bool is_query(std::string_view field) {
  constexpr std::string_view kQuery = "qid:";
  return field.starts_with(kQuery) && parse_integer(field.substr(kQuery.size()));
}

/// Gaps as well: an alignment is no more a set than its sequences are.
bool is_aligned_residue(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '*' || c == '-' || c == '.';
}

}  // namespace

void OtherKind::take(std::string_view line, long number) {
  if (trim(line).empty()) return;
  if (libsvm_) take_libsvm(line, number);
  if (fasta_) take_fasta(line, number);
}

void OtherKind::take_libsvm(std::string_view line, long number) {
  line = line.substr(0, line.find('#'));
  split_blanks(line, fields_);
  if (fields_.empty()) return;
  const bool labelled = line.front() != ' ';
  libsvm_ = !labelled || are_labels(fields_[0]);
  std::size_t first = labelled ? 1 : 0;
  if (first < fields_.size() && is_query(fields_[first])) ++first;
  indices_.clear();
  for (std::size_t k = first; k < fields_.size() && libsvm_; ++k) {
    const std::optional<long long> index = index_of(fields_[k]);
    libsvm_ = index && *index >= 0;  // 0:serial begins a line of a precomputed kernel
    indices_.push_back(index.value_or(0));
  }
  std::ranges::sort(indices_);
  libsvm_ = libsvm_ && std::ranges::adjacent_find(indices_) == indices_.end();
  if (!libsvm_ || first >= fields_.size() || first_pair_ != 0) return;
  first_pair_ = number;
  pair_ = fields_[first];
}

void OtherKind::take_fasta(std::string_view line, long number) {
  line = trim(line);
  if (line.starts_with(';')) return;
  const bool header = line.starts_with('>');
  if (header) {
    fasta_ = !after_header_;
    if (first_header_ == 0) first_header_ = number;
  } else {
    fasta_ = first_header_ != 0 && std::ranges::all_of(line, is_aligned_residue);
  }
  after_header_ = header;
}

void OtherKind::refuse(const std::string& path, const Reading& reading) const {
  if (libsvm_ && first_pair_ != 0) {
    throw bad_input({path, first_pair_},
                    "{} is index:value as in LIBSVM text, and every line is of that form, label "
                    "index:value ...; such a file holds vectors, which have measures of their own "
                    "(gaussian, linear, cosine, euclidean, ...), and its labels would count as a "
                    "part of {}. If the lines are meant as {}, {}",
                    in_quotes(pair_), reading.samples, reading.samples, reading.as_meant);
  }
  if (fasta_ && first_header_ != 0 && !after_header_) {
    throw bad_input({path, first_header_},
                    "a line that begins with > is the name of a sequence in FASTA, and every line "
                    "is a name or residues; {}. If the lines are meant as {}, {}",
                    reading.of_fasta, reading.samples, reading.as_meant);
  }
}

}  // namespace kith::detail
