// SPDX-License-Identifier: Apache-2.0
#include "inspect/png.hpp"

#include <zlib.h>

#include <cmath>

#include "kith/core/error.hpp"

namespace kith {
namespace {

void append_u32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

void append_chunk(std::string& png, std::string_view type, std::string_view content) {
  append_u32(png, static_cast<std::uint32_t>(content.size()));
  const std::string body = std::string(type) + std::string(content);
  png += body;
  append_u32(png, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                                   static_cast<uInt>(body.size()))));
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  const int done = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(bytes.data()),
                             static_cast<uLong>(bytes.size()), Z_BEST_COMPRESSION);
  if (done != Z_OK) throw Error(ErrorCode::kInternal, "zlib could not compress a picture");
  packed.resize(size);
  return packed;
}

}  // namespace

std::string encode_png(std::span<const std::uint8_t> levels, std::uint32_t width,
                       std::uint32_t height, std::span<const Colour> palette) {
  constexpr char kDepth = 8;
  constexpr char kIndexed = 3;
  std::string png("\x89PNG\r\n\x1a\n", 8);
  std::string header;
  append_u32(header, width);
  append_u32(header, height);
  header += {kDepth, kIndexed, 0, 0, 0};  // deflate, the five filters, not interlaced
  append_chunk(png, "IHDR", header);
  std::string colours;
  for (const Colour& colour : palette) {
    for (const std::uint8_t part : colour) colours.push_back(static_cast<char>(part));
  }
  append_chunk(png, "PLTE", colours);
  append_chunk(png, "tRNS", std::string(1, '\0'));
  std::string rows;
  rows.reserve(levels.size() + height);
  for (std::size_t row = 0; row < height; ++row) {
    rows.push_back('\0');  // no filter: neighbours in a palette do not differ by little
    for (const std::uint8_t level : levels.subspan(row * width, width)) {
      rows.push_back(static_cast<char>(level));
    }
  }
  append_chunk(png, "IDAT", deflated(rows));
  append_chunk(png, "IEND", "");
  return png;
}

std::vector<Colour> sequential_palette(int steps) {
  constexpr std::array<std::array<double, 3>, 5> kAnchors = {
      {{252, 250, 238}, {178, 216, 200}, {76, 158, 184}, {42, 92, 158}, {26, 24, 82}}};
  std::vector<Colour> palette(static_cast<std::size_t>(steps));
  for (std::size_t step = 0; step < palette.size(); ++step) {
    const double place = steps < 2 ? 0
                                   : static_cast<double>(step * (kAnchors.size() - 1)) /
                                         static_cast<double>(palette.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), kAnchors.size() - 2);
    const double share = place - static_cast<double>(below);
    for (std::size_t part = 0; part < 3; ++part) {
      palette[step][part] = static_cast<std::uint8_t>(
          std::lround((1 - share) * kAnchors[below][part] + share * kAnchors[below + 1][part]));
    }
  }
  return palette;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      word = word << 8 | (i < left ? static_cast<std::uint8_t>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i <= left ? kLetters[word >> (18 - 6 * i) & 63] : '=');
    }
  }
  return text;
}

}  // namespace kith
