// SPDX-License-Identifier: Apache-2.0
// Nested cross-validation into a store: kith/evaluate, and its tables: kith/report.
#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "experiments.hpp"
#include "kith/core/error.hpp"
#include "kith/data/classes_note.hpp"
#include "kith/evaluate/grid_notes.hpp"
#include "kith/evaluate/results.hpp"
#include "kith/inspect/inspect_json.hpp"
#include "kith/report/curve_table.hpp"
#include "kith/report/inspection.hpp"
#include "kith/report/page.hpp"
#include "kith/report/results_table.hpp"
#include "kith/version.hpp"
#include "running.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

std::vector<SettingWish> wishes_of(const std::map<std::string, Texts>& settings) {
  std::vector<SettingWish> wishes;
  for (const auto& [name, texts] : settings) {
    for (const auto& [key, text] : texts) wishes.push_back({name, key, {text}, "settings"});
  }
  return wishes;
}

std::string list_of(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "" : ",") + item;
  return list;
}

std::vector<Candidate> members_of(const GivenPlan& plan, ProtocolName protocol,
                                  std::size_t matrices) {
  std::vector<Candidate> members = parse_candidates(list_of(plan.among), matrices);
  for (Candidate& one : members) apply(protocol, one);
  grant(wishes_of(plan.among_estimators), {}, members);
  return members;
}

}  // namespace

OwnData own_data(const GivenData& given, Borrowed* borrowed) {
  OwnData data;
  if (!given.matrices.empty()) data.sets = matched_sets(given.matrices, given.ids, borrowed);
  if (!data.sets.sets.empty()) data.sets.sets.front().ordered = given.ordered;
  if (!given.measures.empty()) data.samples = raw_matrices(given.measures);
  if (given.vectors) data.vectors = vector_data(*given.vectors, "vectors");
  if (data.tables() == 0 && !data.vectors) {
    throw Error(ErrorCode::kInvalidArgument, "there is nothing to compare methods on");
  }
  return data;
}

ExperimentData experiment_data(OwnData& own, const Labels& labels, const InputSettings& input,
                               RunContext& ctx) {
  if (own.tables() == 0) return make_experiment_data(*own.vectors, labels);
  ExperimentData data = own.samples.empty()
                            ? make_experiment_data(std::move(own.sets), labels, input, ctx)
                            : make_experiment_data(own.samples, labels, input, ctx);
  if (!own.vectors) return data;
  if (data.samples() != rows(own.vectors->values)) {
    throw Error(ErrorCode::kInvalidArgument,
                "missing='drop-sample' leaves out samples, which methods on vectors would keep");
  }
  data.vectors = own.vectors->values;
  return data;
}

std::vector<Candidate> candidates_of(const GivenPlan& plan, std::string_view usual,
                                     ProtocolName protocol, std::size_t matrices) {
  std::vector<Candidate> candidates =
      parse_candidates(plan.methods.empty() ? std::string(usual) : list_of(plan.methods), matrices);
  for (Candidate& one : candidates) apply(protocol, one);
  if (!plan.among.empty()) set_members(members_of(plan, protocol, matrices), candidates);
  std::vector<SettingWish> searched;
  for (const auto& [name, axes] : plan.grids) {
    for (const auto& [key, values] : axes) searched.push_back({name, key, values, "grids"});
  }
  grant(wishes_of(plan.estimators), {}, candidates);
  grant(wishes_of(plan.settings), searched, candidates);
  return candidates;
}

namespace {

/// What the methods named learn from: (some from vectors, some from similarities, and all of these
/// from similarities of which some are unknown).
std::tuple<bool, bool, bool> needs_of(const std::vector<std::string>& methods) {
  bool vectors = false, similarities = methods.empty(), missing = !methods.empty();
  for (const std::string& method : methods) {
    for (const Candidate& one : parse_candidates(method)) {
      for (const Candidate& part : parts_of(one)) {
        (learns_from_vectors(part.choice.settings) ? vectors : similarities) = true;
        missing = missing && takes_missing_pairs(part.choice.settings);
      }
    }
  }
  return {vectors, similarities, missing};
}

/// As given or as a file has them, or drawn.
std::vector<Partition> partitions_of(const GivenPlan& plan, const PartitionSettings& settings,
                                     const ExperimentData& data, const RunContext& ctx) {
  if (!plan.partition_file.empty()) {
    return read_partitions(plan.partition_file, data, settings, ctx.rng);
  }
  if (plan.partitions.empty()) return draw_partitions(data.labels, settings, ctx.rng);
  std::vector<Partition> partitions;
  for (const auto& [train, test, fold_of] : plan.partitions) {
    partitions.push_back({train, test, fold_of});
  }
  draw_missing_folds(partitions, data, settings, ctx.rng);
  return without_dropped(std::move(partitions), data);
}

/// (what `kith evaluate --json` prints, notes on the searches)
using Compared = std::pair<std::string, std::vector<std::string>>;

Compared evaluate(const GivenData& data, const GivenLabels& labels, const Texts& input,
                  const GivenPlan& given, const std::string& store_path, bool append,
                  const RunOptions& options) {
  const auto protocol = parse_enum<ProtocolName>("protocol", given.protocol);
  InputSettings condition;
  apply(protocol, condition);
  for (const auto& [key, text] : input) set_field(condition, "input", key, text);
  PartitionSettings settings;
  apply(protocol, settings);
  for (const auto& [key, text] : given.partition_settings) {
    set_field(settings, "evaluate", key, text);
  }
  OwnData own = own_data(data);
  const Labels classes = labels_of(labels, own.size());
  const auto compare = [=, own = std::move(own)](RunContext& ctx) mutable {
    ExperimentPlan plan;
    plan.about = {{"command", "kith.evaluate"}, {"kith", kVersion}};
    plan.name = given.name;
    plan.doubts = given.doubts;
    plan.portraits = true;
    const std::string_view usual = own.tables() > 1 ? kSeveralComparison : kDefaultComparison;
    plan.candidates = candidates_of(given, usual, protocol, own.tables());
    ExperimentData made = experiment_data(own, classes, condition, ctx);
    InputSearch search = input_search(protocol, own.samples);
    for (const auto& [key, text] : input) search.given.push_back(key);
    resolve_inputs(made, own.samples, search, plan.candidates, ctx);
    plan.about["matrices"] = matrices_json(made, own.samples);
    plan.partitions = partitions_of(given, settings, made, ctx);
    if (!given.sizes.empty()) {
      plan.sizes = draw_sizes(plan.partitions, made.labels, parse_sizes(list_of(given.sizes)),
                              settings.stratify, ctx.rng);
    }
    plan.partitions_given = !given.partitions.empty() || !given.partition_file.empty();
    plan.protocol = {.name = protocol, .partitions = settings};
    plan.protocol.partitions.repeats = static_cast<Index>(plan.partitions.size());
    const auto test = parse_enum<SignificanceTest>("test", given.test);
    (void)chosen_test(test, Metric::kError, plan.partitions.size(), enum_name(protocol), plan.name);
    Store store(store_path);
    const ExperimentRun done =
        run_experiment(made, plan, store, append ? NewData::kAppend : NewData::kRefuse, ctx);
    std::vector<std::string> notes = keep_notes(made, plan, store, done.experiment);
    for (std::string& note : notes) note = spelled(note, as_keyword);
    Json results = spelled_notes(
        results_json(store, {summarise(store, done.experiment, Metric::kError, "", test)}),
        as_keyword);
    results["failures"] = spelled_json(failures_json(done.failures), as_keyword);
    return Compared(results.dump(), std::move(notes));
  };
  return run(options, 0, compare);
}

/// What a user should know about the groups of samples.
std::vector<std::string> notes_of_groups(const GivenLabels& labels) {
  return notes_on_groups(labels_of(labels, std::ssize(labels.first)), "groups");
}

/// (what a user should know about small classes or nothing, whether there is nothing to learn)
std::pair<std::string, bool> note_of_classes(const std::vector<std::string>& labels) {
  const ClassesNote note = note_on_classes(make_labels(labels), "y");
  return {note.text, note.nothing_to_learn};
}

void check_classes_of_training(const std::vector<std::string>& labels) {
  check_two_classes(make_labels(labels), "training samples");
}

std::vector<ExperimentResult> every_result(const Store& store, const std::string& metric,
                                           const std::string& test) {
  std::vector<ExperimentResult> results;
  for (const std::int64_t number : store.experiments()) {
    results.push_back(summarise(store, number, parse_enum<Metric>("metric", metric), "",
                                parse_enum<SignificanceTest>("test", test)));
  }
  return results;
}

/// The results of every data set of a store, as `kith report` writes them: "json", "html" or a
/// table.
std::string report(const std::string& path, const std::string& metric, const std::string& format,
                   const std::string& test) {
  const Store store(path, StoreAccess::kReadOnly);
  const std::vector<ExperimentResult> results = every_result(store, metric, test);
  if (format == "json") return spelled_notes(results_json(store, results), as_keyword).dump();
  if (format == "html") {
    check_has_page();
    return html_page(spelled_json(report_document(store, results), as_keyword));
  }
  const auto table = parse_enum<TableFormat>("format", format);
  return table == TableFormat::kText ? table_and_curves(store, results, {})
                                     : results_table(results, table, {});
}

/// (what `kith inspect --json` prints, its text, and its page where `page` asks for it)
py::tuple inspect_data(const GivenData& given, const std::vector<std::string>& labels,
                       const Texts& input, const std::vector<std::string>& doubts, bool page,
                       const RunOptions& options) {
  if (page) check_has_page();
  InputSettings settings;
  for (const auto& [key, text] : input) set_field(settings, "input", key, text);
  OwnData own = own_data(given);
  const Index n = own.size();
  std::optional<JoinedLabels> joined;
  if (!labels.empty()) joined = JoinedLabels{labels_of(labels, n), {}};
  const Portraits portraits = page ? Portraits::kDrawn : Portraits::kNone;
  Inspected found = run(options, n, [=, own = std::move(own)](RunContext& ctx) {
    const MatchedSets sets =
        own.samples.empty() ? own.sets
                            : measure_all(own.samples, joined ? &joined->labels : nullptr, ctx);
    return inspect(sets, joined, settings, portraits, ctx);
  });
  found.inspection.notes = doubts;
  return py::make_tuple(
      spelled_json(inspection_json(found.inspection), as_keyword).dump(),
      spelled(inspection_text(found.inspection, {}), as_keyword),
      page ? html_page(
                 spelled_json(inspection_document(found.inspection, found.portraits), as_keyword))
           : std::string());
}

}  // namespace

void bind_evaluation(py::module_& module) {
  py::class_<GivenPlan>(module, "Plan")
      .def(py::init<>())
      .def_readwrite("name", &GivenPlan::name)
      .def_readwrite("protocol", &GivenPlan::protocol)
      .def_readwrite("methods", &GivenPlan::methods)
      .def_readwrite("among", &GivenPlan::among)
      .def_readwrite("among_estimators", &GivenPlan::among_estimators)
      .def_readwrite("doubts", &GivenPlan::doubts)
      .def_readwrite("estimators", &GivenPlan::estimators)
      .def_readwrite("settings", &GivenPlan::settings)
      .def_readwrite("grids", &GivenPlan::grids)
      .def_readwrite("partition_settings", &GivenPlan::partition_settings)
      .def_readwrite("partitions", &GivenPlan::partitions)
      .def_readwrite("partition_file", &GivenPlan::partition_file)
      .def_readwrite("sizes", &GivenPlan::sizes)
      .def_readwrite("test", &GivenPlan::test);
  py::class_<GivenData>(module, "Data")
      .def(py::init<>())
      .def_readwrite("matrices", &GivenData::matrices)
      .def_readwrite("measures", &GivenData::measures)
      .def_readwrite("vectors", &GivenData::vectors)
      .def_readwrite("ids", &GivenData::ids)
      .def_readwrite("ordered", &GivenData::ordered);
  module.def("evaluate", &evaluate, py::arg("data"), py::arg("labels"), py::arg("input"),
             py::arg("plan"), py::arg("store"), py::arg("append"), py::arg("options"));
  module.def("notes_on_groups", &notes_of_groups, py::arg("labels"));
  module.def("note_on_classes", &note_of_classes, py::arg("labels"));
  module.def("check_two_classes", &check_classes_of_training, py::arg("labels"));
  module.def("needs", &needs_of, py::arg("methods"));
  module.def("report", &report, py::arg("store"), py::arg("metric"), py::arg("format"),
             py::arg("test"), py::call_guard<py::gil_scoped_release>());
  module.def("inspect", &inspect_data, py::arg("data"), py::arg("labels"), py::arg("input"),
             py::arg("doubts"), py::arg("page"), py::arg("options"));
}

}  // namespace kith::python
