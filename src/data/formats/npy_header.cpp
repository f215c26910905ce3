// SPDX-License-Identifier: Apache-2.0
// The header is a Python literal: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
#include "data/formats/npy_header.hpp"

#include <bit>
#include <optional>
#include <vector>

#include "core/errors.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// A cursor over the literal; each step takes what it names or throws.
class Literal {
 public:
  Literal(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  [[nodiscard]] bool take(char wanted) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) throw broken(std::string("'") + wanted + "' expected");
  }
  [[nodiscard]] std::string_view string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') throw broken("a quoted word expected");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) throw broken("a quote is not closed");
    const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return word;
  }
  [[nodiscard]] bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    throw broken("True or False expected");
  }
  [[nodiscard]] std::vector<long long> tuple() {
    expect('(');
    std::vector<long long> numbers;
    while (!take(')')) {
      numbers.push_back(integer());
      if (take(',')) continue;
      expect(')');
      break;
    }
    return numbers;
  }
  void expect_end() {
    skip_space();
    if (at_ != text_.size()) throw broken("text behind the closing brace");
  }
  [[nodiscard]] Error broken(const std::string& what) const {
    return bad_input({file_},
                     "the npy header is not the dictionary NumPy writes: {} at byte {} of {}", what,
                     at_, in_quotes(trim(text_), 120));
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  [[nodiscard]] long long integer() {
    skip_space();
    const std::size_t end = text_.find_first_of("L,) \n", at_);
    const std::string_view digits = text_.substr(at_, end - at_);
    const std::optional<long long> value = parse_integer(digits);
    if (!value) throw broken("whole number expected, " + in_quotes(digits) + " found");
    at_ += digits.size();
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
    return *value;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

void set_type(NpyHeader& header, std::string_view descr, const std::string& file) {
  const Error unknown = bad_input(
      {file},
      "numbers of npy type {} cannot be read; real types f4, f8, i1 to i8, u1 to u8 and bool can",
      in_quotes(descr));
  if (descr.size() != 3) throw unknown;
  const char order = descr[0];
  const std::string_view type = descr.substr(1);
  if (type == "f4" || type == "f8") {
    header.kind = NpyKind::kFloat;
  } else if (type == "i1" || type == "i2" || type == "i4" || type == "i8") {
    header.kind = NpyKind::kSigned;
  } else if (type == "u1" || type == "u2" || type == "u4" || type == "u8") {
    header.kind = NpyKind::kUnsigned;
  } else if (type == "b1") {
    header.kind = NpyKind::kBool;
  } else {
    throw unknown;
  }
  header.item_size = static_cast<std::size_t>(type[1] - '0');
  constexpr bool kLittle = std::endian::native == std::endian::little;
  if (order == '<' || order == '>') {
    header.swapped = (order == '<') != kLittle;
  } else if (order != '|' && order != '=') {
    throw unknown;
  }
}

void set_shape(NpyHeader& header, const std::vector<long long>& shape, const std::string& file) {
  std::string words = "(";
  for (const long long extent : shape) {
    words += (words.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  words += shape.size() == 1 ? ",)" : ")";
  if (shape.size() != 2) {
    throw bad_input({file}, "an array of shape {} has {} dimensions; a table of pairs has 2", words,
                    shape.size());
  }
  for (const long long extent : shape) {
    if (extent < 0) throw bad_input({file}, "the npy header claims the negative shape {}", words);
    if (extent == 0) throw bad_input({file}, "an array of shape {} has no pairs", words);
  }
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(shape[0]),
                             static_cast<std::uint64_t>(shape[1]), &elements) ||
      __builtin_mul_overflow(elements, std::uint64_t{8}, &bytes) || (bytes >> 63U) != 0) {
    throw bad_input({file}, "the npy header claims the shape {}, more than any memory holds",
                    words);
  }
  header.rows = static_cast<Index>(shape[0]);
  header.cols = static_cast<Index>(shape[1]);
}

}  // namespace

std::size_t npy_data_offset(std::string_view start, const std::string& file) {
  if (start.empty()) throw bad_input({file}, "the file is empty");
  if (!start.starts_with(kMagic)) {
    throw bad_input({file}, "not an npy file: it does not begin with \\x93NUMPY");
  }
  if (start.size() < kNpyLongPrefix) throw bad_input({file}, "the npy header is cut short");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(start[i]));
  };
  const std::size_t major = byte(6);
  if (major < 1 || major > 3) {
    throw bad_input({file}, "npy version {}.{} is not known; 1.0, 2.0 and 3.0 are", major, byte(7));
  }
  const std::size_t text = major == 1 ? byte(8) | byte(9) << 8U
                                      : byte(8) | byte(9) << 8U | byte(10) << 16U | byte(11) << 24U;
  if (text > kNpyLongestHeader) {
    throw bad_input({file}, "the npy header claims to be {} bytes long; at most {} are read", text,
                    kNpyLongestHeader);
  }
  return (major == 1 ? kNpyShortPrefix : kNpyLongPrefix) + text;
}

NpyHeader parse_npy_header(std::string_view text, const std::string& file) {
  Literal literal(text, file);
  NpyHeader header;
  bool has_type = false;
  bool has_order = false;
  bool has_shape = false;
  literal.expect('{');
  while (!literal.take('}')) {
    const std::string_view key = literal.string();
    literal.expect(':');
    if (key == "descr") {
      if (literal.take('[')) {
        throw bad_input({file}, "a structured npy array cannot be read; plain real numbers can");
      }
      set_type(header, literal.string(), file);
      has_type = true;
    } else if (key == "fortran_order") {
      header.fortran_order = literal.boolean();
      has_order = true;
    } else if (key == "shape") {
      set_shape(header, literal.tuple(), file);
      has_shape = true;
    } else {
      throw literal.broken("unknown key " + in_quotes(key));
    }
    if (literal.take(',')) continue;
    literal.expect('}');
    break;
  }
  literal.expect_end();
  if (!has_type || !has_order || !has_shape) {
    throw literal.broken("descr, fortran_order and shape are all needed");
  }
  return header;
}

}  // namespace kith::detail
