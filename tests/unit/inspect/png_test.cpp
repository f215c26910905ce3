// SPDX-License-Identifier: Apache-2.0
#include "inspect/png.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>

#include "kith/inspect/portrait.hpp"

namespace kith::png_test {
namespace {

std::uint32_t u32(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

/// The contents of every chunk of a type; fails where a checksum is wrong.
std::string chunk(const std::string& png, const std::string& type) {
  for (std::size_t at = 8; at + 12 <= png.size();) {
    const std::size_t size = u32(png, at);
    const auto* body = reinterpret_cast<const Bytef*>(png.data() + at + 4);
    EXPECT_EQ(u32(png, at + 8 + size), crc32(0, body, static_cast<uInt>(size + 4)));
    if (png.substr(at + 4, 4) == type) return png.substr(at + 8, size);
    at += size + 12;
  }
  ADD_FAILURE() << "there is no chunk " << type;
  return {};
}

TEST(Png, HoldsTheLevelsItWasGiven) {
  const std::vector<std::uint8_t> levels = {0, 1, 2, 2, 1, 0};
  const std::vector<Colour> palette = {{0, 0, 0}, {255, 0, 1}, {2, 3, 4}};
  const std::string png = encode_png(levels, 3, 2, palette);
  EXPECT_EQ(png.substr(0, 8), std::string("\x89PNG\r\n\x1a\n"));
  const std::string header = chunk(png, "IHDR");
  EXPECT_EQ(u32(header, 0), 3U);
  EXPECT_EQ(u32(header, 4), 2U);
  EXPECT_EQ(header.substr(8), std::string("\x08\x03\0\0\0", 5));
  EXPECT_EQ(chunk(png, "PLTE"), std::string("\0\0\0\xff\0\x01\x02\x03\x04", 9));
  const std::string packed = chunk(png, "IDAT");
  std::string rows(8, '?');
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(size, 8U);
  EXPECT_EQ(rows, std::string("\0\0\1\2\0\2\1\0", 8));
}

TEST(Palette, GetsDarkerWithEveryStep) {
  const std::vector<Colour> palette = sequential_palette(kPictureLevels);
  ASSERT_EQ(palette.size(), static_cast<std::size_t>(kPictureLevels));
  const auto luminance = [](const Colour& c) {
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  };
  for (std::size_t i = 1; i < palette.size(); ++i) {
    EXPECT_LT(luminance(palette[i]), luminance(palette[i - 1])) << i;
  }
}

TEST(Base64, MeetsTheVectorsOfTheRfc) {
  const std::vector<std::string> expected = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                             "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t length = 0; length < expected.size(); ++length) {
    EXPECT_EQ(base64(std::string("foobar").substr(0, length)), expected[length]);
  }
  EXPECT_EQ(base64("\xff\xff\xfe"), "///+");
}

}  // namespace
}  // namespace kith::png_test
