// SPDX-License-Identifier: Apache-2.0
#include "kith/model/archive.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

static_assert(sizeof(Index) == 8 && sizeof(int) == 4, "Index is stored as I64, int as I32");

/// A tensor over memory of its own with the bytes of `values`, which stand side by side.
template <class Owner>
Tensor owning(TensorType type, std::vector<Index> shape, Owner values) {
  const auto owner = std::make_shared<const Owner>(std::move(values));
  const auto size = static_cast<std::size_t>(owner->size()) * sizeof(*owner->data());
  return {type, std::move(shape), {reinterpret_cast<const char*>(owner->data()), size}, owner};
}

template <class Number>
Tensor single(TensorType type, Number value) {
  return owning(type, {}, std::vector<Number>{value});
}

template <class Number>
Number number_of(const Tensor& tensor) {
  Number value{};
  std::memcpy(&value, tensor.bytes.data(), sizeof value);
  return value;
}

template <class Number>
std::vector<Number> numbers_of(const Tensor& tensor) {
  std::vector<Number> values(tensor.bytes.size() / sizeof(Number));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

const double* doubles_of(const Tensor& tensor) {
  return reinterpret_cast<const double*>(tensor.bytes.data());
}

}  // namespace

// Writing.

ArchiveWriter::ArchiveWriter(TensorFile& file, std::string prefix)
    : file_(&file), prefix_(std::move(prefix)) {}

void ArchiveWriter::tensor(std::string_view name, Tensor value) {
  const std::string full = prefix_ + std::string(name);
  if (!file_->tensors.emplace(full, std::move(value)).second) {
    throw Error(ErrorCode::kInternal, fmt::format("model part {} is named twice", in_quotes(full)));
  }
}

void ArchiveWriter::operator()(std::string_view name, const double& value) {
  tensor(name, single(TensorType::kF64, value));
}
void ArchiveWriter::operator()(std::string_view name, const Index& value) {
  tensor(name, single(TensorType::kI64, value));
}
void ArchiveWriter::operator()(std::string_view name, const bool& value) {
  tensor(name, single<unsigned char>(TensorType::kU8, value ? 1 : 0));
}
void ArchiveWriter::operator()(std::string_view name, const std::string& value) {
  tensor(name, owning(TensorType::kU8, {static_cast<Index>(value.size())}, value));
}
void ArchiveWriter::operator()(std::string_view name, const Vector& value) {
  tensor(name, owning(TensorType::kF64, {value.size()}, value));
}
void ArchiveWriter::operator()(std::string_view name, const Matrix& value) {
  tensor(name, owning(TensorType::kF64, {value.rows(), value.cols()}, RowMatrix(value)));
}
void ArchiveWriter::operator()(std::string_view name, const std::vector<int>& value) {
  tensor(name, owning(TensorType::kI32, {static_cast<Index>(value.size())}, value));
}
void ArchiveWriter::operator()(std::string_view name, const std::vector<Index>& value) {
  tensor(name, owning(TensorType::kI64, {static_cast<Index>(value.size())}, value));
}

void ArchiveWriter::texts(std::string_view name, const std::vector<std::string>& values) {
  std::string bytes;
  std::vector<Index> ends;
  ends.reserve(values.size());
  for (const std::string& value : values) {
    bytes += value;
    ends.push_back(static_cast<Index>(bytes.size()));
  }
  (*this)(std::string(name) + ".bytes", bytes);
  (*this)(std::string(name) + ".ends", ends);
}

// Reading.

ArchiveReader::ArchiveReader(TensorFile file, std::string source)
    : file_(std::move(file)), source_(std::move(source)) {}

const Tensor& ArchiveReader::tensor(std::string_view name) {
  const std::string full = prefix_ + std::string(name);
  const auto found = file_.tensors.find(full);
  if (found == file_.tensors.end()) {
    throw bad_input({source_}, "part {} is absent", in_quotes(full));
  }
  read_.insert(full);
  return found->second;
}

bool ArchiveReader::has(std::string_view name) const {
  return file_.tensors.contains(prefix_ + std::string(name));
}

const Tensor& ArchiveReader::expect(std::string_view name, TensorType type, std::size_t dimensions,
                                    std::string_view kind) {
  const Tensor& found = tensor(name);
  if (found.type != type || found.shape.size() != dimensions) {
    throw bad_input({source_}, "part {} is {}; {} was expected",
                    in_quotes(prefix_ + std::string(name)), found.text(), kind);
  }
  return found;
}

void ArchiveReader::operator()(std::string_view name, double& value) {
  value = number_of<double>(expect(name, TensorType::kF64, 0, "one F64 number"));
}
void ArchiveReader::operator()(std::string_view name, Index& value) {
  value = number_of<Index>(expect(name, TensorType::kI64, 0, "one I64 number"));
}
void ArchiveReader::operator()(std::string_view name, bool& value) {
  const auto stored = number_of<unsigned char>(expect(name, TensorType::kU8, 0, "one U8 number"));
  if (stored > 1) {
    throw bad_input({source_}, "part {} is {}; 0 or 1 was expected",
                    in_quotes(prefix_ + std::string(name)), stored);
  }
  value = stored == 1;
}
void ArchiveReader::operator()(std::string_view name, std::string& value) {
  value = expect(name, TensorType::kU8, 1, "text (U8 with one dimension)").bytes;
}
void ArchiveReader::operator()(std::string_view name, Vector& value) {
  const Tensor& found = expect(name, TensorType::kF64, 1, "a vector (F64 with one dimension)");
  value = Eigen::Map<const Vector>(doubles_of(found), found.shape[0]);
}
void ArchiveReader::operator()(std::string_view name, Matrix& value) {
  const Tensor& found = expect(name, TensorType::kF64, 2, "a matrix (F64 with two dimensions)");
  value = Eigen::Map<const RowMatrix>(doubles_of(found), found.shape[0], found.shape[1]);
}
void ArchiveReader::operator()(std::string_view name, std::vector<int>& value) {
  value = numbers_of<int>(expect(name, TensorType::kI32, 1, "a list (I32 with one dimension)"));
}
void ArchiveReader::operator()(std::string_view name, std::vector<Index>& value) {
  value = numbers_of<Index>(expect(name, TensorType::kI64, 1, "a list (I64 with one dimension)"));
}

void ArchiveReader::texts(std::string_view name, std::vector<std::string>& values) {
  std::string bytes;
  std::vector<Index> ends;
  (*this)(std::string(name) + ".bytes", bytes);
  (*this)(std::string(name) + ".ends", ends);
  values.clear();
  Index begin = 0;
  for (const Index end : ends) {
    if (end < begin || end > static_cast<Index>(bytes.size())) break;
    values.push_back(
        bytes.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    begin = end;
  }
  if (values.size() != ends.size() || begin != static_cast<Index>(bytes.size())) {
    throw bad_input({source_}, "the ends of the texts {} do not fit its bytes",
                    in_quotes(prefix_ + std::string(name)));
  }
}

std::vector<std::string> ArchiveReader::unread() const {
  std::vector<std::string> names;
  for (const auto& item : file_.tensors) {
    if (!read_.contains(item.first)) names.push_back(item.first);
  }
  return names;
}

void ArchiveReader::finish() const {
  const std::vector<std::string> names = unread();
  if (names.empty()) return;
  throw bad_input({source_}, "{} parts are not of this method: {}", names.size(), list_some(names));
}

}  // namespace kith
