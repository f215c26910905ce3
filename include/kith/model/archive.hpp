// SPDX-License-Identifier: Apache-2.0
// The two archives of core over a tensor file: every part of a model is one array.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kith/core/archive.hpp"
#include "kith/model/tensor_file.hpp"

namespace kith {

/// Puts each part into `file` under `prefix` + name: numbers as F64, I64 or U8 without a shape,
/// text as U8 of its bytes, vectors with one dimension, matrices with two in row-major order.
/// Values keep their bits. A name that is used twice throws Error(kInternal).
class ArchiveWriter final : public SavingArchive {
 public:
  ArchiveWriter(TensorFile& file, std::string prefix);

  /// Two arrays, `name`.bytes and `name`.ends: any texts, as many as there are.
  void texts(std::string_view name, const std::vector<std::string>& values);
  /// Without a copy.
  void tensor(std::string_view name, Tensor value);

 private:
  void save(std::string_view name, SavedPart part) override;

  TensorFile* file_;
  std::string prefix_;
};

/// Reads parts by name. A part that is absent, of another type or of another number of dimensions
/// throws Error(kBadInput) naming file and part.
class ArchiveReader final : public LoadingArchive {
 public:
  ArchiveReader(TensorFile file, std::string source);

  void texts(std::string_view name, std::vector<std::string>& values);
  [[nodiscard]] const Tensor& tensor(std::string_view name);
  /// Whether there is a part of this name, which need not be there.
  [[nodiscard]] bool has(std::string_view name) const;

  /// What is put before every name from here on.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  [[nodiscard]] const std::string& source() const { return source_; }
  /// Names, with the prefix, of the parts nobody asked for.
  [[nodiscard]] std::vector<std::string> unread() const;
  /// Throws Error(kBadInput) listing them, if there are any.
  void finish() const;

 private:
  void load(std::string_view name, LoadedPart part) override;

  TensorFile file_;
  std::string source_;
  std::string prefix_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace kith
