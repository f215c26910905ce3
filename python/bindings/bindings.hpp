// SPDX-License-Identifier: Apache-2.0
// The parts of the extension module kith._core, one source each. Python hands over arrays and
// texts; what is said of methods, models and results comes back as JSON text.
#pragma once

#include <pybind11/pybind11.h>

namespace kith::python {

void bind_models(pybind11::module_& module);
void bind_tables(pybind11::module_& module);
void bind_measures(pybind11::module_& module);
void bind_selection(pybind11::module_& module);
void bind_evaluation(pybind11::module_& module);

}  // namespace kith::python
