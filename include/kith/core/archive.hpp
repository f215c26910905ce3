// SPDX-License-Identifier: Apache-2.0
// How a model names its parts, for a file or for whoever else walks through them.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kith/core/settings.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// What a model's `archive` function is handed to save it: each part is named once and only read.
class SavingArchive {
 public:
  static constexpr bool kLoading = false;
  virtual ~SavingArchive() = default;

  virtual void operator()(std::string_view name, const double& value) = 0;
  virtual void operator()(std::string_view name, const Index& value) = 0;
  virtual void operator()(std::string_view name, const bool& value) = 0;
  virtual void operator()(std::string_view name, const std::string& value) = 0;
  virtual void operator()(std::string_view name, const Vector& value) = 0;
  virtual void operator()(std::string_view name, const Matrix& value) = 0;
  virtual void operator()(std::string_view name, const std::vector<int>& value) = 0;
  virtual void operator()(std::string_view name, const std::vector<Index>& value) = 0;

  template <NamedEnum E>
  void operator()(std::string_view name, const E& value) {
    (*this)(name, std::string(enum_name(value)));
  }
};

/// The same to load it: each part is set.
class LoadingArchive {
 public:
  static constexpr bool kLoading = true;
  virtual ~LoadingArchive() = default;

  virtual void operator()(std::string_view name, double& value) = 0;
  virtual void operator()(std::string_view name, Index& value) = 0;
  virtual void operator()(std::string_view name, bool& value) = 0;
  virtual void operator()(std::string_view name, std::string& value) = 0;
  virtual void operator()(std::string_view name, Vector& value) = 0;
  virtual void operator()(std::string_view name, Matrix& value) = 0;
  virtual void operator()(std::string_view name, std::vector<int>& value) = 0;
  virtual void operator()(std::string_view name, std::vector<Index>& value) = 0;

  template <NamedEnum E>
  void operator()(std::string_view name, E& value) {
    std::string text;
    (*this)(name, text);
    value = parse_enum<E>(name, text);
  }
};

/// A model as an archive of type A sees it. One function serves both directions:
///
///   template <class A>
///   void archive(Archived<A, XModel>& model, A& archiver);
///
/// It stands beside the model. Where it is defined in a source, it is instantiated there for
/// SavingArchive and LoadingArchive themselves, not for what derives from them. What only loading
/// does stands under `if constexpr (A::kLoading)`.
template <class A, class Model>
using Archived = std::conditional_t<A::kLoading, Model, const Model>;

}  // namespace kith
