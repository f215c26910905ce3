// SPDX-License-Identifier: Apache-2.0
// The best methods by cross-validation (kith/evaluate/selection), as `kith train --method auto`.
#include <pybind11/stl.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bindings.hpp"
#include "experiments.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/core/text.hpp"
#include "kith/evaluate/selection.hpp"
#include "models.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

/// What is chosen among: the methods named, or the members of the usual committee.
std::vector<Candidate> members_of(const GivenPlan& plan, std::size_t matrices) {
  std::string usual(kAutoMembers);
  if (matrices > 1) usual += "," + std::string(kAutoSeveralMembers);
  std::vector<Candidate> members = candidates_of(plan, usual, ProtocolName::kKith, matrices);
  check_members(members);
  return members;
}

/// (the model, notes on the searches of those that are part of it)
using Selected = std::pair<Model, std::vector<std::string>>;

/// `self`: whether new rows will bring their self-similarities, as raw samples do.
Selected select(const GivenData& data, const GivenLabels& labels, const Texts& input,
                const GivenPlan& plan, std::optional<double> budget, bool self,
                const RunOptions& options) {
  const Stopwatch clock;
  const InputSettings settings = input_settings(input);
  Borrowed borrowed;
  OwnData own = own_data(data, &borrowed);
  const Labels classes = labels_of(labels, own.size());
  const Index n = classes.size();
  auto choose = [=, own = std::move(own)](RunContext& ctx) mutable {
    std::vector<Candidate> members = members_of(plan, own.tables());
    ExperimentData made = experiment_data(own, classes, settings, ctx);
    InputSearch search = input_search(ProtocolName::kKith, own.samples, self);
    for (const auto& [key, text] : input) search.given.push_back(key);
    if (budget) search.seconds = std::max(0.0, *budget - clock.seconds()) / 2;
    resolve_inputs(made, own.samples, search, members, ctx);
    const Selection selection =
        select_methods(made, members, {.budget = budget, .spent = clock.seconds()}, ctx);
    Training training =
        train_selected(selection, made, own.samples, own.vectors ? &*own.vectors : nullptr,
                       decision_of(members), ctx);
    record(selection, made, training.model);
    std::vector<std::string> notes = notes_of(selection);
    for (std::string& note : notes) note = spelled(note, as_keyword);
    Model model = fitted(std::move(training));
    Json said = Json::parse(model.fit_json);
    add_seconds(selection, said);
    model.fit_json = said.dump();
    return Selected(std::move(model), std::move(notes));
  };
  Selected selected = run(options, n, std::move(choose));
  selected.first = on_its_own(std::move(selected.first), borrowed);
  return selected;
}

}  // namespace

void bind_selection(py::module_& module) {
  module.attr("auto_members") = std::string(kAutoMembers);
  module.attr("auto_several_members") = std::string(kAutoSeveralMembers);
  module.def("auto_info", [] { return auto_json().dump(); });
  module.def("seconds", &parse_seconds, py::arg("text"));
  module.def("select", &select, py::arg("data"), py::arg("labels"), py::arg("input"),
             py::arg("plan"), py::arg("budget"), py::arg("self"), py::arg("options"));
}

}  // namespace kith::python
