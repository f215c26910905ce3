// SPDX-License-Identifier: Apache-2.0
// How a model names its parts, for a file or for whoever else walks through them.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "kith/core/settings.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// A large table that is saved from where it lies. It is loaded as a Matrix.
using SavedTable = Eigen::Map<const RowMatrix>;

/// Where a part of a model is: a number, a text, or a list or table of numbers.
using SavedPart = std::variant<const double*, const Index*, const bool*, const std::string*,
                               const Vector*, const Matrix*, const SavedTable*,
                               const std::vector<int>*, const std::vector<Index>*>;
using LoadedPart = std::variant<double*, Index*, bool*, std::string*, Vector*, Matrix*,
                                std::vector<int>*, std::vector<Index>*>;

/// What a model's `archive` function is handed to save it: each part is named once and only read.
class SavingArchive {
 public:
  static constexpr bool kLoading = false;
  virtual ~SavingArchive() = default;

  template <class Part>
  void operator()(std::string_view name, const Part& value) {
    if constexpr (NamedEnum<Part>) {
      (*this)(name, std::string(enum_name(value)));
    } else {
      save(name, &value);
    }
  }

 private:
  virtual void save(std::string_view name, SavedPart part) = 0;
};

/// The same to load it: each part is set.
class LoadingArchive {
 public:
  static constexpr bool kLoading = true;
  virtual ~LoadingArchive() = default;

  template <class Part>
  void operator()(std::string_view name, Part& value) {
    if constexpr (NamedEnum<Part>) {
      std::string text;
      (*this)(name, text);
      value = parse_enum<Part>(name, text);
    } else {
      load(name, &value);
    }
  }

 private:
  virtual void load(std::string_view name, LoadedPart part) = 0;
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
