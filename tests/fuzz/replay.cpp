// SPDX-License-Identifier: Apache-2.0
// Runs a fuzzer's function over every file of the given folders, and over each file cut short at
// every byte of its beginning: parsers must refuse half a file as calmly as a whole one.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kLongestCut = 4096;

void replay(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t size = 0; size <= std::min(bytes.size(), kLongestCut); ++size) {
    // A buffer of exactly this size lets a sanitizer see reads behind its end.
    const std::vector<std::uint8_t> part(bytes.begin(),
                                         bytes.begin() + static_cast<std::ptrdiff_t>(size));
    (void)LLVMFuzzerTestOneInput(part.data(), part.size());
  }
  const std::vector<std::uint8_t> whole(bytes.begin(), bytes.end());
  (void)LLVMFuzzerTestOneInput(whole.data(), whole.size());
}

}  // namespace

int main(int count, char** arguments) try {
  int files = 0;
  for (int i = 1; i < count; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(arguments[i])) {
      if (!entry.is_regular_file()) continue;
      std::printf("%s\n", entry.path().filename().c_str());
      std::fflush(stdout);
      replay(entry.path());
      ++files;
    }
  }
  if (files == 0) std::fputs("no files to replay\n", stderr);
  return files == 0 ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "unexpected: %s\n", error.what());
  return 1;
}
