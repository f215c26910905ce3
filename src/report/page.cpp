// SPDX-License-Identifier: Apache-2.0
#include "kith/report/page.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "kith/evaluate/details.hpp"
#include "kith/inspect/inspect_json.hpp"
#include "kith/report/results_table.hpp"
#include "kith/report/text_art.hpp"
#include "kith/version.hpp"
#include "report/pack.hpp"
#include "report/page_source.hpp"

namespace kith {
namespace {

constexpr std::size_t kIdWidth = 80;  // a page of long sequences as ids would have no end

Json ids_json(const std::vector<std::string>& ids) {
  Json list = Json::array();
  for (const std::string& id : ids) list.push_back(shortened(id, kIdWidth));
  return list;
}

/// Columns, not rows: their names stand once.
Json records_json(const std::vector<PartitionRecord>& records) {
  Json columns = {{"partition", Json::array()},  {"status", Json::array()},
                  {"gap", Json::array()},        {"kkt_residual", Json::array()},
                  {"iterations", Json::array()}, {"seconds", Json::array()}};
  for (const PartitionRecord& one : records) {
    columns["partition"].push_back(one.partition + 1);
    columns["status"].push_back(one.status);
    columns["gap"].push_back(real(one.gap));
    columns["kkt_residual"].push_back(real(one.kkt_residual));
    columns["iterations"].push_back(real(one.iterations));
    columns["seconds"].push_back(seen(one.seconds, 4));
  }
  return columns;
}

/// In thousandths: finer than a page can show.
std::string rates(const std::vector<double>& values) {
  std::vector<int> thousandths;
  thousandths.reserve(values.size());
  for (const double value : values) {
    thousandths.push_back(static_cast<int>(std::lround(1000 * value)));
  }
  return packed(thousandths);
}

Json curves_json(const Curves& curves) {
  Json classes = Json::array();
  for (const ClassCurve& one : curves.classes) {
    classes.push_back({{"class", one.label},
                       {"tpr", rates(one.tpr)},
                       {"auc", seen(one.auc, 6)},
                       {"precision", rates(one.precision)},
                       {"average_precision", seen(one.average_precision, 6)}});
  }
  return {
      {"grid", rates(curves.grid)}, {"classes", std::move(classes)}, {"left_out", curves.left_out}};
}

Json details_json(const MethodDetails& details) {
  Json axes = Json::array();
  for (const SearchedAxis& axis : details.axes) {
    axes.push_back({{"field", axis.field}, {"values", axis.values}});
  }
  Json validation = Json::array();
  for (const double loss : details.validation) validation.push_back(seen(loss, 6));
  Json calibration = Json::array();
  for (const CalibrationBin& bin : details.calibration) {
    calibration.push_back({bin.count, seen(bin.said, 6), seen(bin.right, 6)});
  }
  Json json = {{"wrong", packed(details.wrong)},
               {"said", packed(details.said)},
               {"axes", std::move(axes)},
               {"validation", std::move(validation)},
               {"calibration", std::move(calibration)},
               {"partitions", records_json(details.partitions)},
               {"learned", details.learned}};
  if (details.curves) json["curves"] = curves_json(*details.curves);
  return json;
}

/// A portrait with its long lists packed.
Json compact(Json portrait) {
  for (const char* key : {"order", "neighbours"}) {
    if (portrait.contains(key)) portrait[key] = packed(portrait[key].get<std::vector<Index>>());
  }
  return portrait;
}

/// Of each method what was said of its search.
void add_search_notes(Json& methods, const Json& notes) {
  for (const Json& note : notes) {
    for (Json& method : methods) {
      if (note.contains("method") && note["method"] == method["method"]) {
        method["details"]["notes"].push_back(note["note"]);
      }
    }
  }
}

/// What `results_json` does not have.
void add_details(Json& data_set, const Store& store, const ExperimentResult& result) {
  ExperimentRecord record = store.experiment(result.number);
  data_set["class_names"] = record.labels.names;
  data_set["labels"] = packed(record.labels.ids);
  data_set["ids"] = ids_json(record.ids);
  for (const Json& portrait : record.about.value("portraits", Json::array())) {
    data_set["portraits"].push_back(compact(portrait));
  }
  if (record.about.contains("advice")) data_set["advice"] = record.about["advice"];
  const std::vector<std::int64_t> candidates = store.candidates(result.number);
  std::vector<int> tested;
  for (std::size_t m = 0; m < candidates.size(); ++m) {
    const MethodDetails details = method_details(store, candidates[m], record);
    Json& method = data_set["methods"][m];
    method["ended_as_asked"] = result.methods[m].ended_as_asked();
    method["details"] = details_json(details);
    if (m == 0) tested = details.tested;
    if (details.tested != tested) method["details"]["tested"] = packed(details.tested);
  }
  data_set["tested"] = packed(tested);
  add_search_notes(data_set["methods"], record.about.value("notes", Json::array()));
  for (const char* key : {"portraits", "advice", "notes"}) record.about.erase(key);
  data_set["about"] = std::move(record.about);
}

Json head(std::string_view kind) { return {{"kind", kind}, {"kith", kVersion}}; }

}  // namespace

Json report_document(const Store& store, const std::vector<ExperimentResult>& results) {
  Json document = head("report");
  document["metric"] = enum_name(results.front().metric);
  Json found = results_json(store, results);
  document["timing"] = std::move(found["timing"]);
  if (found.contains("data_sets")) {
    document["ranks"] = std::move(found["ranks"]);
    document["data_sets"] = std::move(found["data_sets"]);
  } else {
    found.erase("timing");
    document["data_sets"] = Json::array({std::move(found)});
  }
  for (std::size_t d = 0; d < results.size(); ++d) {
    add_details(document["data_sets"][d], store, results[d]);
  }
  for (const TableFormat format :
       {TableFormat::kCsv, TableFormat::kLatex, TableFormat::kMarkdown}) {
    document["tables"][std::string(enum_name(format))] = results_table(results, format, {});
  }
  return document;
}

Json inspection_document(const Inspection& inspection,
                         const std::vector<PortrayedMatrix>& matrices) {
  Json document = head("inspection");
  Json whole = inspection_json(inspection);
  for (const char* key : {"advice", "agreement", "unmatched_labels", "notes"}) {
    if (whole.contains(key)) document[key] = std::move(whole[key]);
  }
  document["data_sets"] = Json::array();
  for (const PortrayedMatrix& matrix : matrices) {
    Json data_set = {{"name", matrix.portrait.summary.name}, {"n", matrix.portrait.summary.n}};
    if (matrix.labels) {
      data_set["class_names"] = matrix.labels->names;
      data_set["labels"] = packed(matrix.labels->ids);
    }
    data_set["ids"] = ids_json(matrix.ids);
    data_set["portraits"] = Json::array({compact(portrait_json(matrix.portrait))});
    document["data_sets"].push_back(std::move(data_set));
  }
  return document;
}

Json score_document(const Score& score, const Json& about) {
  Json document = head("score");
  document["about"] = about;
  document["score"] = score_json(score);
  document["data_sets"] = Json::array();
  return document;
}

bool has_page() { return !page_source().empty(); }

void check_has_page() {
  if (has_page()) return;
  throw invalid(
      "this kith was built without its HTML page (KITH_REPORT_BUNDLE): build it again where npm "
      "is installed and can fetch packages. Results and inspections as text and JSON need no page");
}

std::string embedded_json(const Json& document) {
  // Everything beyond ASCII is escaped by the writer, U+2028 and U+2029 among it.
  const std::string plain = document.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(plain.size() + plain.size() / 16);
  for (const char letter : plain) {
    if (letter == '<' || letter == '>' || letter == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      safe.push_back(letter);
    }
  }
  return safe;
}

std::string html_page(const Json& document) {
  check_has_page();
  const std::string_view page = page_source();
  const std::size_t at = page.find(kDocumentMark);
  if (at == std::string_view::npos) throw Error(ErrorCode::kInternal, "the page has no place");
  std::string html(page.substr(0, at));
  html += embedded_json(document);
  html += page.substr(at + kDocumentMark.size());
  return html;
}

}  // namespace kith
