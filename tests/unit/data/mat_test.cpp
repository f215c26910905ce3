// SPDX-License-Identifier: Apache-2.0
#include <matio.h>

#include <array>
#include <cmath>
#include <limits>

#include "support/format_files.hpp"

/// HDF5 itself loses a few bytes when it gives up on a damaged file.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:libhdf5";
}

namespace kith::mat_test {
namespace {

using testing::HasSubstr;
using testing_support::bits;
using testing_support::error_of;
using testing_support::read_file;
using testing_support::TempFile;
using testing_support::value_at;
using testing_support::write_packed;

/// Writes variables into a MATLAB file through matio.
class MatWriter {
 public:
  MatWriter(const TempFile& file, mat_ft version,
            matio_compression compression = MAT_COMPRESSION_NONE)
      : mat_(Mat_CreateVer(file.path().c_str(), nullptr, version)), compression_(compression) {}
  ~MatWriter() { Mat_Close(mat_); }
  MatWriter(const MatWriter&) = delete;
  MatWriter& operator=(const MatWriter&) = delete;

  void add(const char* name, matio_classes type, matio_types held, std::vector<std::size_t> shape,
           const void* data, int options = 0) {
    matvar_t* variable = Mat_VarCreate(name, type, held, static_cast<int>(shape.size()),
                                       shape.data(), const_cast<void*>(data), options);
    EXPECT_EQ(Mat_VarWrite(mat_, variable, compression_), 0);
    Mat_VarFree(variable);
  }
  void add_doubles(const char* name, std::vector<std::size_t> shape,
                   const std::vector<double>& values) {
    add(name, MAT_C_DOUBLE, MAT_T_DOUBLE, std::move(shape), values.data());
  }

 private:
  mat_t* mat_;
  matio_compression compression_;
};

struct Kind {
  mat_ft version;
  matio_compression compression;
};
const std::vector<Kind> kKinds = {{MAT_FT_MAT5, MAT_COMPRESSION_NONE},
                                  {MAT_FT_MAT5, MAT_COMPRESSION_ZLIB},
                                  {MAT_FT_MAT73, MAT_COMPRESSION_NONE},
                                  {MAT_FT_MAT73, MAT_COMPRESSION_ZLIB}};

std::string error_of_mat(const TempFile& file, const std::string& variable = "") {
  ReadSettings settings;
  settings.format = Format::kMat;
  settings.variable = variable;
  return error_of([&] { (void)read_file(file, settings); });
}

TEST(Mat, ReadsADenseMatrixOfEachVersion) {
  const double nan = std::nan("");
  for (const Kind& kind : kKinds) {
    const TempFile file(".mat");
    {
      MatWriter writer(file, kind.version, kind.compression);
      writer.add_doubles("S", {2, 3}, {1, 4, 2, 5e-310, -0.0, nan});
    }
    const SimilaritySet set = read_file(file);
    EXPECT_EQ(set.format, "mat");
    ASSERT_EQ(set.rows(), 2);
    ASSERT_EQ(set.cols(), 3);
    EXPECT_EQ(value_at(set, 0, 1), 2);
    EXPECT_EQ(value_at(set, 1, 0), 4);
    EXPECT_EQ(value_at(set, 1, 1), 5e-310);
    EXPECT_EQ(bits(value_at(set, 0, 2)), bits(-0.0));
    EXPECT_TRUE(std::isnan(value_at(set, 1, 2)));
  }
}

TEST(Mat, ReadsSingleAndIntegerMatrices) {
  const std::array<float, 4> floats = {0.5F, 1, 2, 3};
  const std::array<std::int16_t, 4> shorts = {-7, 1, 2, 3};
  const std::array<std::uint8_t, 4> bytes = {200, 1, 2, 3};
  for (const Kind& kind : kKinds) {
    const TempFile file(".mat");
    {
      MatWriter writer(file, kind.version, kind.compression);
      writer.add("f", MAT_C_SINGLE, MAT_T_SINGLE, {2, 2}, floats.data());
      writer.add("s", MAT_C_INT16, MAT_T_INT16, {2, 2}, shorts.data());
      writer.add("b", MAT_C_UINT8, MAT_T_UINT8, {2, 2}, bytes.data());
    }
    ReadSettings settings;
    settings.variable = "f";
    EXPECT_EQ(value_at(read_file(file, settings), 0, 0), 0.5);
    settings.variable = "s";
    EXPECT_EQ(value_at(read_file(file, settings), 0, 0), -7);
    settings.variable = "b";
    EXPECT_EQ(value_at(read_file(file, settings), 0, 0), 200);
  }
}

TEST(Mat, KeepsASparseMatrixSparseWithZerosAbsent) {
  // Columns of a 3 x 2 matrix: {row 2: 5}, {row 0: 1, row 2: 7}.
  std::array<mat_uint32_t, 3> rows = {2, 0, 2};
  std::array<mat_uint32_t, 3> starts = {0, 1, 3};
  std::array<double, 3> values = {5, 1, 7};
  mat_sparse_t sparse{};
  sparse.nzmax = sparse.nir = sparse.ndata = 3;
  sparse.ir = rows.data();
  sparse.jc = starts.data();
  sparse.njc = 3;
  sparse.data = values.data();
  for (const Kind& kind : kKinds) {
    const TempFile file(".mat");
    {
      MatWriter writer(file, kind.version, kind.compression);
      writer.add("S", MAT_C_SPARSE, MAT_T_DOUBLE, {3, 2}, &sparse, MAT_F_DONT_COPY_DATA);
    }
    const SimilaritySet set = read_file(file);
    ASSERT_TRUE(is_sparse(set.block));
    const auto& block = std::get<SparseBlock>(set.block);
    EXPECT_EQ(block.absent, Absent::kZero);
    EXPECT_EQ(block.starts, (std::vector<std::int64_t>{0, 1, 1, 3}));
    EXPECT_EQ(block.columns, (std::vector<std::int32_t>{1, 0, 1}));
    EXPECT_EQ(block.values, (std::vector<double>{1, 5, 7}));
  }
  values[1] = std::nan("");
  const TempFile file(".mat");
  {
    MatWriter writer(file, MAT_FT_MAT5);
    writer.add("S", MAT_C_SPARSE, MAT_T_DOUBLE, {3, 2}, &sparse, MAT_F_DONT_COPY_DATA);
  }
  EXPECT_THAT(error_of_mat(file), HasSubstr("row 1, column 2 is NaN"));
}

TEST(Mat, ChoosesTheOnlyTableBesideVectors) {
  const TempFile file(".mat");
  {
    MatWriter writer(file, MAT_FT_MAT5);
    writer.add_doubles("labels", {2, 1}, {1, 2});
    writer.add_doubles("K", {2, 2}, {1, 2, 3, 4});
  }
  EXPECT_EQ(read_file(file).rows(), 2);
  EXPECT_EQ(read_file(file).cols(), 2);
}

TEST(Mat, ListsTheVariablesWhereTheChoiceIsOpen) {
  const TempFile file(".mat");
  {
    MatWriter writer(file, MAT_FT_MAT5);
    writer.add_doubles("A", {2, 2}, {1, 2, 3, 4});
    writer.add_doubles("B", {2, 3}, {1, 2, 3, 4, 5, 6});
  }
  const std::string message = error_of_mat(file);
  EXPECT_THAT(message, HasSubstr("A (2x2 double)"));
  EXPECT_THAT(message, HasSubstr("B (2x3 double)"));
  EXPECT_THAT(error_of_mat(file, "C"), HasSubstr("no variable \"C\""));
  EXPECT_EQ(error_of_mat(file, "B"), "");
}

TEST(Mat, RefusesWhatIsNoRealMatrixByName) {
  std::array<double, 4> part = {1, 2, 3, 4};
  mat_complex_split_t complex{part.data(), part.data()};
  const TempFile file(".mat");
  {
    MatWriter writer(file, MAT_FT_MAT5);
    writer.add("z", MAT_C_DOUBLE, MAT_T_DOUBLE, {2, 2}, &complex, MAT_F_COMPLEX);
    writer.add("word", MAT_C_CHAR, MAT_T_UTF8, {1, 4}, "text");
    writer.add("cells", MAT_C_CELL, MAT_T_CELL, {1, 2}, nullptr);
    writer.add_doubles("cube", {1, 2, 2}, {1, 2, 3, 4});
  }
  EXPECT_THAT(error_of_mat(file, "z"), HasSubstr("z (2x2 complex double)"));
  EXPECT_THAT(error_of_mat(file, "word"), HasSubstr("char"));
  EXPECT_THAT(error_of_mat(file, "cells"), HasSubstr("cell array"));
  EXPECT_THAT(error_of_mat(file, "cube"), HasSubstr("1x2x2"));
  EXPECT_THAT(error_of_mat(file), HasSubstr("no real matrix"));
}

TEST(Mat, RefusesInfinity) {
  const TempFile file(".mat");
  {
    MatWriter writer(file, MAT_FT_MAT5);
    writer.add_doubles("S", {2, 1}, {1, std::numeric_limits<double>::infinity()});
  }
  EXPECT_THAT(error_of_mat(file), HasSubstr("row 2, column 1 is inf"));
}

TEST(Mat, ReadsCompressedFiles) {
  const TempFile plain(".mat");
  {
    MatWriter writer(plain, MAT_FT_MAT73);
    writer.add_doubles("S", {2, 2}, {1, 2, 3, 4});
  }
  for (const char* ending : {".mat.gz", ".mat.zst"}) {
    const TempFile packed(ending);
    write_packed(packed, plain.content());
    EXPECT_EQ(value_at(read_file(packed), 1, 0), 2);
  }
}

TEST(Mat, RefusesEveryTruncation) {
  for (const Kind& kind : kKinds) {
    const TempFile whole(".mat");
    {
      MatWriter writer(whole, kind.version, kind.compression);
      writer.add_doubles("S", {4, 4}, std::vector<double>(16, 0.25));
    }
    const std::string content = whole.content();
    const std::size_t step = kind.version == MAT_FT_MAT73 ? 61 : 1;
    for (std::size_t length = 0; length < content.size(); length += step) {
      const TempFile cut(".mat", content.substr(0, length));
      EXPECT_NE(error_of_mat(cut), "") << length << " of " << content.size() << " bytes were read";
    }
  }
}

TEST(Mat, SurvivesAnyDamagedByte) {
  for (const Kind& kind : kKinds) {
    const TempFile whole(".mat");
    {
      MatWriter writer(whole, kind.version, kind.compression);
      writer.add_doubles("S", {4, 4}, std::vector<double>(16, 0.25));
    }
    std::string content = whole.content();
    const std::size_t step = kind.version == MAT_FT_MAT73 ? 7 : 1;
    for (std::size_t at = 0; at < content.size(); at += step) {
      content[at] = static_cast<char>(~content[at]);
      const TempFile damaged(".mat", content);
      (void)error_of_mat(damaged);  // an error or a table, but no crash and no output
      content[at] = static_cast<char>(~content[at]);
    }
  }
}

TEST(Mat, RefusesSizesTheFileDoesNotBack) {
  const TempFile whole(".mat");
  {
    MatWriter writer(whole, MAT_FT_MAT5);
    writer.add_doubles("S", {2, 2}, {1, 2, 3, 4});
  }
  std::string content = whole.content();
  // The dimensions follow header (128), tag (8), array flags (16) and the tag of the dimensions
  // (8).
  for (const std::size_t at : {std::size_t{160}, std::size_t{164}}) {
    content.replace(at, 4, std::string("\xff\xff\xff\x3f", 4));
  }
  const TempFile claims(".mat", content);
  EXPECT_THAT(error_of_mat(claims), HasSubstr("larger than the whole file"));
}

TEST(Mat, RefusesOtherFiles) {
  const TempFile text(".mat", "a,b\n1,2\n");
  EXPECT_THAT(error_of_mat(text), HasSubstr("not a MATLAB file"));
  const TempFile header(".mat", std::string(124, ' ') + std::string("\0\2IM", 4));
  EXPECT_THAT(error_of_mat(header), HasSubstr("corrupt or cut short"));
}

}  // namespace
}  // namespace kith::mat_test
