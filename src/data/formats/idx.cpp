// SPDX-License-Identifier: Apache-2.0
#include "data/formats/idx.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/errors.hpp"
#include "kith/data/block.hpp"

namespace kith::detail {
namespace {

constexpr std::size_t kHeadBytes = 4;
constexpr int kMostDimensions = 8;

template <class Number>
double big_endian(const unsigned char* bytes) {
  std::array<unsigned char, sizeof(Number)> own;
  std::reverse_copy(bytes, bytes + own.size(), own.begin());
  return static_cast<double>(std::bit_cast<Number>(own));
}

struct IdxType {
  unsigned char code;
  std::size_t width;  // bytes per value
  double (*value)(const unsigned char* bytes);
};
constexpr std::array<IdxType, 6> kTypes = {{{0x08, 1, big_endian<std::uint8_t>},
                                            {0x09, 1, big_endian<std::int8_t>},
                                            {0x0B, 2, big_endian<std::int16_t>},
                                            {0x0C, 4, big_endian<std::int32_t>},
                                            {0x0D, 4, big_endian<float>},
                                            {0x0E, 8, big_endian<double>}}};
static_assert(std::endian::native == std::endian::little, "bytes are turned round");

/// Null where there is no such type.
const IdxType* type_of(unsigned char code) {
  const auto* found = std::ranges::find(kTypes, code, &IdxType::code);
  return found == kTypes.end() ? nullptr : found;
}

void read_exactly(ByteSource& source, std::span<unsigned char> bytes, std::string_view what) {
  if (source.read({reinterpret_cast<char*>(bytes.data()), bytes.size()}) == bytes.size()) return;
  throw bad_input({source.name()}, "the file ends inside the {} of its IDX data", what);
}

struct IdxShape {
  Index rows = 0;
  Index columns = 1;
};

IdxShape read_shape(ByteSource& source, int dimensions) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(dimensions) * 4);
  read_exactly(source, bytes, "dimensions");
  IdxShape shape;
  for (int k = 0; k < dimensions; ++k) {
    const auto size = static_cast<Index>(big_endian<std::uint32_t>(bytes.data() + Index{4} * k));
    if (k == 0) {
      shape.rows = size;
      if (size == 0) throw bad_input({source.name()}, "the IDX data hold no samples");
    } else if (size == 0 || shape.columns > std::numeric_limits<std::int32_t>::max() / size) {
      throw bad_input({source.name()},
                      "dimension {} of the IDX data is {}; the features of a sample must "
                      "be at least 1 and fewer than 2^31",
                      k + 1, size);
    } else {
      shape.columns *= size;
    }
  }
  return shape;
}

}  // namespace

bool looks_like_idx(std::string_view head) {
  return head.size() >= kHeadBytes && head[0] == 0 && head[1] == 0 &&
         type_of(static_cast<unsigned char>(head[2])) != nullptr && head[3] >= 1 &&
         head[3] <= kMostDimensions;
}

RowMatrix read_idx(ByteSource& source, const RunContext& ctx) {
  unsigned char head[kHeadBytes];
  read_exactly(source, head, "header");
  const IdxType* type = type_of(head[2]);
  assert(type != nullptr && "looks_like_idx was asked");
  const IdxShape shape = read_shape(source, head[3]);
  const Index bytes_before = static_cast<Index>(kHeadBytes) + Index{4} * head[3];
  const Index bytes_of_row = shape.columns * static_cast<Index>(type->width);
  // Below 2^32 rows of at most 2^34 bytes: their product need not be a number.
  if (shape.rows > (std::numeric_limits<Index>::max() - bytes_before) / bytes_of_row) {
    throw bad_input({source.name()}, "its IDX header says {} x {} values, which no file holds",
                    shape.rows, shape.columns);
  }
  const Index bytes_in_all = shape.rows * bytes_of_row;
  if (const std::optional<std::int64_t> size = source.plain_size();
      size && *size != bytes_before + bytes_in_all) {
    throw bad_input({source.name()},
                    "the file has {} bytes, but its IDX header says {} x {} values, which "
                    "take {}",
                    *size, shape.rows, shape.columns, bytes_before + bytes_in_all);
  }
  check_dense_fits(shape.rows, shape.columns);
  RowMatrix values(shape.rows, shape.columns);
  std::vector<unsigned char> row(static_cast<std::size_t>(bytes_of_row));
  for (Index i = 0; i < shape.rows; ++i) {
    ctx.check_stop();
    read_exactly(source, row, "values");
    for (Index j = 0; j < shape.columns; ++j) {
      const double value = type->value(row.data() + static_cast<std::size_t>(j) * type->width);
      if (!std::isfinite(value)) {
        throw bad_input({source.name()}, "row {}, value {} is not finite", i + 1, j + 1);
      }
      values(i, j) = value;
    }
  }
  char more = 0;
  if (source.read({&more, 1}) != 0) {
    throw bad_input({source.name()}, "bytes follow after the last value of the IDX data");
  }
  return values;
}

}  // namespace kith::detail
