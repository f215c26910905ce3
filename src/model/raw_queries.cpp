// SPDX-License-Identifier: Apache-2.0
#include "kith/model/raw_queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "kith/core/error.hpp"

namespace kith {
namespace {

const MeasureRule& rule_of(const ModelRecord& record) {
  if (!takes_raw_samples(record)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the model was trained on a matrix and cannot measure raw samples: give their rows "
                "with --similarity or --distance, or train it with --data and --measure");
  }
  return *record.matrices.front().measure;
}

}  // namespace

bool takes_raw_samples(const ModelRecord& record) {
  return record.matrices.size() == 1 && record.matrices.front().measure.has_value();
}

RawQueryReader::RawQueryReader(const ModelRecord& record, const std::string& path,
                               const RunContext& ctx)
    : record_(&record),
      ctx_(ctx),
      samples_(read_raw(path, measure_info(rule_of(record).settings.measure).data, ctx)) {
  ctx_.sink = nullptr;  // progress is of queries, which the caller counts
}

QueryChunk RawQueryReader::next(Index most_rows) {
  std::vector<Index> positions(
      static_cast<std::size_t>(std::min(most_rows, size_of(samples_) - done_)));
  std::iota(positions.begin(), positions.end(), done_);
  done_ += std::ssize(positions);
  const RawData part = select(samples_, positions);
  QueryChunk chunk;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    chunk.ids.push_back(ids_of(part).empty() ? std::to_string(positions[i] + 1) : ids_of(part)[i]);
  }
  chunk.queries.matrices.push_back(measure_rows(rule_of(*record_), part, ctx_));
  return chunk;
}

std::vector<QueryNames> RawQueryReader::names_of(const QueryChunk& chunk) const {
  return {{.source = source_of(samples_),
           .from_source = source_of(samples_),
           .queries = chunk.ids,
           .samples = record_->ids,
           .positions = record_->positions}};
}

}  // namespace kith
