// SPDX-License-Identifier: Apache-2.0
// Results and data as one self-contained HTML page: a page that is built with the program, and one
// JSON document inside it.
#pragma once

#include <string>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/evaluate/results.hpp"
#include "kith/evaluate/score.hpp"
#include "kith/inspect/inspect.hpp"

namespace kith {

/// Everything a page shows of a store: `data_sets`, each as `results_json` has it, with more about
/// samples and methods; `ranks`; `tables`, ready for download.
[[nodiscard]] Json report_document(const Store& store,
                                   const std::vector<ExperimentResult>& results);

/// Everything a page shows of matrices alone.
[[nodiscard]] Json inspection_document(const Inspection& inspection,
                                       const std::vector<PortrayedMatrix>& matrices);

/// Everything a page shows of the score of a model. `about` says what was scored: `method`, and
/// where they are known `model`, `labels` and the list `queries`, as texts.
[[nodiscard]] Json score_document(const Score& score, const Json& about);

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
