// SPDX-License-Identifier: Apache-2.0
// How a model names its parts, for a file or for whoever else walks through them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kith/core/settings.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// Handed to a model's `archive` function, which names each part once, to save or to load it.
class Archive {
 public:
  virtual ~Archive() = default;
  [[nodiscard]] virtual bool loading() const = 0;

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
    std::string text(enum_name(value));
    (*this)(name, text);
    value = parse_enum<E>(name, text);
  }
};

}  // namespace kith
