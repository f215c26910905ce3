// SPDX-License-Identifier: Apache-2.0
//   kith_fuzz_replay FUZZER FOLDER...
// Runs a fuzzer's function over every file of the given folders, and over each file cut short at
// every byte of its beginning: parsers must refuse half a file as calmly as a whole one.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzers.inc"  // KITH_FUZZERS(F) is F(csv) F(npy) ...: CMakeLists.txt names each fuzzer once

#define KITH_DECLARE(name) int fuzz_##name(const std::uint8_t* data, std::size_t size);
extern "C" {
KITH_FUZZERS(KITH_DECLARE)
}

namespace {

using Fuzzer = int (*)(const std::uint8_t* data, std::size_t size);

#define KITH_NAME(name) {#name, &fuzz_##name},
const std::map<std::string_view, Fuzzer> kFuzzers = {KITH_FUZZERS(KITH_NAME)};

constexpr std::size_t kLongestCut = 4096;

void replay(Fuzzer fuzzer, const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t size = 0; size <= std::min(bytes.size(), kLongestCut); ++size) {
    // A buffer of exactly this size lets a sanitizer see reads behind its end.
    const std::vector<std::uint8_t> part(bytes.begin(),
                                         bytes.begin() + static_cast<std::ptrdiff_t>(size));
    (void)fuzzer(part.data(), part.size());
  }
  const std::vector<std::uint8_t> whole(bytes.begin(), bytes.end());
  (void)fuzzer(whole.data(), whole.size());
}

}  // namespace

int main(int count, char** arguments) try {
  const Fuzzer fuzzer = kFuzzers.at(count > 1 ? arguments[1] : "");
  int files = 0;
  for (int i = 2; i < count; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(arguments[i])) {
      if (!entry.is_regular_file()) continue;
      std::printf("%s\n", entry.path().filename().c_str());
      std::fflush(stdout);
      replay(fuzzer, entry.path());
      ++files;
    }
  }
  if (files == 0) std::fputs("no files to replay\n", stderr);
  return files == 0 ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "unexpected: %s\n", error.what());
  return 1;
}
