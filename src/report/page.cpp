// SPDX-License-Identifier: Apache-2.0
#include "kith/report/page.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kith/condition/pipeline.hpp"
#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "kith/evaluate/details.hpp"
#include "kith/report/results_table.hpp"
#include "kith/report/text_art.hpp"
#include "kith/version.hpp"
#include "report/page_source.hpp"
#include "report/png.hpp"

namespace kith {
namespace {

// What an evaluation may spend on a picture of its data: seconds, of hours.
constexpr Index kMostPortrayed = 100000;
constexpr Index kMostCompared = 10000;
constexpr Index kMostDecomposed = 4000;
constexpr std::size_t kIdWidth = 80;  // a page of long sequences as ids would have no end

/// `value` with as many digits as can be seen.
Json seen(double value, int digits) {
  if (!std::isfinite(value)) return {};
  return parse_double(fmt::format("{:.{}g}", value, digits)).value_or(value);
}

Json real(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json picture_json(const Picture& picture) {
  const std::vector<Colour> steps = sequential_palette(kPictureLevels);
  std::vector<Colour> palette = {{0, 0, 0}};
  palette.insert(palette.end(), steps.begin(), steps.end());
  const auto side = static_cast<std::uint32_t>(picture.side);
  const std::string png = encode_png(picture.levels, side, side, palette);
  Json colours = Json::array();
  for (const Colour& colour : steps) {
    colours.push_back(fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]));
  }
  return {{"side", picture.side},          {"samples_per_pixel", picture.samples_per_pixel},
          {"low", seen(picture.low, 6)},   {"high", seen(picture.high, 6)},
          {"colours", std::move(colours)}, {"png", "data:image/png;base64," + base64(png)}};
}

/// Coordinates in ten-thousandths of the widest axis.
Json map_json(const PlaneMap& map) {
  const double widest = std::max(map.x.cwiseAbs().maxCoeff(), map.y.cwiseAbs().maxCoeff());
  const double unit = widest > 0 ? widest / 10000 : 1;
  const auto steps = [&](const Vector& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(std::lround(value / unit));
    return list;
  };
  return {{"unit", seen(unit, 8)},
          {"x", steps(map.x)},
          {"y", steps(map.y)},
          {"largest", {seen(map.largest[0], 6), seen(map.largest[1], 6)}},
          {"smallest", seen(map.smallest, 6)},
          {"squared_share", seen(map.squared_share, 6)}};
}

Json ids_json(const std::vector<std::string>& ids) {
  Json list = Json::array();
  for (const std::string& id : ids) list.push_back(shortened(id, kIdWidth));
  return list;
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
  Json partitions = Json::array();
  for (const PartitionRecord& one : details.partitions) {
    partitions.push_back({{"partition", one.partition + 1},
                          {"status", one.status},
                          {"gap", real(one.gap)},
                          {"kkt_residual", real(one.kkt_residual)},
                          {"iterations", real(one.iterations)},
                          {"seconds", seen(one.seconds, 4)}});
  }
  return {{"wrong", details.wrong},
          {"said", details.said},
          {"axes", std::move(axes)},
          {"validation", std::move(validation)},
          {"calibration", std::move(calibration)},
          {"partitions", std::move(partitions)},
          {"learned", details.learned}};
}

/// What `results_json` does not have.
void add_details(Json& data_set, const Store& store, const ExperimentResult& result) {
  ExperimentRecord record = store.experiment(result.number);
  data_set["class_names"] = record.labels.names;
  data_set["labels"] = record.labels.ids;
  data_set["ids"] = ids_json(record.ids);
  if (record.about.contains("portraits")) {
    data_set["portraits"] = std::move(record.about["portraits"]);
    record.about.erase("portraits");
  }
  data_set["about"] = std::move(record.about);
  const std::vector<std::int64_t> candidates = store.candidates(result.number);
  std::vector<int> tested;
  for (std::size_t m = 0; m < candidates.size(); ++m) {
    const MethodDetails details = method_details(store, candidates[m], record);
    Json& method = data_set["methods"][m];
    method["met_tolerance"] = result.methods[m].met_tolerance();
    method["details"] = details_json(details);
    if (m == 0) tested = details.tested;
    if (details.tested != tested) method["details"]["tested"] = details.tested;
  }
  data_set["tested"] = tested;
}

Json head(std::string_view kind) { return {{"kind", kind}, {"kith", kVersion}}; }

}  // namespace

Json portrait_json(const Portrait& portrait) {
  Json json = summary_json(portrait.summary);
  json.erase("eigenvalues");
  if (portrait.summary.spectrum) {
    Json eigenvalues = Json::array();
    for (const double value : portrait.summary.spectrum->lambda) {
      eigenvalues.push_back(seen(value, 5));
    }
    json["eigenvalues"] = std::move(eigenvalues);
  }
  json["order"] = portrait.order;
  json["picture"] = picture_json(portrait.picture);
  if (portrait.map) json["map"] = map_json(*portrait.map);
  json["nearest"] = portrait.nearest;
  json["neighbours"] = portrait.neighbours;
  return json;
}

Json portraits_json(const ExperimentData& data, const RunContext& ctx) {
  if (data.samples() > kMostPortrayed) return Json::array();
  RunContext silent = ctx;
  silent.sink = nullptr;
  PortraitSettings settings;
  settings.most_compared = kMostCompared;
  settings.most_mapped = kMostDecomposed;
  settings.summary.spectrum_up_to = kMostDecomposed;
  settings.most_pixels /= data.matrices.sets.size() > 1 ? 2 : 1;
  Json portraits = Json::array();
  try {
    for (const SimilaritySet& set : data.matrices.sets) {
      std::optional<ConditionedInput> conditioned;
      if (data.input.missing != MissingRule::kError || missing_pairs(set.block) == 0) {
        conditioned = condition_training(set, data.input, silent);
      }
      const TrainingMatrix* matrix = conditioned ? &conditioned->matrix : nullptr;
      Portrait portrait = portray(set, matrix, &data.labels, settings, silent);
      if (conditioned) portrait.summary.applied = conditioned->applied;
      portraits.push_back(portrait_json(portrait));
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInterrupted) throw;
    return Json::array();
  }
  return portraits;
}

void add_portraits(Json& about, const ExperimentData& data, const Store& store,
                   const std::string& name, const RunContext& ctx) {
  for (const std::int64_t number : store.experiments()) {
    if (store.experiment(number).name == name) return;
  }
  Json portraits = portraits_json(data, ctx);
  if (!portraits.empty()) about["portraits"] = std::move(portraits);
}

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
  for (const char* key : {"advice", "agreement", "unmatched_labels"}) {
    if (whole.contains(key)) document[key] = std::move(whole[key]);
  }
  document["data_sets"] = Json::array();
  for (const PortrayedMatrix& matrix : matrices) {
    Json data_set = {{"name", matrix.portrait.summary.name}, {"n", matrix.portrait.summary.n}};
    if (matrix.labels) {
      data_set["class_names"] = matrix.labels->names;
      data_set["labels"] = matrix.labels->ids;
    }
    data_set["ids"] = ids_json(matrix.ids);
    data_set["portraits"] = Json::array({portrait_json(matrix.portrait)});
    document["data_sets"].push_back(std::move(data_set));
  }
  return document;
}

bool has_page() { return !page_source().empty(); }

void check_has_page() {
  if (has_page()) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      "this kith was built without its HTML page (KITH_REPORT_BUNDLE): build it again where npm "
      "is installed and can fetch packages; `kith report` also has --format text, csv, "
      "markdown, latex and json, `kith inspect` prints text or --json");
}

std::string embedded_json(const Json& document) {
  // Everything beyond ASCII is escaped by the writer, U+2028 and U+2029 among it.
  const std::string plain = document.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(plain.size() + plain.size() / 16);
  for (const char letter : plain) {
    switch (letter) {
      case '<':
        safe += "\\u003c";
        break;
      case '>':
        safe += "\\u003e";
        break;
      case '&':
        safe += "\\u0026";
        break;
      default:
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
