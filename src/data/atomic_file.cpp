// SPDX-License-Identifier: Apache-2.0
#include "kith/data/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "kith/core/error.hpp"

namespace kith {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;
constexpr int kZstdLevel = 3;

/// Where the rename must go: through symbolic links, so that they stay links.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string out = real;
  std::free(real);
  return out;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A name beside `target` that no other writer, in this process or another, uses.
std::string temporary_beside(const std::string& target) {
  static std::atomic<unsigned> counter{0};
  const std::size_t slash = target.rfind('/');
  const std::size_t cut = slash == std::string::npos ? 0 : slash + 1;
  // A target with a name of the greatest length must still find room for the addition.
  const std::string stem = target.substr(cut, 200);
  return fmt::format("{}.{}.{}-{}.tmp", target.substr(0, cut), stem, ::getpid(), counter++);
}

}  // namespace

struct AtomicFile::Impl {
  explicit Impl(const std::string& given);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { abandon(); }

  void open_temporary();
  void start_compression();
  void put(std::string_view bytes);
  void flush();
  void deflate_all(std::string_view bytes, int mode);
  void zstd_all(std::string_view bytes, ZSTD_EndDirective mode);
  void write_out(std::span<const char> bytes);
  void finish();
  void abandon() noexcept;
  [[noreturn]] void fail(std::string_view what);

  std::string path;       // as the user gave it
  std::string target;     // what the rename replaces
  std::string temporary;  // empty: written directly, or renamed already
  int fd = -1;
  std::string buffer;        // plain bytes not yet written or compressed
  std::vector<char> packed;  // room for compressed bytes
  z_stream gzip{};
  bool is_gzip = false;
  ZSTD_CCtx* zstd = nullptr;
};

AtomicFile::Impl::Impl(const std::string& given) : path(given) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    throw Error(ErrorCode::kIo, fmt::format("cannot write {}: it is a directory", path));
  }
  const bool device = path.starts_with("/dev/") || path.starts_with("/proc/");
  if (device || (exists && !S_ISREG(info.st_mode))) {
    fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) fail("cannot write");
  } else {
    target = resolved(path);
    open_temporary();
    if (exists) (void)::fchmod(fd, info.st_mode & 07777U);
  }
  buffer.reserve(kBuffer);
  start_compression();
}

void AtomicFile::Impl::open_temporary() {
  constexpr int kAttempts = 100;  // leftovers of a killed process with the same number
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string name = temporary_beside(target);
    fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      temporary = name;
      return;
    }
    if (errno != EEXIST) break;
  }
  fail("cannot write");
}

void AtomicFile::Impl::start_compression() {
  if (path.ends_with(".gz")) {
    is_gzip = deflateInit2(&gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                           Z_DEFAULT_STRATEGY) == Z_OK;
    if (!is_gzip) throw Error(ErrorCode::kInternal, "zlib could not be started");
  } else if (path.ends_with(".zst")) {
    zstd = ZSTD_createCCtx();
    if (zstd == nullptr) throw Error(ErrorCode::kInternal, "zstd could not be started");
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
  }
  if (is_gzip || zstd != nullptr) packed.resize(kBuffer);
}

void AtomicFile::Impl::fail(std::string_view what) {
  const Error error = io_error(fmt::format("{} {}", what, path));
  abandon();
  throw error;
}

void AtomicFile::Impl::abandon() noexcept {
  if (fd >= 0) ::close(fd);
  fd = -1;
  if (!temporary.empty()) ::unlink(temporary.c_str());
  temporary.clear();
  if (is_gzip) deflateEnd(&gzip);
  is_gzip = false;
  ZSTD_freeCCtx(zstd);
  zstd = nullptr;
}

void AtomicFile::Impl::write_out(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void AtomicFile::Impl::deflate_all(std::string_view bytes, int mode) {
  gzip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  gzip.avail_in = static_cast<uInt>(bytes.size());
  do {
    gzip.next_out = reinterpret_cast<Bytef*>(packed.data());
    gzip.avail_out = static_cast<uInt>(packed.size());
    (void)deflate(&gzip, mode);
    write_out(std::span(packed).first(packed.size() - gzip.avail_out));
  } while (gzip.avail_out == 0);
}

void AtomicFile::Impl::zstd_all(std::string_view bytes, ZSTD_EndDirective mode) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  bool done = false;
  while (!done) {
    ZSTD_outBuffer out{packed.data(), packed.size(), 0};
    const std::size_t left = ZSTD_compressStream2(zstd, &out, &in, mode);
    if (ZSTD_isError(left) != 0) {
      throw Error(ErrorCode::kInternal, fmt::format("{}: zstd: {}", path, ZSTD_getErrorName(left)));
    }
    write_out(std::span(packed).first(out.pos));
    done = mode == ZSTD_e_end ? left == 0 : in.pos == in.size;
  }
}

/// Sends bytes of at most kBuffer on, through the compressor where there is one.
void AtomicFile::Impl::put(std::string_view bytes) {
  assert(bytes.size() <= UINT_MAX && "write() cuts longer runs");
  if (is_gzip) {
    deflate_all(bytes, Z_NO_FLUSH);
  } else if (zstd != nullptr) {
    zstd_all(bytes, ZSTD_e_continue);
  } else {
    write_out(bytes);
  }
}

void AtomicFile::Impl::flush() {
  put(buffer);
  buffer.clear();
}

void AtomicFile::Impl::finish() {
  flush();
  if (is_gzip) deflate_all({}, Z_FINISH);
  if (zstd != nullptr) zstd_all({}, ZSTD_e_end);
  if (!temporary.empty() && ::fsync(fd) != 0) fail("cannot bring to the disk");
  const int closing = std::exchange(fd, -1);
  if (::close(closing) != 0) fail("cannot write");
  if (temporary.empty()) return;
  if (::rename(temporary.c_str(), target.c_str()) != 0) fail("cannot rename to");
  temporary.clear();
  // The rename itself is on the disk once the folder is. Some file systems refuse; the file is
  // fine.
  const int folder = ::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
}

AtomicFile::AtomicFile(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile& AtomicFile::operator=(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

const std::string& AtomicFile::path() const { return impl_->path; }

void AtomicFile::write(std::string_view bytes) {
  assert(impl_->fd >= 0 && "nothing is written after commit() or an error");
  while (!bytes.empty()) {
    if (impl_->buffer.size() == kBuffer) impl_->flush();
    const std::size_t part = std::min(bytes.size(), kBuffer - impl_->buffer.size());
    impl_->buffer.append(bytes.substr(0, part));
    bytes.remove_prefix(part);
  }
}

void AtomicFile::commit() {
  assert(impl_->fd >= 0 && "commit() is called once");
  impl_->finish();
}

}  // namespace kith
