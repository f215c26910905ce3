// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "kith/learn/method.hpp"

namespace kith {

std::span<const Reference> references() {
  static constexpr std::array<Reference, 7> kAll = {
      {{"TR", "Chen, Garcia, Gupta, Rahimi, Cazzanti: Similarity-based classification, 2009"},
       {"CGR", "Chen, Gupta, Recht: Learning kernels from indefinite similarities, ICML 2009"},
       {"CY", "Chen, Ye: Training SVM with indefinite kernels, 2008"},
       {"LA",
        "Luss, d'Aspremont: Support vector machine classification with indefinite kernels, 2007"},
       {"KTBB",
        "Kundu, Tankasali, Bhattacharyya, Ben-Tal: Efficient algorithms for learning kernels from "
        "multiple similarity matrices with general convex loss functions, 2010"},
       {"ZGZZ", "Zhu, Gong, Zhao, Zhang: Learning similarity metric with SVM, 2012"},
       {"RYP", "Rifkin, Yeo, Poggio: Regularized least-squares classification, 2003"}}};
  return kAll;
}

}  // namespace kith
