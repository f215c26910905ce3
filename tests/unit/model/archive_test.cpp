// SPDX-License-Identifier: Apache-2.0
#include "kith/model/archive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/tensor_bytes.hpp"

namespace kith {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr TensorFormat kFormat{"kith-test", 1};

enum class Shade { kLight, kDark };

struct Parts {
  double number = 0;
  Index count = 0;
  bool yes = false;
  std::string text;
  Vector vector;
  Matrix matrix;
  std::vector<int> classes;
  std::vector<Index> positions;
  Shade shade = Shade::kLight;
};

constexpr auto enum_names(Shade /*of*/) { return named("light", "dark"); }

template <class A>
void archive(Archived<A, Parts>& parts, A& archiver) {
  archiver("number", parts.number);
  archiver("count", parts.count);
  archiver("yes", parts.yes);
  archiver("text", parts.text);
  archiver("vector", parts.vector);
  archiver("matrix", parts.matrix);
  archiver("classes", parts.classes);
  archiver("positions", parts.positions);
  archiver("shade", parts.shade);
}

ArchiveReader through_a_file(const TensorFile& file) {
  return ArchiveReader(read_tensor_bytes(tensor_file_bytes(file, kFormat), "m.kith", kFormat),
                       "m.kith");
}

ArchiveReader saved(const Parts& parts) {
  TensorFile file;
  ArchiveWriter writer(file, "");
  archive(parts, writer);
  return through_a_file(file);
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

TEST(Archive, GivesBackEveryKindOfPartBitForBit) {
  Parts parts;
  parts.number = -0.0;
  parts.count = std::numeric_limits<Index>::min();
  parts.yes = true;
  parts.text = std::string("a \"quoted\"\nline, \xc3\xa9\0 and a zero", 31);
  parts.vector.resize(5);
  parts.vector << 0.1, -0.0, std::numeric_limits<double>::denorm_min(),
      std::numeric_limits<double>::infinity(), std::nan("7");
  parts.matrix.resize(2, 3);
  parts.matrix << 1, 2, 3, 4, 5, 6;
  parts.classes = {2, -1, std::numeric_limits<int>::max()};
  parts.positions = {0, Index{1} << 40};
  parts.shade = Shade::kDark;

  ArchiveReader reader = saved(parts);
  Parts back;
  archive(back, reader);
  reader.finish();

  EXPECT_TRUE(same_bits(back.number, parts.number));
  EXPECT_EQ(back.count, parts.count);
  EXPECT_EQ(back.yes, parts.yes);
  EXPECT_EQ(back.text, parts.text);
  ASSERT_EQ(back.vector.size(), 5);
  for (Index i = 0; i < 5; ++i) EXPECT_TRUE(same_bits(back.vector[i], parts.vector[i])) << i;
  EXPECT_EQ(back.matrix, parts.matrix);
  EXPECT_EQ(back.classes, parts.classes);
  EXPECT_EQ(back.positions, parts.positions);
  EXPECT_EQ(back.shade, parts.shade);
}

TEST(Archive, KeepsTheShapeOfEmptyParts) {
  Parts parts;
  parts.matrix.resize(0, 4);
  ArchiveReader reader = saved(parts);
  Parts back;
  back.matrix.setOnes(2, 2);
  back.vector.setOnes(3);
  archive(back, reader);
  EXPECT_EQ(back.matrix.rows(), 0);
  EXPECT_EQ(back.matrix.cols(), 4);
  EXPECT_EQ(back.vector.size(), 0);
  EXPECT_EQ(back.text, "");
}

TEST(Archive, StoresMatricesRowByRow) {
  Matrix matrix(2, 2);
  matrix << 1, 2, 3, 4;
  TensorFile file;
  ArchiveWriter writer(file, "model.");
  writer("K", matrix);
  const Tensor& tensor = file.tensors.at("model.K");
  std::vector<double> stored(4);
  std::memcpy(stored.data(), tensor.bytes.data(), tensor.bytes.size());
  EXPECT_THAT(stored, ElementsAre(1, 2, 3, 4));
}

TEST(Archive, KeepsListsOfTexts) {
  const std::vector<std::string> ids = {"", "a\nb", "\xe2\x82\xac", "\"", ""};
  TensorFile file;
  ArchiveWriter(file, "").texts("ids", ids);
  ArchiveReader reader = through_a_file(file);
  std::vector<std::string> back = {"left over"};
  reader.texts("ids", back);
  EXPECT_EQ(back, ids);
  EXPECT_TRUE(reader.unread().empty());
}

TEST(Archive, RefusesEndsOfTextsThatDoNotFit) {
  for (const std::vector<Index>& wrong :
       {std::vector<Index>{1}, {3, 2}, {-1, 2}, {2, Index{1} << 60}, {}}) {
    TensorFile file;
    ArchiveWriter writer(file, "");
    std::string bytes = "ab";
    std::vector<Index> ends = wrong;
    writer("ids.bytes", bytes);
    writer("ids.ends", ends);
    ArchiveReader reader = through_a_file(file);
    std::vector<std::string> back;
    EXPECT_THAT(message_of([&] { reader.texts("ids", back); }),
                AllOf(HasSubstr("m.kith"), HasSubstr("ids")));
  }
}

TEST(Archive, NamesAPartThatIsAbsent) {
  ArchiveReader reader = saved({});
  double value = 0;
  EXPECT_THAT(message_of([&] { reader("offset", value); }),
              AllOf(HasSubstr("m.kith"), HasSubstr("\"offset\""), HasSubstr("absent")));
}

TEST(Archive, NamesPartsOfAnotherKind) {
  ArchiveReader reader = saved({});
  double number = 0;
  Vector vector;
  bool yes = false;
  std::vector<Index> positions;
  EXPECT_THAT(message_of([&] { reader("count", number); }),
              AllOf(HasSubstr("\"count\""), HasSubstr("I64"), HasSubstr("F64")));
  EXPECT_THAT(message_of([&] { reader("matrix", vector); }), HasSubstr("F64 0 x 0"));
  EXPECT_THAT(message_of([&] { reader("text", yes); }), HasSubstr("\"text\""));
  EXPECT_THAT(message_of([&] { reader("classes", positions); }), HasSubstr("I32"));
}

TEST(Archive, RefusesASwitchThatIsNeitherZeroNorOne) {
  TensorFile file;
  file.tensors["yes"] = {TensorType::kU8, {}, "\x02", nullptr};
  ArchiveReader reader = through_a_file(file);
  bool yes = false;
  EXPECT_THAT(message_of([&] { reader("yes", yes); }), HasSubstr("0 or 1"));
}

TEST(Archive, ListsPartsThatNobodyRead) {
  ArchiveReader reader = saved({});
  double number = 0;
  reader("number", number);
  EXPECT_THAT(message_of([&] { reader.finish(); }),
              AllOf(HasSubstr("8 parts"), HasSubstr("classes"), HasSubstr("m.kith")));
}

TEST(Archive, RefusesAPartThatIsNamedTwice) {
  TensorFile file;
  ArchiveWriter writer(file, "model.");
  double number = 1;
  writer("x", number);
  EXPECT_THAT(message_of([&] { writer("x", number); }, ErrorCode::kInternal),
              HasSubstr("\"model.x\""));
}

}  // namespace
}  // namespace kith
