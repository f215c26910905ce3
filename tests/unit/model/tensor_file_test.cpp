// SPDX-License-Identifier: Apache-2.0
#include "kith/model/tensor_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kith/data/atomic_file.hpp"
#include "support/files.hpp"
#include "support/tensor_bytes.hpp"

namespace kith::tensor_file_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr TensorFormat kFormat{"kith-test", 2};

Tensor tensor(TensorType type, std::vector<Index> shape, std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {type, std::move(shape), *owner, owner};
}

TensorFile small_file() {
  TensorFile file;
  file.metadata["note"] = "a \"quoted\"\nline, \xc3\xa9, \"checksum\":\"";
  file.tensors["byte"] = tensor(TensorType::kU8, {3}, "abc");
  file.tensors["empty"] = tensor(TensorType::kF64, {0, 7}, "");
  file.tensors["half"] = tensor(TensorType::kI32, {1, 1}, "1234");
  file.tensors["whole"] = tensor(TensorType::kF64, {}, "12345678");
  return file;
}

void expect_same(const TensorFile& a, const TensorFile& b) {
  EXPECT_EQ(a.metadata, b.metadata);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, value] : a.tensors) {
    ASSERT_TRUE(b.tensors.contains(name)) << name;
    EXPECT_EQ(value.type, b.tensors.at(name).type) << name;
    EXPECT_EQ(value.shape, b.tensors.at(name).shape) << name;
    EXPECT_EQ(value.bytes, b.tensors.at(name).bytes) << name;
  }
}

std::string refusal(std::string_view bytes) {
  return message_of([&] { (void)read_tensor_bytes(bytes, "m.kith", kFormat); });
}

/// A sealed file with this entry beside metadata that is in order.
std::string with_entry(const std::string& entry, const std::string& data = {}) {
  return sealed(R"({"__metadata__":{"checksum":"0000000000000000","format":"kith-test",)"
                R"("format_version":"2"})" +
                    (entry.empty() ? "" : "," + entry) + "}",
                data);
}

TEST(TensorFile, GivesBackWhatWasWritten) {
  for (const char* ending : {".kith", ".kith.gz", ".kith.zst"}) {
    const TempFolder folder;
    const std::string path = folder.path(std::string("m") + ending);
    write_tensor_file(path, small_file(), kFormat);
    expect_same(read_tensor_file(path, kFormat), small_file());
  }
}

TEST(TensorFile, WritesTheSameBytesAgain) {
  const std::string bytes = tensor_file_bytes(small_file(), kFormat);
  const TensorFile back = read_tensor_bytes(bytes, "m.kith", kFormat);
  EXPECT_EQ(tensor_file_bytes(back, kFormat), bytes);
  const TempFolder folder;
  const std::string path = folder.path("m.kith");
  write_tensor_file(path, back, kFormat);
  EXPECT_EQ(content_of(path), bytes);
}

TEST(TensorFile, HoldsNothingAtAll) {
  const std::string bytes = tensor_file_bytes({}, kFormat);
  expect_same(read_tensor_bytes(bytes, "m.kith", kFormat), {});
}

// The layout as others read it: length, JSON, blocks without gaps, each aligned to its elements.
TEST(TensorFile, HasTheLayoutOfSafetensors) {
  const std::string bytes = tensor_file_bytes(small_file(), kFormat);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  EXPECT_EQ(header.at("whole").at("dtype"), "F64");
  EXPECT_EQ(header.at("empty").at("shape"), (nlohmann::json{0, 7}));
  const std::size_t begin = header.at("half").at("data_offsets").at(0);
  const std::size_t end = header.at("half").at("data_offsets").at(1);
  EXPECT_EQ(bytes.substr(8 + length + begin, end - begin), "1234");
  EXPECT_EQ(begin % 4, 0U);
  EXPECT_EQ(bytes.size(), 8 + length + 8 + 4 + 3);
  EXPECT_EQ(header.at("__metadata__").at("format"), "kith-test");
}

TEST(TensorFile, DetectsEveryFlippedBit) {
  const std::string good = tensor_file_bytes(small_file(), kFormat);
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ (1U << bit));
      EXPECT_THROW((void)read_tensor_bytes(bad, "m.kith", kFormat), Error)
          << "byte " << at << " bit " << bit;
    }
  }
}

TEST(TensorFile, DetectsEveryTruncation) {
  const std::string good = tensor_file_bytes(small_file(), kFormat);
  for (std::size_t size = 0; size < good.size(); ++size) {
    const std::string text = refusal(std::string_view(good).substr(0, size));
    EXPECT_THAT(text, AllOf(HasSubstr("m.kith"), AnyOf(HasSubstr("empty"), HasSubstr("truncated"),
                                                       HasSubstr("no kith-test file"))))
        << size;
    if (size > 8) {
      EXPECT_THAT(text, HasSubstr("truncated")) << size;
    }
  }
}

TEST(TensorFile, DetectsTruncationInsideACompressedFile) {
  const std::string good = tensor_file_bytes(small_file(), kFormat);
  const TempFolder folder;
  const std::string path = folder.path("m.kith.gz");
  AtomicFile out(path);
  out.write(good.substr(0, good.size() - 2));
  out.commit();
  EXPECT_THAT(message_of([&] { (void)read_tensor_file(path, kFormat); }), HasSubstr("truncated"));
}

TEST(TensorFile, RefusesTrailingBytes) {
  EXPECT_THAT(refusal(tensor_file_bytes(small_file(), kFormat) + "x"),
              HasSubstr("behind the last"));
}

TEST(TensorFile, SaysThatContentIsDamaged) {
  std::string bytes = tensor_file_bytes(small_file(), kFormat);
  bytes.back() = 'x';
  EXPECT_THAT(refusal(bytes), AllOf(HasSubstr("damaged"), HasSubstr("checksum")));
}

TEST(TensorFile, RefusesFilesOfOtherKinds) {
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("a,b\n1,2\n3,4\n5,6\n"), HasSubstr("no kith-test file"));
  EXPECT_THAT(refusal(std::string(64, '\0')), HasSubstr("no kith-test file"));
  EXPECT_THAT(refusal(sealed(R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x")),
              AllOf(HasSubstr("no kith-test file"), HasSubstr("names no format")));
  EXPECT_THAT(refusal(sealed(R"({"__metadata__":{"format":"pt"}})", "")), HasSubstr("\"pt\""));
}

TEST(TensorFile, RefusesEveryOtherVersion) {
  for (const int version : {kFormat.version - 1, kFormat.version + 1}) {
    const std::string bytes = tensor_file_bytes(small_file(), {kFormat.name, version});
    EXPECT_THAT(refusal(bytes), AllOf(HasSubstr(fmt::format("version {}", version)),
                                      HasSubstr("another kith"), HasSubstr("make it again")));
  }
}

TEST(TensorFile, RefusesDirectoriesAndMissingFilesByName) {
  EXPECT_THAT(
      message_of([&] { (void)read_tensor_file(testing::TempDir(), kFormat); }, ErrorCode::kIo),
      HasSubstr("directory"));
  const std::string path = TempFolder().path("none.kith");
  EXPECT_THAT(message_of([&] { (void)read_tensor_file(path, kFormat); }, ErrorCode::kIo),
              HasSubstr(path));
}

TEST(TensorFile, AcceptsAnEntryMadeByHand) {
  const auto back = read_tensor_bytes(
      with_entry(R"("a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]})", "wxyz"), "m.kith",
      kFormat);
  EXPECT_EQ(back.tensors.at("a").bytes, "wxyz");
}

TEST(TensorFile, RefusesEntriesThatBreakARule) {
  struct Case {
    const char* entry;
    const char* data;
    const char* rule;
  };
  const std::vector<Case> cases = {
      {R"("a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]})", "wxyz", "unknown"},
      {R"("a":{"dtype":8,"shape":[4],"data_offsets":[0,4]})", "wxyz", "unknown"},
      {R"("a":{"dtype":"U8","shape":[5],"data_offsets":[0,4]})", "wxyz", "takes 5 bytes"},
      {R"("a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]})", "wxyz", "no count"},
      {R"("a":{"dtype":"U8","shape":[4.0],"data_offsets":[0,4]})", "wxyz", "no count"},
      {R"("a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]})", "wxyz", "takes 4 bytes"},
      {R"("a":{"dtype":"U8","shape":[3],"data_offsets":[1,4]})", "wxyz", "side by side"},
      {R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0]})", "wxyz", "two data_offsets"},
      {R"("a":{"dtype":"U8","shape":[4]})", "wxyz", "two data_offsets"},
      {R"("a":{"dtype":"U8","shape":4,"data_offsets":[0,4]})", "wxyz", "two data_offsets"},
      {R"("a":7)", "", "needs a dtype"},
      {R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"more":1})", "wxyz", "no more"},
      {R"("a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
       R"("b":{"dtype":"U8","shape":[3],"data_offsets":[1,4]})",
       "wxyz", "side by side"},
      {R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]})",
       "wxyz", "side by side"},
      {R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("b":{"dtype":"I32","shape":[],"data_offsets":[1,5]})",
       "vwxyz", "aligned"},
      {R"("a":{"dtype":"F64","shape":[2147483647,2147483647,2147483647],"data_offsets":[0,0]})", "",
       "too large"},
      {R"("a":{"dtype":"F64","shape":[0,4294967296],"data_offsets":[0,0]})", "", "too large"},
      {R"("a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]})", "x", "too large"},
      {R"("a":{"dtype":"F64","shape":[99999999999999999999],"data_offsets":[0,0]})", "",
       "no count"},
      {R"("a":{"dtype":"F64","shape":[1000000,1000000],"data_offsets":[0,8000000000000]})", "",
       "truncated"},
      {R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
       R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})",
       "", "twice"},
      {R"("__metadata__":{})", "", "twice"},
      {R"("a")", "", "not valid JSON"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(refusal(with_entry(c.entry, c.data)), AllOf(HasSubstr("m.kith"), HasSubstr(c.rule)))
        << c.entry;
  }
}

TEST(TensorFile, RefusesClaimsOfACompressedFileWithoutAllocatingThem) {
  const TempFolder folder;
  const std::string path = folder.path("m.kith.gz");
  AtomicFile out(path);
  out.write(with_entry(
      R"("a":{"dtype":"F64","shape":[1000000,1000000],"data_offsets":[0,8000000000000]})"));
  out.commit();
  EXPECT_THAT(message_of([&] { (void)read_tensor_file(path, kFormat); }), HasSubstr("truncated"));
}

TEST(TensorFile, RefusesHeadersThatAreDeepOrNoObject) {
  EXPECT_THAT(
      refusal(sealed("{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}", "")),
      HasSubstr("deep"));
  EXPECT_THAT(refusal(sealed("{\"a\":1e999}", "")), HasSubstr("out of range"));
  EXPECT_THAT(refusal(sealed("{\"a\":\"\xff\"}", "")), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(sealed("{\"__metadata__\":{\"format\":1}}", "")), HasSubstr("no text"));
  EXPECT_THAT(refusal(sealed("{\"__metadata__\":[]}", "")), HasSubstr("no JSON object"));
}

TEST(TensorFile, RefusesToWriteWhatItCouldNotRead) {
  const auto bytes = [](const TensorFile& file) { (void)tensor_file_bytes(file, kFormat); };
  TensorFile wrong_size;
  wrong_size.tensors["a"] = tensor(TensorType::kF64, {2}, "12345678");
  EXPECT_THAT(message_of([&] { bytes(wrong_size); }, ErrorCode::kInternal), HasSubstr("\"a\""));
  TensorFile taken;
  taken.metadata["checksum"] = "";
  EXPECT_THAT(message_of([&] { bytes(taken); }, ErrorCode::kInternal), HasSubstr("taken"));
  TensorFile reserved;
  reserved.tensors["__metadata__"] = tensor(TensorType::kU8, {1}, "x");
  EXPECT_THAT(message_of([&] { bytes(reserved); }, ErrorCode::kInternal), HasSubstr("metadata"));
  TensorFile no_text;
  no_text.metadata["note"] = "\xff";
  EXPECT_THAT(message_of([&] { bytes(no_text); }, ErrorCode::kInvalidArgument), HasSubstr("UTF-8"));
}

TEST(TensorFile, LeavesTheOldFileWhenWritingFails) {
  const TempFolder folder;
  const std::string path = folder.path("m.kith");
  folder.file("m.kith", "before");
  TensorFile no_text;
  no_text.metadata["note"] = "\xff";
  EXPECT_THROW(write_tensor_file(path, no_text, kFormat), Error);
  EXPECT_EQ(content_of(path), "before");
}

}  // namespace
}  // namespace kith::tensor_file_test
