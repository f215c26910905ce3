// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>

#include "support/format_files.hpp"

namespace kith::npy_test {
namespace {

using testing::HasSubstr;
using testing_support::bits;
using testing_support::error_of;
using testing_support::error_of_text;
using testing_support::read_file;
using testing_support::read_text;
using testing_support::TempFile;
using testing_support::value_at;
using testing_support::write_packed;

std::string npy(const std::string& dictionary, const std::string& data, int major = 1) {
  std::string header = dictionary + "\n";
  const std::size_t prefix = major == 1 ? 10 : 12;
  while ((prefix + header.size()) % 64 != 0) header.insert(header.size() - 1, " ");
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  const std::size_t bytes = major == 1 ? 2 : 4;
  for (std::size_t i = 0; i < bytes; ++i) {
    file += static_cast<char>((header.size() >> (8 * i)) & 0xffU);
  }
  return file + header + data;
}

std::string dictionary(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

template <class Number>
std::string raw(std::initializer_list<Number> numbers, bool swapped = false) {
  std::string bytes;
  for (const Number number : numbers) {
    std::string one(sizeof(Number), '\0');
    std::memcpy(one.data(), &number, sizeof(Number));
    if (swapped) one = std::string(one.rbegin(), one.rend());
    bytes += one;
  }
  return bytes;
}

std::string error_of_npy(const std::string& content) {
  return error_of_text(content, Format::kNpy);
}

TEST(Npy, ReadsDoublesOfEachVersionInTheirOrder) {
  for (const int version : {1, 2, 3}) {
    const SimilaritySet set =
        read_text(npy(dictionary("<f8", "(2, 3)"), raw({1.0, 2.0, 3.0, 4.0, 5.0, -0.0}), version),
                  Format::kNpy);
    ASSERT_EQ(set.rows(), 2);
    ASSERT_EQ(set.cols(), 3);
    EXPECT_EQ(value_at(set, 0, 2), 3.0);
    EXPECT_EQ(value_at(set, 1, 0), 4.0);
    EXPECT_EQ(bits(value_at(set, 1, 2)), bits(-0.0));
  }
}

TEST(Npy, ReadsColumnMajorAndForeignByteOrder) {
  const SimilaritySet columns = read_text(
      npy(dictionary("<f8", "(2, 3)", true), raw({1.0, 4.0, 2.0, 5.0, 3.0, 6.0})), Format::kNpy);
  const SimilaritySet swapped = read_text(
      npy(dictionary(">f8", "(2, 3)"), raw({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, true)), Format::kNpy);
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(value_at(columns, i, j), static_cast<double>(i * 3 + j + 1));
      EXPECT_EQ(value_at(swapped, i, j), static_cast<double>(i * 3 + j + 1));
    }
  }
}

template <class Number>
void expect_type(const std::string& type) {
  const Number least = std::numeric_limits<Number>::lowest();
  const Number most = std::numeric_limits<Number>::max();
  for (const bool swapped : {false, true}) {
    const SimilaritySet set = read_text(
        npy(dictionary((swapped ? ">" : "<") + type, "(1, 2)"), raw({least, most}, swapped)),
        Format::kNpy);
    EXPECT_EQ(value_at(set, 0, 0), static_cast<double>(least)) << type;
    EXPECT_EQ(value_at(set, 0, 1), static_cast<double>(most)) << type;
  }
}

TEST(Npy, ReadsEveryRealType) {
  expect_type<float>("f4");
  expect_type<std::int8_t>("i1");
  expect_type<std::int16_t>("i2");
  expect_type<std::int32_t>("i4");
  expect_type<std::int64_t>("i8");
  expect_type<std::uint8_t>("u1");
  expect_type<std::uint16_t>("u2");
  expect_type<std::uint32_t>("u4");
  expect_type<std::uint64_t>("u8");
  const SimilaritySet set =
      read_text(npy(dictionary("|b1", "(1, 2)"), std::string("\0\1", 2)), Format::kNpy);
  EXPECT_EQ(value_at(set, 0, 1), 1.0);
}

TEST(Npy, KeepsTheMappedNumbersWhenTheFileIsDeleted) {
  SimilaritySet set;
  {
    const TempFile file(".npy", npy(dictionary("<f8", "(1, 2)"), raw({7.0, 8.0})));
    set = read_file(file);
  }
  EXPECT_EQ(set.format, "npy");
  EXPECT_EQ(value_at(set, 0, 1), 8.0);
}

TEST(Npy, ReadsCompressedFilesAndNoFurtherThanTheHeaderSays) {
  const std::string good = npy(dictionary("<f8", "(1, 2)"), raw({7.0, 8.0}));
  for (const char* ending : {".npy.gz", ".npy.zst"}) {
    const TempFile file(ending);
    write_packed(file, good);
    EXPECT_EQ(value_at(read_file(file), 0, 1), 8.0);
    write_packed(file, good + "x");
    EXPECT_THAT(error_of([&] { (void)read_file(file); }), HasSubstr("the file has more"));
    write_packed(file, npy(dictionary("<f8", "(1000000000000, 1)"), raw({1.0})));
    EXPECT_THAT(error_of([&] { (void)read_file(file); }),
                HasSubstr("claims 1000000000000 x 1 numbers"));
  }
}

TEST(Npy, TakesNanForAMissingPairAndRefusesInfinity) {
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  const SimilaritySet set =
      read_text(npy(dictionary("<f8", "(1, 2)"), raw({nan, 1.0})), Format::kNpy);
  EXPECT_EQ(missing_pairs(set.block), 1);
  EXPECT_THAT(error_of_npy(npy(dictionary("<f8", "(2, 2)"), raw({nan, 1.0, -inf, 1.0}))),
              HasSubstr("row 2, column 1 is -inf"));
}

TEST(Npy, RefusesAHeaderTheFileDoesNotBack) {
  EXPECT_THAT(error_of_npy(npy(dictionary("<f8", "(1000000000000, 1000)"), raw({1.0}))),
              HasSubstr("claims 1000000000000 x 1000 numbers"));
  EXPECT_THAT(
      error_of_npy(npy(dictionary("<f8", "(9000000000000000000, 9000000000000000000)"), "")),
      HasSubstr("more than any memory holds"));
  EXPECT_THAT(error_of_npy(npy(dictionary("<f8", "(-1, 2)"), raw({1.0}))), HasSubstr("negative"));
  EXPECT_THAT(error_of_npy(npy(dictionary("<f8", "(1, 1)"), raw({1.0, 2.0}))),
              HasSubstr("(8 bytes), but the file has 16"));
}

TEST(Npy, RefusesOtherShapesAndTypes) {
  EXPECT_THAT(error_of_npy(npy(dictionary("<f8", "(4,)"), raw({1.0}))),
              HasSubstr("shape (4,) has 1 dimensions"));
  EXPECT_THAT(error_of_npy(npy(dictionary("<f8", "(1, 1, 1)"), raw({1.0}))),
              HasSubstr("3 dimensions"));
  EXPECT_THAT(error_of_npy(npy(dictionary("<f8", "(0, 3)"), "")), HasSubstr("no pairs"));
  EXPECT_THAT(error_of_npy(npy(dictionary("<c16", "(1, 1)"), raw({1.0, 1.0}))),
              HasSubstr("\"<c16\""));
  EXPECT_THAT(error_of_npy(npy(dictionary("|O", "(1, 1)"), raw({1.0}))), HasSubstr("\"|O\""));
  EXPECT_THAT(
      error_of_npy(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "")),
      HasSubstr("structured"));
}

TEST(Npy, RefusesBrokenHeaders) {
  EXPECT_THAT(error_of_npy("\x93NUMPZ......."), HasSubstr("not an npy file"));
  EXPECT_THAT(error_of_npy(std::string("\x93NUMPY\7\0\0\0\0\0", 12)), HasSubstr("version 7.0"));
  EXPECT_THAT(error_of_npy(npy("{'descr': '<f8', 'shape': (1, 1)}", raw({1.0}))),
              HasSubstr("fortran_order"));
  EXPECT_THAT(error_of_npy(npy("{'descr': '<f8", "")), HasSubstr("not closed"));
  EXPECT_THAT(error_of_npy(npy("{'spam': '<f8'}", "")), HasSubstr("unknown key \"spam\""));
}

TEST(Npy, RefusesEveryTruncation) {
  const std::string whole = npy(dictionary("<f8", "(2, 2)"), raw({1.0, 2.0, 3.0, 4.0}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(error_of_npy(whole.substr(0, length)), "") << length << " bytes were read";
  }
}

TEST(Npy, HandsOutRowsOneByOne) {
  const TempFile file(".npy", npy(dictionary("<f8", "(2, 2)", true), raw({1.0, 2.0, 3.0, 4.0})));
  const std::unique_ptr<RowReader> rows = open_rows(file.path(), {}, RunContext{});
  ASSERT_EQ(rows->cols(), 2);
  EXPECT_FALSE(rows->has_row_ids());
  std::vector<double> row(2);
  std::string id;
  ASSERT_TRUE(rows->next(row, id));
  EXPECT_EQ(row, (std::vector<double>{1.0, 3.0}));
  ASSERT_TRUE(rows->next(row, id));
  EXPECT_EQ(row, (std::vector<double>{2.0, 4.0}));
  EXPECT_FALSE(rows->next(row, id));
}

}  // namespace
}  // namespace kith::npy_test
