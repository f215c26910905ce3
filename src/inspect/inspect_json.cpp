// SPDX-License-Identifier: Apache-2.0
#include "kith/inspect/inspect_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "inspect/png.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

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

Json duplicates_json(const DuplicateSummary& duplicates) {
  Json pairs = Json::array();
  for (const DuplicatePair& pair : duplicates.pairs) {
    Json one = {{"samples", pair.names}, {"same", pair.same}};
    if (!pair.classes.front().empty()) one["classes"] = pair.classes;
    pairs.push_back(std::move(one));
  }
  return {{"same", duplicates.same},
          {"near", duplicates.near},
          {"contradicting", duplicates.contradicting},
          {"samples", duplicates.samples},
          {"pairs", std::move(pairs)}};
}

/// Where half of a spectrum is negative because the diagonal adds up to 0; null elsewhere.
Json centred_json(const MatrixSummary& matrix) {
  if (!matrix.centred) return {};
  const SpectrumSummary& centred = *matrix.centred;
  return {{"negative_eigenvalues", centred.negative},
          {"zero_eigenvalues", centred.zero},
          {"negative_eigenfraction", real(centred.negative_fraction)},
          {"lambda_min", real(centred.smallest())},
          {"lambda_max", real(centred.largest())}};
}

}  // namespace

Json seen(double value, int digits) {
  if (!std::isfinite(value)) return {};
  return parse_double(fmt::format("{:.{}g}", value, digits)).value_or(value);
}

Json summary_json(const MatrixSummary& matrix) {
  Json json = Json::object();
  json["name"] = matrix.name;
  json["source"] = matrix.source;
  json["format"] = matrix.format;
  json["kind"] = matrix.kind == PairKind::kDistance ? "distance" : "similarity";
  json["applied"] = matrix.applied;
  json["n"] = matrix.n;
  Json classes = Json::object();
  Json table = Json::array();
  for (const ClassSummary& one : matrix.classes) {
    classes[one.name] = one.count;
    table.push_back({{"class", one.name},
                     {"count", one.count},
                     {"mean_similarity_within", real(one.within)},
                     {"mean_similarity_to_others", real(one.between)}});
  }
  json["classes"] = classes;
  json["class_table"] = table;
  json["symmetric"] = matrix.symmetric;
  json["asymmetry"] = real(matrix.asymmetry);
  json["min"] = real(matrix.min);
  json["max"] = real(matrix.max);
  json["diagonal_min"] = real(matrix.diagonal_min);
  json["diagonal_max"] = real(matrix.diagonal_max);
  json["sparse"] = matrix.sparse;
  json["missing"] = matrix.missing;
  const bool known = matrix.spectrum.has_value();
  json["negative_eigenvalues"] = known ? Json(matrix.spectrum->negative) : Json(nullptr);
  json["zero_eigenvalues"] = known ? Json(matrix.spectrum->zero) : Json(nullptr);
  json["negative_eigenfraction"] = known ? real(matrix.spectrum->negative_fraction) : Json(nullptr);
  json["lambda_min"] = known ? real(matrix.spectrum->smallest()) : Json(nullptr);
  json["lambda_max"] = known ? real(matrix.spectrum->largest()) : Json(nullptr);
  json["centred"] = centred_json(matrix);
  if (!known) json["no_spectrum_because"] = matrix.no_spectrum_because;
  json["loo_1nn_error"] = matrix.neighbours ? real(matrix.neighbours->error) : Json(nullptr);
  if (matrix.neighbours) {
    json["loo_1nn_by"] =
        matrix.neighbours->by == PairKind::kDistance ? "distances" : "similarities";
    json["loo_1nn_tied"] = matrix.neighbours->tied;
    json["loo_1nn_isolated"] = matrix.neighbours->isolated;
  }
  json["duplicates"] = matrix.duplicates ? duplicates_json(*matrix.duplicates) : Json(nullptr);
  json["triangle_violations"] =
      matrix.triangles ? real(matrix.triangles->fraction()) : Json(nullptr);
  if (matrix.triangles) {
    json["triangles_checked"] = matrix.triangles->checked;
    json["triangles_sampled"] = matrix.triangles->sampled;
  }
  if (known) {
    json["eigenvalues"] =
        std::vector<double>(matrix.spectrum->lambda.begin(), matrix.spectrum->lambda.end());
  }
  return json;
}

Json advice_json(const std::vector<Advice>& advice) {
  Json list = Json::array();
  for (const Advice& one : advice) list.push_back({{"what", one.what}, {"why", one.why}});
  return list;
}

Json inspection_json(const Inspection& inspection) {
  Json json = Json::object();
  if (inspection.matrices.size() == 1) {
    json = summary_json(inspection.matrices.front());
  } else {
    json["n"] = inspection.matrices.front().n;
    Json matrices = Json::array();
    for (const MatrixSummary& matrix : inspection.matrices)
      matrices.push_back(summary_json(matrix));
    json["matrices"] = matrices;
    Json agreement = Json::array();
    for (Index a = 0; a < inspection.agreement.rows(); ++a) {
      const Vector row = inspection.agreement.row(a);
      agreement.push_back(std::vector<double>(row.begin(), row.end()));
    }
    json["agreement"] = agreement;
  }
  json["unmatched_labels"] = inspection.unmatched_labels;
  json["advice"] = advice_json(inspection.advice);
  json["notes"] = inspection.notes;
  if (!inspection.next.empty()) json["next"] = inspection.next;
  if (!inspection.next_because.empty()) json["next_because"] = inspection.next_because;
  json["blas_threads"] = inspection.blas_threads;
  json["timing"] = {{"seconds", inspection.seconds}};
  return json;
}

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

}  // namespace kith
