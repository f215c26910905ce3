// SPDX-License-Identifier: Apache-2.0
// The list of methods: a new one is its header here, its settings in `Methods`, and what it cites
// in `kReferences`.
#pragma once

#include <array>

#include "kith/learn/embedding/embed_svm.hpp"
#include "kith/learn/embedding/features_fisher.hpp"
#include "kith/learn/embedding/features_quadratic.hpp"
#include "kith/learn/embedding/nearest_mean.hpp"
#include "kith/learn/embedding/pe_fisher.hpp"
#include "kith/learn/generative/local_sda.hpp"
#include "kith/learn/generative/mixture_sda.hpp"
#include "kith/learn/generative/sda.hpp"
#include "kith/learn/kernel_learning/average_svm.hpp"
#include "kith/learn/kernel_learning/base_kernels.hpp"
#include "kith/learn/kernel_learning/full_kernel_svm.hpp"
#include "kith/learn/kernel_learning/mkl.hpp"
#include "kith/learn/kernel_learning/rekl.hpp"
#include "kith/learn/kernel_learning/robust_svm.hpp"
#include "kith/learn/kernel_learning/spectrum_svm.hpp"
#include "kith/learn/kernel_learning/trace_svm.hpp"
#include "kith/learn/method.hpp"
#include "kith/learn/metric/linear_msvm.hpp"
#include "kith/learn/metric/metric_knn.hpp"
#include "kith/learn/metric/nonlinear_msvm.hpp"
#include "kith/learn/neighbours/knn.hpp"
#include "kith/learn/neighbours/kri.hpp"
#include "kith/learn/neighbours/krr.hpp"
#include "kith/learn/ridge/ridge.hpp"
#include "kith/learn/svm/feature_svm.hpp"
#include "kith/learn/svm/kernel_svm.hpp"
#include "kith/learn/svm/lp_machine.hpp"
#include "kith/learn/svm/p_svm.hpp"
#include "kith/learn/svm/svm_knn.hpp"
#include "kith/learn/svm/vector_svm.hpp"

namespace kith {

using Methods = MethodList<  //
    KnnSettings, AffinityKnnSettings, KriSettings, KrrSettings, SdaSettings, LocalSdaSettings,
    MixtureSdaSettings, SvmSettings, RidgeSettings, SvmKnnSettings, FeatureSvmSettings,
    LpMachineSettings, PSvmSettings, FeaturesFisherSettings, FeaturesQuadraticSettings,
    NearestMeanSettings, PeFisherSettings, EmbedSvmSettings, FullKernelSettings, RobustSvmSettings,
    SpectrumSvmSettings, AverageSvmSettings, MklSettings, EsklSettings, EmklSettings, ReklSettings,
    VectorSvmSettings, LinearMsvmSettings, NonlinearMsvmSettings, NcaKnnSettings, LmnnKnnSettings,
    SimpleMklSettings, RklSettings>;

/// The works that methods cite.
inline constexpr auto kReferences = std::to_array<Reference>(
    {{"TR", "Chen, Garcia, Gupta, Rahimi, Cazzanti: Similarity-based classification, 2009"},
     {"CGR", "Chen, Gupta, Recht: Learning kernels from indefinite similarities, ICML 2009"},
     {"CY", "Chen, Ye: Training SVM with indefinite kernels, 2008"},
     {"LA",
      "Luss, d'Aspremont: Support vector machine classification with indefinite kernels, 2007"},
     {"KTBB",
      "Kundu, Tankasali, Bhattacharyya, Ben-Tal: Efficient algorithms for learning kernels from "
      "multiple similarity matrices with general convex loss functions, 2010"},
     {"ZGZZ", "Zhu, Gong, Zhao, Zhang: Learning similarity metric with SVM, 2012"},
     {"RYP", "Rifkin, Yeo, Poggio: Regularized least-squares classification, 2003"}});

}  // namespace kith
