// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/raw_matrix.hpp"

#include <algorithm>
#include <utility>

#include "core/errors.hpp"
#include "kith/data/similarity_set.hpp"

namespace kith {
namespace {

void order_samples_by_id(std::vector<RawMatrix>& matrices) {
  const RawData& first = matrices.front().samples;
  for (RawMatrix& other : matrices) {
    if (std::ranges::equal(ids_of(other.samples), ids_of(first))) continue;
    const std::vector<Index> order = order_by_id({ids_of(first), source_of(first)},
                                                 {ids_of(other.samples), source_of(other.samples)});
    other.samples = select(other.samples, order);
  }
}

void check_same_count(const std::vector<RawMatrix>& matrices) {
  const RawData& first = matrices.front().samples;
  for (const RawMatrix& other : matrices) {
    if (size_of(other.samples) == size_of(first)) continue;
    throw invalid(
        "{} has {} samples and {} has {}; files that are matched by position "
        "(not all of them have ids) must have the same number",
        source_of(first), size_of(first), source_of(other.samples), size_of(other.samples));
  }
}

}  // namespace

RawMatrix select(const RawMatrix& matrix, std::span<const Index> positions) {
  return {matrix.name, matrix.measure, select(matrix.samples, positions), matrix.file};
}

std::vector<RawMatrix> match_samples(std::vector<RawMatrix> matrices) {
  const bool all_have_ids = std::ranges::all_of(
      matrices, [](const RawMatrix& one) { return !ids_of(one.samples).empty(); });
  if (all_have_ids) {
    order_samples_by_id(matrices);
  } else {
    check_same_count(matrices);
  }
  return matrices;
}

std::span<const std::string> ids_of(std::span<const RawMatrix> matrices) {
  for (const RawMatrix& one : matrices) {
    if (!ids_of(one.samples).empty()) return ids_of(one.samples);
  }
  return {};
}

std::vector<RawMatrix> read_samples(std::vector<RawMatrix> matrices,
                                    std::span<const std::string> files, const RunContext& ctx) {
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    const RawKind kind = measure_info(matrices[m].measure.measure).data;
    const auto before = matrices.begin() + static_cast<std::ptrdiff_t>(m);
    const auto same = std::find_if(matrices.begin(), before, [&](const RawMatrix& one) {
      return one.file == matrices[m].file && kind_of(one.samples) == kind;
    });
    matrices[m].samples =
        same == before ? read_raw(files[static_cast<std::size_t>(matrices[m].file)], kind, ctx)
                       : same->samples;
    if (matrices[m].name.empty()) matrices[m].name = name_of(matrices[m].samples);
  }
  std::vector<KnownSamples> known;
  known.reserve(matrices.size());
  for (const RawMatrix& one : matrices) {
    known.push_back({ids_of(one.samples), source_of(one.samples)});
  }
  if (const std::string note = position_note(known); !note.empty()) ctx.message(note);
  return match_samples(std::move(matrices));
}

}  // namespace kith
