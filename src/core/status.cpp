// SPDX-License-Identifier: Apache-2.0
#include "kith/core/status.hpp"

namespace kith {

std::string_view name(SolveStatus status) {
  switch (status) {
    case SolveStatus::kSolved:
      return "solved";
    case SolveStatus::kStationary:
      return "stationary point of a non-convex problem";
    case SolveStatus::kStopped:
      return "stopped by its rule";
    case SolveStatus::kReducedAccuracy:
      return "reduced accuracy";
    case SolveStatus::kIterationLimit:
      return "iteration limit";
    case SolveStatus::kInfeasible:
      return "infeasible";
    case SolveStatus::kNumericalFailure:
      return "numerical failure";
  }
  return "unknown";
}

std::optional<SolveStatus> status_of(std::string_view text) {
  for (const SolveStatus status :
       {SolveStatus::kSolved, SolveStatus::kStationary, SolveStatus::kStopped,
        SolveStatus::kReducedAccuracy, SolveStatus::kIterationLimit, SolveStatus::kInfeasible,
        SolveStatus::kNumericalFailure}) {
    if (text == name(status)) return status;
  }
  return std::nullopt;
}

}  // namespace kith
