// SPDX-License-Identifier: Apache-2.0
// What the papers prescribe.
#include <algorithm>

#include "kith/evaluate/experiment.hpp"

namespace kith {

void apply(ProtocolName protocol, InputSettings& input) {
  if (protocol == ProtocolName::kCgr && input.scale == ScaleRule::kNone) {
    input.scale = ScaleRule::kUnit;
  }
}

InputSearch input_search(ProtocolName protocol, std::span<const RawMatrix> samples, bool self) {
  if (protocol != ProtocolName::kKith) return {};
  return {.conversions = true,
          .scales = true,
          .cosine = self || !samples.empty(),
          .spread = true,
          .matrices = true};
}

void apply(ProtocolName protocol, PartitionSettings& partitions) {
  if (protocol == ProtocolName::kKith) partitions.folds = 5;
  if (protocol == ProtocolName::kCy || protocol == ProtocolName::kZgzz) {
    partitions.repeats = 10;
    partitions.folds = 5;  // [CY] 6.1 names no number; [ZGZZ] IV.A does
  }
  if (protocol == ProtocolName::kZgzz) partitions.test_fraction = 0.3;
  if (protocol == ProtocolName::kKtbb) {  // [KTBB] 4
    partitions.repeats = 5;
    partitions.folds = 5;
    partitions.stratify = Stratify::kEqual;
  }
}

void apply(ProtocolName protocol, Candidate& candidate) {
  for (Candidate& member : candidate.members) apply(protocol, member);
  const auto axis_of = [&](FieldRole role) -> GridAxis* {
    for (GridAxis& axis : candidate.axes) {
      if (role_of(candidate.choice.settings, axis.field) == role) return &axis;
    }
    return nullptr;
  };
  if (const GridAxis* cost = axis_of(FieldRole::kCost); protocol == ProtocolName::kCy && cost) {
    fix(candidate, std::string(cost->field), "1");  // [CY] 6.1
  }
  if (protocol == ProtocolName::kKith) {
    // Of kernels of spread 1: below these costs every sample is at its bound, above them none is.
    if (GridAxis* axis = axis_of(FieldRole::kCost)) axis->values = powers_of_ten(-2, 4);
  }
  if (protocol != ProtocolName::kCgr && protocol != ProtocolName::kKtbb) return;
  for (const FieldRole role : {FieldRole::kCost, FieldRole::kKernelCost}) {
    // [CGR] 4.2; [KTBB] prints no grids
    if (GridAxis* axis = axis_of(role)) axis->values = powers_of_ten(-3, 3);
  }
  if (GridAxis* axis = axis_of(FieldRole::kNeighbours); protocol == ProtocolName::kCgr && axis) {
    std::erase_if(axis->values, [](const std::string& k) { return k == "64" || k == "128"; });
  }
}

}  // namespace kith
