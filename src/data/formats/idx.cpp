// SPDX-License-Identifier: Apache-2.0
#include "data/formats/idx.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "core/errors.hpp"
#include "kith/data/block.hpp"

namespace kith::detail {
namespace {

constexpr std::size_t kHeadBytes = 4;
constexpr int kMostDimensions = 8;

/// Bytes per value of an IDX type, or 0 where there is no such type.
int idx_width(unsigned char type) {
  switch (type) {
    case 0x08:
    case 0x09:
      return 1;
    case 0x0B:
      return 2;
    case 0x0C:
    case 0x0D:
      return 4;
    case 0x0E:
      return 8;
    default:
      return 0;
  }
}

template <class Bits>
Bits big_endian(const unsigned char* bytes) {
  Bits bits = 0;
  for (std::size_t k = 0; k < sizeof(Bits); ++k) bits = static_cast<Bits>((bits << 8) | bytes[k]);
  return bits;
}

double idx_value(const unsigned char* bytes, unsigned char type) {
  switch (type) {
    case 0x08:
      return bytes[0];
    case 0x09:
      return std::bit_cast<std::int8_t>(bytes[0]);
    case 0x0B:
      return std::bit_cast<std::int16_t>(big_endian<std::uint16_t>(bytes));
    case 0x0C:
      return std::bit_cast<std::int32_t>(big_endian<std::uint32_t>(bytes));
    case 0x0D:
      return std::bit_cast<float>(big_endian<std::uint32_t>(bytes));
    default:
      return std::bit_cast<double>(big_endian<std::uint64_t>(bytes));
  }
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
         idx_width(static_cast<unsigned char>(head[2])) > 0 && head[3] >= 1 &&
         head[3] <= kMostDimensions;
}

RowMatrix read_idx(ByteSource& source, const RunContext& ctx) {
  unsigned char head[kHeadBytes];
  read_exactly(source, head, "header");
  const unsigned char type = head[2];
  const auto width = static_cast<std::size_t>(idx_width(type));
  const IdxShape shape = read_shape(source, head[3]);
  const Index bytes_before = static_cast<Index>(kHeadBytes) + Index{4} * head[3];
  const Index bytes_of_row = shape.columns * static_cast<Index>(width);
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
  std::vector<unsigned char> row(static_cast<std::size_t>(shape.columns) * width);
  for (Index i = 0; i < shape.rows; ++i) {
    ctx.check_stop();
    read_exactly(source, row, "values");
    for (Index j = 0; j < shape.columns; ++j) {
      const double value = idx_value(row.data() + static_cast<std::size_t>(j) * width, type);
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
