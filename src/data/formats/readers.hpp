// SPDX-License-Identifier: Apache-2.0
// What each format offers to the dispatch in formats.cpp. A reader fills block, row_ids and
// column_ids; the dispatch adds name, source and format.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "data/formats/stream.hpp"
#include "kith/data/atomic_file.hpp"
#include "kith/data/formats.hpp"

namespace kith::detail {

// Readers. A source is handed over at its first byte. npy and mat map or open
// `source.name()` themselves where `source.is_plain_file()`, and read the stream otherwise.
[[nodiscard]] SimilaritySet read_csv(ByteSource&, const ReadSettings&, const RunContext&);
[[nodiscard]] SimilaritySet read_npy(ByteSource&, const ReadSettings&, const RunContext&);
[[nodiscard]] SimilaritySet read_matrix_market(ByteSource&, const ReadSettings&, const RunContext&);
[[nodiscard]] SimilaritySet read_libsvm(ByteSource&, const ReadSettings&, const RunContext&);
[[nodiscard]] SimilaritySet read_phylip(ByteSource&, const ReadSettings&, const RunContext&);
[[nodiscard]] SimilaritySet read_edges(ByteSource&, const ReadSettings&, const RunContext&);
[[nodiscard]] SimilaritySet read_blast(ByteSource&, const ReadSettings&, const RunContext&);
[[nodiscard]] SimilaritySet read_mat(ByteSource&, const ReadSettings&, const RunContext&);

// Readers that hand out one row after the other.
[[nodiscard]] std::unique_ptr<RowReader> csv_rows(ByteSource, const ReadSettings&,
                                                  const RunContext&);
[[nodiscard]] std::unique_ptr<RowReader> libsvm_rows(ByteSource, const ReadSettings&,
                                                     const RunContext&);

// Whether the first bytes (up to 64 KiB, perhaps cut inside a line) are of this format. The first
// three go by a magic word; the others must be sure not to take a csv or tsv matrix for theirs.
[[nodiscard]] bool looks_like_npy(std::string_view head);
[[nodiscard]] bool looks_like_mat(std::string_view head);
[[nodiscard]] bool looks_like_matrix_market(std::string_view head);
[[nodiscard]] bool looks_like_libsvm(std::string_view head);
[[nodiscard]] bool looks_like_phylip(std::string_view head);
[[nodiscard]] bool looks_like_blast(std::string_view head);
[[nodiscard]] bool looks_like_edges(std::string_view head);

/// Throws Error(kBadInput) where a file that would be read as csv or tsv holds samples themselves:
/// sequences in FASTA, IDX data, words.
void refuse_raw_samples(const std::string& file, std::string_view head);

/// Row i of the block, dense: what an absent pair means (0 or NaN) stands where none is listed.
void copy_row(const Block& block, Index i, std::span<double> row);

// Writers. The dispatch opens the file and commits it.
void write_csv(AtomicFile&, const SimilaritySet&, char separator, const RunContext&);
void write_npy(AtomicFile&, const SimilaritySet&, const RunContext&);
void write_matrix_market(AtomicFile&, const SimilaritySet&, const RunContext&);
void write_libsvm(AtomicFile&, const SimilaritySet&, std::span<const int> class_ids,
                  const RunContext&);
void write_edges(AtomicFile&, const SimilaritySet&, const RunContext&);

}  // namespace kith::detail
