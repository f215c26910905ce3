// SPDX-License-Identifier: Apache-2.0
// Formats that are known but not read or written yet. A format that gets its own source loses its
// lines here.
#include "data/formats/readers.hpp"

namespace kith::detail {
namespace {

[[noreturn]] void not_yet() {
  throw Error(ErrorCode::kInvalidArgument, "this format is not available yet");
}

}  // namespace

SimilaritySet read_npy(ByteSource&, const ReadSettings&, const RunContext&) { not_yet(); }
bool looks_like_npy(std::string_view) { return false; }
void write_npy(AtomicFile&, const SimilaritySet&, const RunContext&) { not_yet(); }

SimilaritySet read_matrix_market(ByteSource&, const ReadSettings&, const RunContext&) { not_yet(); }
bool looks_like_matrix_market(std::string_view) { return false; }
void write_matrix_market(AtomicFile&, const SimilaritySet&, const RunContext&) { not_yet(); }

SimilaritySet read_libsvm(ByteSource&, const ReadSettings&, const RunContext&) { not_yet(); }
bool looks_like_libsvm(std::string_view) { return false; }
std::unique_ptr<RowReader> libsvm_rows(ByteSource, const ReadSettings&, const RunContext&) {
  not_yet();
}
void write_libsvm(AtomicFile&, const SimilaritySet&, std::span<const int>, const RunContext&) {
  not_yet();
}

SimilaritySet read_phylip(ByteSource&, const ReadSettings&, const RunContext&) { not_yet(); }
bool looks_like_phylip(std::string_view) { return false; }

SimilaritySet read_edges(ByteSource&, const ReadSettings&, const RunContext&) { not_yet(); }
bool looks_like_edges(std::string_view) { return false; }
void write_edges(AtomicFile&, const SimilaritySet&, const RunContext&) { not_yet(); }

SimilaritySet read_blast(ByteSource&, const ReadSettings&, const RunContext&) { not_yet(); }
bool looks_like_blast(std::string_view) { return false; }

SimilaritySet read_mat(ByteSource&, const ReadSettings&, const RunContext&) { not_yet(); }
bool looks_like_mat(std::string_view) { return false; }

}  // namespace kith::detail
