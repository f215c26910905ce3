// SPDX-License-Identifier: Apache-2.0
// Results and data as one self-contained HTML page: a page that is built with the program, and one
// JSON document inside it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/evaluate/experiment.hpp"
#include "kith/evaluate/results.hpp"
#include "kith/learn/portrait.hpp"
#include "kith/report/inspection.hpp"

namespace kith {

/// What pages show of a matrix; `evaluate` keeps it in its store, so that a page needs nothing
/// else. Numbers that are only drawn are rounded to what can be seen.
[[nodiscard]] Json portrait_json(const Portrait& portrait);

/// Of each table of an experiment, under its input rules, which are measured on the whole table:
/// for people to look at. No spectrum and no map beyond 4,000 samples, no neighbours beyond 10,000.
/// Empty beyond 100,000, and where a table breaks a rule: what that means is for `run_experiment`
/// to say.
[[nodiscard]] Json portraits_json(const ExperimentData& data, const RunContext& ctx);

/// A store keeps portraits in `about` of the data set it adds; for one of that name that it has
/// there is nothing to do.
void add_portraits(Json& about, const ExperimentData& data, const Store& store,
                   const std::string& name, const RunContext& ctx);

/// Everything a page shows of a store: `data_sets`, each as `results_json` has it, with more about
/// samples and methods; `ranks`; `tables`, ready for download.
[[nodiscard]] Json report_document(const Store& store,
                                   const std::vector<ExperimentResult>& results);

/// A matrix with the labels and ids of the samples it kept; both may be absent.
struct PortrayedMatrix {
  Portrait portrait;
  std::optional<Labels> labels;
  std::vector<std::string> ids;
};
/// Everything a page shows of matrices alone.
[[nodiscard]] Json inspection_document(const Inspection& inspection,
                                       const std::vector<PortrayedMatrix>& matrices);

/// Whether the program was built with the page (KITH_REPORT_BUNDLE).
[[nodiscard]] bool has_page();
/// Throws Error saying how to get one where the program was built without.
void check_has_page();

/// The page with the document in it. Whatever the texts of the document are, they stay texts.
[[nodiscard]] std::string html_page(const Json& document);

/// The document as it may stand inside a script element: no byte of it ends the element, opens a
/// comment or a line, or is anything but ASCII.
[[nodiscard]] std::string embedded_json(const Json& document);

}  // namespace kith
