// SPDX-License-Identifier: Apache-2.0
#include "kith/core/xxh64.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "kith/core/rng.hpp"
#include "kith/data/atomic_file.hpp"
#include "support/files.hpp"

namespace kith::xxh64_test {
namespace {

std::uint64_t hash_of(std::string_view bytes) {
  Xxh64 hash;
  hash.update(bytes);
  return hash.digest();
}

std::string random_bytes(std::size_t size) {
  Rng rng(size + 1);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
  return bytes;
}

TEST(Xxh64, HasThePublishedValues) {
  EXPECT_EQ(hex_digits(hash_of("")), "ef46db3751d8e999");
  EXPECT_EQ(hex_digits(hash_of("a")), "d24ec4f1a98c6e5b");
  EXPECT_EQ(hex_digits(hash_of("abc")), "44bc2cf5ad770999");
}

// A zstd frame ends with the low 32 bits of the XXH64 of its content: an independent
// implementation.
TEST(Xxh64, AgreesWithTheChecksumOfZstd) {
  for (std::size_t size = 1; size < 200; size += 9) {
    const std::string bytes = random_bytes(size);
    const TempFolder folder;
    const std::string path = folder.path("m.zst");
    AtomicFile out(path);
    out.write(bytes);
    out.commit();
    const std::string frame = content_of(path);
    ASSERT_GT(frame.size(), 4U);
    std::uint32_t stored = 0;
    std::memcpy(&stored, frame.data() + frame.size() - 4, 4);
    EXPECT_EQ(static_cast<std::uint32_t>(hash_of(bytes)), stored) << size << " bytes";
  }
}

TEST(Xxh64, DoesNotDependOnHowTheBytesArrive) {
  const std::string bytes = random_bytes(500);
  Rng rng(3);
  for (int repeat = 0; repeat < 50; ++repeat) {
    Xxh64 hash;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t part = std::min<std::size_t>(rng.below(70), bytes.size() - at);
      hash.update(std::string_view(bytes).substr(at, part));
      at += part;
    }
    EXPECT_EQ(hash.digest(), hash_of(bytes));
  }
}

}  // namespace
}  // namespace kith::xxh64_test
