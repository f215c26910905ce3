// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "kith/version.hpp"
#include "running.hpp"

PYBIND11_MODULE(_core, module) {
  module.doc() = "What kith computes; the package around it is what people use.";
  module.attr("version") = std::string(kith::kVersion);
  kith::python::translate_errors();
  kith::python::bind_run_options(module);
  kith::python::bind_models(module);
  kith::python::bind_tables(module);
  kith::python::bind_measures(module);
  kith::python::bind_selection(module);
  kith::python::bind_evaluation(module);
}
