// SPDX-License-Identifier: Apache-2.0
#include "data/formats/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "kith/core/error.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) throw io_error("cannot open " + in_quotes(path, 400));
  struct stat info {};
  if (::fstat(file.value, &info) != 0) throw io_error("cannot read " + in_quotes(path, 400));
  if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    throw io_error("cannot read " + in_quotes(path, 400));
  }
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ == 0) return;
  void* start = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (start == MAP_FAILED) throw io_error("cannot map " + in_quotes(path, 400) + " into memory");
  data_ = static_cast<const std::byte*>(start);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace kith::detail
