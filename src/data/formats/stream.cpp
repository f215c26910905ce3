// SPDX-License-Identifier: Apache-2.0
#include "data/formats/stream.hpp"
#include "core/errors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kith::detail {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{64} << 10;
constexpr std::size_t kStoredChunk = std::size_t{256} << 10;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr std::string_view kZstdSkippable = "\x2a\x4d\x18";  // behind a byte 0x50 .. 0x5f

constexpr std::size_t kSmallestBuffer = std::size_t{4} << 10;

/// The size of a buffer for so many bytes: a small file needs no large one. One byte more than the
/// content lets the end be seen in the same read.
std::size_t fitting(std::size_t largest, bool known, std::int64_t bytes) {
  if (!known) return largest;
  return std::clamp(static_cast<std::size_t>(bytes) + 1, kSmallestBuffer, largest);
}

bool is_zstd(std::string_view bytes) {
  if (bytes.starts_with(kZstdMagic)) return true;
  return bytes.size() > 4 && (static_cast<unsigned char>(bytes[0]) & 0xf0U) == 0x50U &&
         bytes.substr(1).starts_with(kZstdSkippable);
}

/// The name of a packed format that is known but not read; empty for everything else.
std::string_view unread_packing(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("BZh"sv) && bytes.substr(std::min<std::size_t>(4, bytes.size()))
                                        .starts_with("\x31\x41\x59\x26\x53\x59"sv)) {
    return "bzip2";
  }
  if (bytes.starts_with("\xfd"
                        "7zXZ\0"sv)) {
    return "xz";
  }
  if (bytes.starts_with("PK\x03\x04"sv)) return "zip";
  return {};
}

/// The bytes as stored: a file descriptor or memory.
class StoredBytes {
 public:
  StoredBytes(std::string_view memory, std::string name)
      : name_(std::move(name)),
        memory_(memory),
        size_known_(true),
        size_(static_cast<std::int64_t>(memory.size())) {}

  explicit StoredBytes(const std::string& path) : name_(path) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw io_error(fmt::format("cannot open {}", path));
    struct stat info {};
    if (::fstat(fd_, &info) != 0) fail("cannot examine");
    if (S_ISDIR(info.st_mode)) {
      ::close(fd_);
      throw Error(ErrorCode::kIo, path + ": is a directory; a file was expected");
    }
    if (S_ISREG(info.st_mode)) {
      size_ = info.st_size;
      regular_ = size_known_ = true;
    }
  }
  StoredBytes(const StoredBytes&) = delete;
  StoredBytes& operator=(const StoredBytes&) = delete;
  ~StoredBytes() {
    if (fd_ >= 0) ::close(fd_);
  }

  std::size_t read(std::span<char> buffer) {
    std::size_t got = 0;
    if (fd_ < 0) {
      got = std::min(buffer.size(), memory_.size() - static_cast<std::size_t>(position_));
      std::copy_n(memory_.data() + position_, got, buffer.data());
    }
    while (fd_ >= 0 && got < buffer.size()) {
      const ssize_t n = ::read(fd_, buffer.data() + got, buffer.size() - got);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw io_error(fmt::format("cannot read {}", name_));
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    position_ += static_cast<std::int64_t>(got);
    if (regular_ && got < buffer.size() && position_ < size_) {
      throw Error(ErrorCode::kIo,
                  fmt::format("{}: ended after {} of its {} bytes; it was cut while being read",
                              name_, position_, size_));
    }
    return got;
  }

  const std::string& name() const { return name_; }
  bool regular() const { return regular_; }
  bool size_known() const { return size_known_; }
  std::int64_t size() const { return size_; }
  std::int64_t position() const { return position_; }

 private:
  [[noreturn]] void fail(std::string_view what) {
    const Error error = io_error(fmt::format("{} {}", what, name_));
    ::close(fd_);
    throw error;
  }

  std::string name_;
  std::string_view memory_;
  int fd_ = -1;
  bool regular_ = false;
  bool size_known_ = false;
  std::int64_t size_ = 0;
  std::int64_t position_ = 0;
};

}  // namespace

/// Stored bytes pass through `stored` into one decoder. Only the state of the decoder in use is set
/// up.
struct ByteSource::Impl {
  template <class... Args>
  explicit Impl(Args&&... args)
      : file(std::forward<Args>(args)...),
        stored(fitting(kStoredChunk, file.size_known(), file.size())) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (compression == Compression::kGzip) inflateEnd(&gzip);
    ZSTD_freeDCtx(zstd);
  }

  void start();
  std::size_t decode(std::span<char> out);
  std::size_t decode_plain(std::span<char> out);
  std::size_t decode_gzip(std::span<char> out);
  std::size_t decode_zstd(std::span<char> out);
  bool refill();
  bool next_gzip_member();
  std::string_view left() const { return {stored.data() + stored_at, stored_end - stored_at}; }
  [[nodiscard]] Error damaged(std::string_view kind, std::string_view what) const {
    return bad_input({file.name()}, "damaged {} data near stored byte {}: {}", kind,
                     file.position() - static_cast<std::int64_t>(left().size()), what);
  }
  [[nodiscard]] Error truncated(std::string_view kind) const {
    return bad_input({file.name()},
                     "truncated {} data: the file ends after {} bytes, before the end "
                     "of the compressed stream",
                     kind, file.position());
  }

  StoredBytes file;
  Compression compression = Compression::kNone;
  std::vector<char> stored;
  std::size_t stored_at = 0;
  std::size_t stored_end = 0;
  z_stream gzip{};
  ZSTD_DCtx* zstd = nullptr;
  bool inside = false;  // of a gzip member or zstd frame
  std::vector<char> head;
  std::size_t head_at = 0;
  bool head_read = false;
};

bool ByteSource::Impl::refill() {
  const std::size_t kept = stored_end - stored_at;
  std::memmove(stored.data(), stored.data() + stored_at, kept);
  stored_at = 0;
  const std::size_t got = file.read(std::span(stored).subspan(kept));
  stored_end = kept + got;
  return got > 0;
}

void ByteSource::Impl::start() {
  refill();
  if (left().starts_with(kGzipMagic)) {
    // 15 + 16: the largest window, gzip header and trailer (checksum, length) checked by zlib.
    if (inflateInit2(&gzip, 15 + 16) != Z_OK) {
      throw Error(ErrorCode::kInternal, "zlib could not be started");
    }
    compression = Compression::kGzip;
    inside = true;
  } else if (is_zstd(left())) {
    zstd = ZSTD_createDCtx();
    if (zstd == nullptr) throw Error(ErrorCode::kInternal, "zstd could not be started");
    compression = Compression::kZstd;
  } else if (const std::string_view packing = unread_packing(left()); !packing.empty()) {
    throw bad_input({file.name()},
                    "packed with {}, which is not read; unpack it, or "
                    "pack it with gzip or zstd",
                    packing);
  }
}

std::size_t ByteSource::Impl::decode(std::span<char> out) {
  switch (compression) {
    case Compression::kGzip:
      return decode_gzip(out);
    case Compression::kZstd:
      return decode_zstd(out);
    case Compression::kNone:
      break;
  }
  return decode_plain(out);
}

std::size_t ByteSource::Impl::decode_plain(std::span<char> out) {
  const std::size_t first = std::min(out.size(), left().size());
  std::copy_n(left().data(), first, out.data());
  stored_at += first;
  return first == out.size() ? first : first + file.read(out.subspan(first));
}

/// Another member, or nothing but the zero padding of tapes, which gzip itself ignores.
bool ByteSource::Impl::next_gzip_member() {
  while (true) {
    while (stored_at < stored_end && stored[stored_at] == '\0') ++stored_at;
    if (left().size() < kGzipMagic.size() && refill()) continue;
    if (left().empty()) return false;
    if (!left().starts_with(kGzipMagic)) {
      throw damaged("gzip", "bytes that are no gzip member follow the compressed stream");
    }
    inflateReset(&gzip);
    return true;
  }
}

std::size_t ByteSource::Impl::decode_gzip(std::span<char> out) {
  std::size_t made = 0;
  while (made < out.size()) {
    if (!inside) {
      if (!next_gzip_member()) break;
      inside = true;
    }
    if (left().empty() && !refill()) throw truncated("gzip");
    gzip.next_in = reinterpret_cast<Bytef*>(stored.data() + stored_at);
    gzip.avail_in = static_cast<uInt>(left().size());
    gzip.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    const std::size_t room = std::min(out.size() - made, std::size_t{1} << 30);
    gzip.avail_out = static_cast<uInt>(room);
    const int code = inflate(&gzip, Z_NO_FLUSH);
    stored_at = stored_end - gzip.avail_in;
    made += room - gzip.avail_out;
    if (code == Z_STREAM_END) {
      inside = false;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      throw damaged("gzip", gzip.msg != nullptr ? gzip.msg : "zlib gave up");
    }
  }
  return made;
}

std::size_t ByteSource::Impl::decode_zstd(std::span<char> out) {
  std::size_t made = 0;
  while (made < out.size()) {
    // The decoder may hold finished bytes back, so it is asked again before the end is believed.
    const bool more = !left().empty() || refill();
    ZSTD_inBuffer in{stored.data() + stored_at, left().size(), 0};
    ZSTD_outBuffer into{out.data() + made, out.size() - made, 0};
    const std::size_t code = ZSTD_decompressStream(zstd, &into, &in);
    stored_at += in.pos;
    if (ZSTD_isError(code) != 0) throw damaged("zstd", ZSTD_getErrorName(code));
    if (more || into.pos > 0) inside = code != 0;
    made += into.pos;
    if (!more && into.pos == 0) {
      if (inside) throw truncated("zstd");
      break;
    }
  }
  return made;
}

ByteSource::ByteSource(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) { impl_->start(); }
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

ByteSource ByteSource::open(const std::string& path) {
  return ByteSource(std::make_unique<Impl>(path));
}

ByteSource ByteSource::from_memory(std::string_view bytes, std::string name) {
  return ByteSource(std::make_unique<Impl>(bytes, std::move(name)));
}

std::string_view ByteSource::head() {
  if (!impl_->head_read) {
    impl_->head.resize(fitting(kHeadBytes, plain_size().has_value(), plain_size().value_or(0)));
    impl_->head.resize(impl_->decode(impl_->head));
    impl_->head_read = true;
  }
  return {impl_->head.data(), impl_->head.size()};
}

std::size_t ByteSource::read(std::span<char> buffer) {
  const std::size_t from_head = std::min(buffer.size(), impl_->head.size() - impl_->head_at);
  std::copy_n(impl_->head.data() + impl_->head_at, from_head, buffer.data());
  impl_->head_at += from_head;
  return from_head == buffer.size() ? from_head
                                    : from_head + impl_->decode(buffer.subspan(from_head));
}

const std::string& ByteSource::name() const { return impl_->file.name(); }
Compression ByteSource::compression() const { return impl_->compression; }
bool ByteSource::is_plain_file() const {
  return impl_->file.regular() && impl_->compression == Compression::kNone;
}
std::optional<std::int64_t> ByteSource::plain_size() const {
  if (impl_->compression != Compression::kNone || !impl_->file.size_known()) return std::nullopt;
  return impl_->file.size();
}
void ByteSource::report(std::string_view stage, const RunContext& ctx) const {
  ctx.check_stop();
  ctx.progress(stage, static_cast<double>(impl_->file.position()),
               static_cast<double>(impl_->file.size()));
}

// --- lines

namespace {
constexpr std::size_t kLineBuffer = std::size_t{1} << 20;
}

LineReader::LineReader(ByteSource& source, std::size_t longest_line)
    : source_(&source),
      longest_line_(longest_line),
      buffer_(
          fitting(kLineBuffer, source.plain_size().has_value(), source.plain_size().value_or(0))) {}

/// Moves the current line to the front of the buffer and reads on behind it.
void LineReader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
  filled_ -= begin_;
  end_ -= begin_;
  next_ -= begin_;
  begin_ = 0;
  if (filled_ == buffer_.size()) {
    if (filled_ >= longest_line_) {
      throw bad_input({name(), last_line_ + 1},
                      "a line of more than {} bytes; is this a text file?", longest_line_);
    }
    buffer_.resize(buffer_.size() * 2);
  }
  const std::size_t got = source_->read(std::span(buffer_).subspan(filled_));
  filled_ += got;
  at_end_ = filled_ < buffer_.size();
}

/// Sets end_ and next_ to the first line end at or behind `from`; false where the bytes ended
/// before it.
bool LineReader::find_end(std::size_t from) {
  while (true) {
    const void* hit =
        from < filled_ ? std::memchr(buffer_.data() + from, '\n', filled_ - from) : nullptr;
    if (hit != nullptr) {
      end_ = static_cast<std::size_t>(static_cast<const char*>(hit) - buffer_.data());
      next_ = end_ + 1;
      return true;
    }
    if (at_end_) {
      if (next_ >= filled_) return false;
      end_ = next_ = filled_;
      return true;
    }
    from = filled_ - begin_;
    refill();
  }
}

void LineReader::skip_byte_order_mark() {
  started_ = true;
  const std::string_view head = source_->head();
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) {
    throw bad_input({name()}, "the text is UTF-16; save it as UTF-8");
  }
  if (head.starts_with("\xef\xbb\xbf")) {
    char mark[3];
    (void)source_->read(mark);
  }
}

std::string_view LineReader::current() const {
  const std::string_view line(buffer_.data() + begin_, end_ - begin_);
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

bool LineReader::next(std::string_view& line) {
  if (!started_) skip_byte_order_mark();
  begin_ = next_;
  if (!find_end(begin_)) return false;
  first_line_ = ++last_line_;
  line = current();
  return true;
}

bool LineReader::extend(std::string_view& line) {
  if (!find_end(next_)) return false;
  ++last_line_;
  line = current();
  return true;
}

}  // namespace kith::detail
