// SPDX-License-Identifier: Apache-2.0
// The ways to treat the input that cross-validation chooses among, inside the training part of
// every fold: how distances become similarities, how similarities are scaled, which of several
// tables is used, and the settings of the measure where the pairs come from raw samples.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kith/condition/input_settings.hpp"
#include "kith/core/context.hpp"
#include "kith/core/json.hpp"
#include "kith/learn/registry.hpp"
#include "kith/measure/raw_matrix.hpp"

namespace kith {

struct Candidate;
struct ExperimentData;

inline constexpr Index kEveryMatrix = -1;

/// One of these ways.
struct InputVariant {
  InputSettings settings;
  Index matrix = kEveryMatrix;  ///< the one table that is used, or all of them
  std::size_t tables = 0;       ///< 0: those of the data; k: its `alternatives[k - 1]`
  /// Settings of the measure that made these tables, as a user would type them.
  std::vector<std::pair<std::string, std::string>> measure{};

  friend bool operator==(const InputVariant&, const InputVariant&) = default;
};

/// What a variant is, for people and for records: every searched field with its value.
/// "as given" where a field of the data itself was left alone is spelled by its value as well.
[[nodiscard]] Json variant_json(const InputVariant& variant, const ExperimentData& data);
/// The same as "scale=none, from-distance=exp".
[[nodiscard]] std::string variant_text(const InputVariant& variant, const ExperimentData& data);

/// What is searched where nobody says otherwise.
struct InputSearch {
  bool conversions = false;  ///< of distances to similarities
  bool scales = false;       ///< of similarities
  bool cosine = false;       ///< also by self-similarities, which new rows must then bring
  bool spread = false;       ///< every table is divided by its spread, so that grids are relative
  bool matrices = false;     ///< a method that learns from one table chooses one of several
  /// For measuring the tables of other settings of the measure: those that would take longest on a
  /// few samples are left out. None: no limit.
  std::optional<double> seconds{};
  std::vector<std::string>
      given{};  ///< fields of the input that a user set: these stay as they are
};

/// Whether a key is a setting of the input or of a measure, which `--grid` may search.
[[nodiscard]] bool is_input_field(std::string_view key);

/// Fills `inputs` of every candidate and of its members: the default search for the method and the
/// table, with the fields that `input_axes` of the candidate lists in their place. Measures the
/// tables of other measure settings, which `data.alternatives` then holds; `samples` are the raw
/// samples, or none. Where all tables are divided by their spread, `data.input` says so. Throws
/// Error where a field does not apply, or where a user set it and lists other values as well.
void resolve_inputs(ExperimentData& data, std::span<const RawMatrix> samples,
                    const InputSearch& search, std::vector<Candidate>& candidates, RunContext& ctx);

/// How many different variants there are in all.
[[nodiscard]] std::size_t count_variants(std::span<const Candidate> candidates);

/// Raw samples with the measure settings of a variant.
[[nodiscard]] std::vector<RawMatrix> with_measure(std::span<const RawMatrix> samples,
                                                  const InputVariant& variant);

/// A variant's own view of the tables: all of them, or the one it uses.
[[nodiscard]] std::vector<std::size_t> tables_used(const InputVariant& variant, std::size_t tables);

}  // namespace kith
