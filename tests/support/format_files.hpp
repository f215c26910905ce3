// SPDX-License-Identifier: Apache-2.0
// Small files of a format, and what reading them says.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/data/atomic_file.hpp"
#include "kith/data/formats.hpp"

namespace kith::testing_support {

/// A name in the test folder that nobody else uses; the file is removed at the end.
class TempFile {
 public:
  explicit TempFile(std::string_view ending) {
    static std::atomic<int> count{0};
    path_ = testing::TempDir() + "kith_" + std::to_string(::getpid()) + "_" +
            std::to_string(count++) + std::string(ending);
  }
  TempFile(std::string_view ending, std::string_view content) : TempFile(ending) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() { std::remove(path_.c_str()); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string content() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

/// `content` compressed as the ending (.gz, .zst) says.
inline void write_packed(const TempFile& file, std::string_view content) {
  AtomicFile out(file.path());
  out.write(content);
  out.commit();
}

inline SimilaritySet read_file(const TempFile& file, const ReadSettings& settings = {}) {
  return read_similarity(file.path(), settings, RunContext{});
}

inline SimilaritySet read_text(std::string_view content, Format format,
                               ReadSettings settings = {}) {
  const TempFile file(".dat", content);
  settings.format = format;
  return read_file(file, settings);
}

/// The message of the Error that `action` throws, without the folder of the test; empty where it
/// throws none.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::string error_of_text(std::string_view content, Format format,
                                 const ReadSettings& settings = {}) {
  return error_of([&] { (void)read_text(content, format, settings); });
}

inline std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

/// The value of a pair in whatever form the table is held.
inline double value_at(const SimilaritySet& set, Index i, Index j) {
  return to_dense(set.block)(i, j);
}

}  // namespace kith::testing_support
