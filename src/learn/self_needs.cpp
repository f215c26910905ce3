// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/self_needs.hpp"

#include <cmath>
#include <variant>

#include "kith/learn/kernel_learning/learned_kernel.hpp"
#include "kith/learn/method_list.hpp"

namespace kith {
namespace {

bool lacks(const LearnedMachine& machine, double constant) {
  return needs_self(machine.treatment) && std::isnan(constant);
}

bool needs(const LearnedPairsModel& model) {
  for (const LearnedMachine& machine : model.machines) {
    if (lacks(machine, model.self)) return true;
  }
  return false;
}

bool needs(const TracePairsModel& model) {
  for (const std::vector<LearnedMachine>& machines : model.machines) {
    for (std::size_t i = 0; i < machines.size(); ++i) {
      if (lacks(machines[i], model.self[i])) return true;
    }
  }
  return false;
}

}  // namespace

bool needs_self_similarities(const AnyModel& model) {
  return std::visit(
      [](const auto& one) {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, SvmModel>) {
          return one.test_treatment == Treatment::kAugmented;
        } else if constexpr (requires { needs(one); }) {
          return needs(one);
        } else {
          return false;
        }
      },
      *model);
}

}  // namespace kith
