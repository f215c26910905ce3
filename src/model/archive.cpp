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

template <class Number>
constexpr TensorType kTypeOf = TensorType::kU8;  // bytes of texts, yes and no
template <>
constexpr TensorType kTypeOf<double> = TensorType::kF64;
template <>
constexpr TensorType kTypeOf<Index> = TensorType::kI64;
template <>
constexpr TensorType kTypeOf<int> = TensorType::kI32;

/// Texts, vectors and lists: one dimension.
template <class Part>
concept List = requires(const Part& part) {
  part.data();
  part.size();
};

/// A tensor over memory of its own with the bytes of `values`, which stand side by side.
template <List Owner>
Tensor owning(std::vector<Index> shape, Owner values) {
  const auto owner = std::make_shared<const Owner>(std::move(values));
  const auto size = static_cast<std::size_t>(owner->size()) * sizeof(*owner->data());
  return {kTypeOf<std::decay_t<decltype(*owner->data())>>,
          std::move(shape),
          {reinterpret_cast<const char*>(owner->data()), size},
          owner};
}

template <class Number>
Tensor tensor_of(const Number& value) {
  return owning({}, std::vector<Number>{value});
}
template <List Part>
Tensor tensor_of(const Part& part) {
  return owning({static_cast<Index>(part.size())}, part);
}
Tensor tensor_of(const bool& value) { return tensor_of<unsigned char>(value ? 1 : 0); }
Tensor tensor_of(const SavedTable& table) {
  return owning({table.rows(), table.cols()}, RowMatrix(table));
}
Tensor tensor_of(const Matrix& matrix) {
  return owning({matrix.rows(), matrix.cols()}, RowMatrix(matrix));
}

/// Reads parts of a tensor that has the type and the dimensions of each; where it does not,
/// `refuse` says what was expected.
template <class Refuse>
class PartReader {
 public:
  PartReader(const Tensor& tensor, const Refuse& refuse) : tensor_(tensor), refuse_(refuse) {}

  template <class Number>
  void operator()(Number* value) const {
    expect<Number>(0, "one {} number");
    std::memcpy(value, tensor_.bytes.data(), sizeof *value);
  }
  template <List Part>
  void operator()(Part* part) const {
    using Number = std::decay_t<decltype(*part->data())>;
    expect<Number>(1, "a list ({} with one dimension)");
    part->resize(static_cast<decltype(part->size())>(tensor_.shape[0]));
    if (tensor_.shape[0] > 0) std::memcpy(part->data(), tensor_.bytes.data(), tensor_.bytes.size());
  }
  void operator()(bool* value) const {
    unsigned char stored = 0;
    (*this)(&stored);
    if (stored > 1) refuse_(std::to_string(stored), "0 or 1");
    *value = stored == 1;
  }
  void operator()(Matrix* matrix) const {
    expect<double>(2, "a matrix ({} with two dimensions)");
    *matrix = Eigen::Map<const RowMatrix>(reinterpret_cast<const double*>(tensor_.bytes.data()),
                                          tensor_.shape[0], tensor_.shape[1]);
  }

 private:
  template <class Number>
  void expect(std::size_t dimensions, fmt::format_string<std::string_view> what) const {
    if (tensor_.type == kTypeOf<Number> && tensor_.shape.size() == dimensions) return;
    refuse_(tensor_.text(), fmt::format(what, enum_name(kTypeOf<Number>)));
  }

  const Tensor& tensor_;
  const Refuse& refuse_;
};

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

void ArchiveWriter::save(std::string_view name, SavedPart part) {
  tensor(name, std::visit([](const auto* value) { return tensor_of(*value); }, part));
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

void ArchiveReader::load(std::string_view name, LoadedPart part) {
  const auto refuse = [&](const std::string& found, const std::string& expected) {
    throw bad_input({source_}, "part {} is {}; {} was expected",
                    in_quotes(prefix_ + std::string(name)), found, expected);
  };
  std::visit(PartReader(tensor(name), refuse), part);
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
