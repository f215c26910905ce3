// SPDX-License-Identifier: Apache-2.0
// Every list is preceded by its length, so that no two different sets give the same bytes.
#include "kith/model/fingerprint.hpp"

#include <span>

#include "kith/condition/symmetric.hpp"
#include "kith/core/xxh64.hpp"

namespace kith {
namespace {

template <class Number>
void add_number(Xxh64& hash, Number value) {
  hash.update({reinterpret_cast<const char*>(&value), sizeof value});
}

template <class Number>
void add_numbers(Xxh64& hash, std::span<Number> values) {
  add_number(hash, static_cast<std::int64_t>(values.size()));
  if (values.empty()) return;
  hash.update({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

void add_texts(Xxh64& hash, std::span<const std::string> texts) {
  add_number(hash, static_cast<std::int64_t>(texts.size()));
  for (const std::string& text : texts) {
    add_number(hash, static_cast<std::int64_t>(text.size()));
    hash.update(text);
  }
}

void add_block(Xxh64& hash, const DenseBlock& block) {
  add_number(hash, 'd');
  add_number(hash, block_hash(block));
}

void add_block(Xxh64& hash, const SparseBlock& block) {
  add_number(hash, block.absent == Absent::kZero ? 'z' : 'm');
  add_number<std::int64_t>(hash, block.cols);
  add_numbers(hash, std::span(block.starts));
  add_numbers(hash, std::span(block.columns));
  add_numbers(hash, std::span(block.values));
}

void add_values(Xxh64& hash, const std::vector<std::string>& values) { add_texts(hash, values); }
void add_values(Xxh64& hash, const std::vector<std::vector<std::string>>& values) {
  add_number(hash, static_cast<std::int64_t>(values.size()));
  for (const std::vector<std::string>& words : values) add_texts(hash, words);
}
void add_values(Xxh64& hash, const std::vector<std::vector<double>>& values) {
  add_number(hash, static_cast<std::int64_t>(values.size()));
  for (const std::vector<double>& series : values) add_numbers(hash, std::span(series));
}
void add_values(Xxh64& hash, const Block& values) {
  std::visit([&](const auto& block) { add_block(hash, block); }, values);
}

}  // namespace

std::uint64_t fingerprint(const TrainingSet& train) {
  Xxh64 hash;
  add_number(hash, static_cast<std::int64_t>(train.matrices.size()));
  for (const TrainingMatrix& matrix : train.matrices) {
    if (matrix.hash) {
      add_number(hash, 'd');
      add_number(hash, *matrix.hash);
    } else {
      add_values(hash, matrix.block);
    }
  }
  add_numbers(hash, std::span(train.labels.ids));
  add_texts(hash, train.labels.names);
  if (!train.labels.groups.empty()) add_numbers(hash, std::span(train.labels.groups.ids));
  add_texts(hash, train.ids);
  add_numbers(hash,
              std::span(train.weights.data(), static_cast<std::size_t>(train.weights.size())));
  if (cols(train.vectors) > 0) add_values(hash, train.vectors);
  return hash.digest();
}

std::uint64_t fingerprint(const RawData& samples) {
  Xxh64 hash;
  add_number(hash, static_cast<std::int64_t>(samples.index()));
  std::visit([&](const auto& kind) { add_values(hash, kind.values); }, samples);
  add_texts(hash, ids_of(samples));
  return hash.digest();
}

}  // namespace kith
