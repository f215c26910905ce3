// SPDX-License-Identifier: Apache-2.0
// Files of similarities (kith/data/formats) and kernels from them (kith/condition/spectrum).
#include <pybind11/stl.h>

#include <algorithm>
#include <map>

#include "arrays.hpp"
#include "bindings.hpp"
#include "kith/condition/spectrum.hpp"
#include "kith/core/error.hpp"
#include "kith/data/doubt.hpp"
#include "kith/data/formats.hpp"
#include "running.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

py::dict read_table(const std::string& path, const std::map<std::string, std::string>& given,
                    const RunOptions& options) {
  ReadSettings settings;
  for (const auto& [key, text] : given) set_field(settings, "read", key, text);
  const SimilaritySet set = run(options, 0, [path, settings](RunContext& ctx) {
    return read_similarity(path, settings, ctx);
  });
  py::dict table;
  const bool mapped = set.format == enum_name(Format::kNpy);
  table["values"] = array_of(set.block, mapped ? Access::kReadOnly : Access::kWritable);
  table["row_ids"] = set.row_ids;
  table["column_ids"] = set.column_ids;
  table["name"] = py::bytes(set.name);  // of a file, whose name may be no UTF-8
  table["format"] = set.format;
  return table;
}

void write_table(const std::string& path, const std::optional<std::string>& format,
                 const py::object& values, const std::vector<std::string>& row_ids,
                 const std::vector<std::string>& column_ids, const RunOptions& options) {
  SimilaritySet set;
  set.name = path;
  set.source = path;
  set.block = block_of(values);
  set.row_ids = row_ids;
  set.column_ids = column_ids;
  std::optional<Format> chosen;
  if (format) chosen = parse_enum<Format>("format", *format);
  run_in_background(options, 0, [path, chosen, set = std::move(set)](RunContext& ctx) {
    write_similarity(path, chosen, set, {}, ctx);
  });
}

/// What a user should know about matrices that look like something else than they are given as.
std::vector<std::string> doubts_of(const std::vector<GivenMatrix>& given,
                                   const std::vector<std::string>& labels) {
  const Labels classes = make_labels(labels);
  std::vector<std::string> texts;
  for (const auto& [name, array, distance, column] : given) {
    SimilaritySet set;
    set.source = name;
    set.kind = distance ? PairKind::kDistance : PairKind::kSimilarity;
    set.block = block_of(array);
    if (!column.empty()) set.format = enum_name(Format::kBlast);
    const bool labelled = classes.size() == set.rows();
    std::string text = doubt(set, labelled ? &classes : nullptr, column).text;
    if (!text.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

constexpr Index kRowsAtATime = 1024;

/// The treatment of new rows that belongs to a kernel.
struct RowMap {
  TestTransform transform;
  Index samples = 0;
};

/// (kernel, its RowMap, its consistency); the kernel is float32 where the similarities are.
py::tuple spectrum_kernel(const std::string& spectrum, const std::optional<double>& beta,
                          const py::object& S, const RunOptions& options) {
  const auto kind = parse_enum<Spectrum>("spectrum", spectrum);
  DenseBlock block = to_dense(block_of(S));
  const Index n = block.rows();
  if (n != block.cols()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a spectrum belongs to a square matrix, and this one is " + std::to_string(n) +
                    " x " + std::to_string(block.cols()));
  }
  // The map of the square keeps the numbers, which the caller may change.
  if (kind == Spectrum::kSquare) block = DenseBlock(std::move(block).take());
  const ResultArray kernel(n, n, is_single(S));
  auto [map, distance] = run(options, n, [=, block = std::move(block)](RunContext& ctx) {
    Conditioned made = condition_kernel(kind, block, ctx, beta);
    const double off = consistency(made, block);
    kernel.put(0, made.kernel.transpose());  // symmetric, and in the order of the array
    return std::pair(RowMap{std::move(made.transform), n}, off);
  });
  return py::make_tuple(kernel.array(), std::move(map), distance);
}

/// Rows under the map, some at a time; float32 where the rows are.
py::object map_rows(const RowMap& map, const py::object& rows, const RunOptions& options) {
  const ArrayView view(rows);
  if (view.cols() != map.samples) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(view.cols()) +
                                                 " columns; the kernel was made from " +
                                                 std::to_string(map.samples) + " samples");
  }
  const ResultArray mapped(view.rows(), view.cols(), is_single(rows));
  run_in_background(options, map.samples, [map, view, mapped](RunContext& ctx) {
    for (Index first = 0; first < view.rows(); first += kRowsAtATime) {
      ctx.check_stop();
      const Index count = std::min(kRowsAtATime, view.rows() - first);
      mapped.put(first, transform_rows(map.transform, view.part(first, count).take()));
    }
  });
  return mapped.array();
}

py::tuple map_state(const RowMap& map) {
  if (const auto* spectral = std::get_if<SpectralMap>(&map.transform)) {
    return py::make_tuple("spectral", map.samples, array_of(spectral->eigen->U),
                          array_of(Matrix(spectral->eigen->lambda)),
                          array_of(Matrix(spectral->multipliers)));
  }
  if (const auto* correction = std::get_if<Correction>(&map.transform)) {
    return py::make_tuple("correction", map.samples, array_of(correction->part->U),
                          correction->keep, correction->times);
  }
  if (const auto* square = std::get_if<SquareMap>(&map.transform)) {
    return py::make_tuple("square", map.samples, array_of(Block(square->S)));
  }
  return py::make_tuple("unchanged", map.samples);
}

RowMap map_from(const py::tuple& state) {
  const auto matrix = [&](std::size_t at) {
    return Matrix(std::get<DenseBlock>(block_of(state[at])).values());
  };
  RowMap map{Unchanged{}, state[1].cast<Index>()};
  const auto kind = state[0].cast<std::string>();
  if (kind == "spectral") {
    auto eigen = std::make_shared<SymmetricEigen>();
    eigen->U = matrix(2);
    eigen->lambda = matrix(3).col(0);
    map.transform = SpectralMap{std::move(eigen), matrix(4).col(0)};
  } else if (kind == "correction") {
    auto part = std::make_shared<NegativePart>();
    part->U = matrix(2);
    map.transform = Correction{std::move(part), state[3].cast<double>(), state[4].cast<double>()};
  } else if (kind == "square") {
    map.transform = SquareMap{DenseBlock(RowMatrix(matrix(2)))};
  }
  return map;
}

}  // namespace

void bind_tables(py::module_& module) {
  module.def("read", &read_table, py::arg("path"), py::arg("settings"), py::arg("options"));
  module.def("write", &write_table, py::arg("path"), py::arg("format"), py::arg("values"),
             py::arg("row_ids"), py::arg("column_ids"), py::arg("options"));
  module.def("doubts", &doubts_of, py::arg("matrices"), py::arg("labels"));
  module.def("may_be_same_score", &may_be_same_score, py::arg("column"), py::arg("other"));
  module.def(
      "spelled", [](const std::string& text) { return spelled(text, as_keyword); },
      py::arg("text"));
  py::class_<RowMap>(module, "RowMap")
      .def("__call__", &map_rows, py::arg("rows"), py::arg("options"))
      .def(py::pickle(&map_state, &map_from));
  module.def("spectrum_kernel", &spectrum_kernel, py::arg("spectrum"), py::arg("beta"),
             py::arg("similarity"), py::arg("options"));
}

}  // namespace kith::python
