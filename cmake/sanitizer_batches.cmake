# SPDX-License-Identifier: Apache-2.0
# Sanitizer builds compile most of the library in batches: the same code and checks in half the time. A
# batch is one translation unit, so its sources must not share local names; a source in none stands alone.
set(batches
  "core/context core/error core/rng core/settings core/status core/text"
  "numerics/arrowhead numerics/blas numerics/extreme_eigen numerics/lanczos numerics/psd
   numerics/symmetric_eigen"
  "optim/boxed_lasso optim/boxed_lasso_certificate optim/certificate optim/exchange optim/float_columns
   optim/free_set"
  "optim/hinge_lp optim/hinge_vertex optim/narrow_pairs optim/projected_gradient optim/robust_dual
   optim/robust_point"
  "optim/interior optim/mkl_parts optim/trace_block optim/trace_search optim/trace_splitting
   optim/trace_weighted"
  "optim/mirror_descent optim/trace_barrier optim/trace_kernel"
  "optim/simplex_qp optim/smo optim/smo_block optim/symmetric_view data/atomic_file data/block"
  "data/folds data/labels data/similarity_set data/formats/blast data/formats/checks data/formats/csv"
  "data/formats/csv_layout data/formats/csv_parser data/formats/delimited data/formats/edges
   data/formats/formats data/formats/id_table"
  "data/formats/libsvm data/formats/mapped_file data/formats/mat data/formats/mat_check
   data/formats/matrix_market data/formats/npy"
  "data/formats/npy_header data/formats/pair_list data/formats/phylip data/formats/stream measure/edit
   measure/gaussian"
  "measure/measure measure/raw_data measure/strings measure/vectors condition/distance
   condition/missing"
  "measure/align measure/categories measure/compression measure/dtw measure/dtw_nearest measure/fasta"
  "measure/idx measure/inner_product measure/pairs measure/series measure/set_similarity measure/sets"
  "measure/spectrum measure/value_difference measure/vector_distance measure/measure_rule
   measure/raw_matrix"
  "condition/rows_rbf condition/scale condition/spectrum condition/symmetric condition/symmetrise
   condition/table"
  "learn/advice learn/calibration learn/decision learn/learner learn/registry learn/shared_work"
  "learn/embedding/discriminant learn/embedding/embed_svm learn/embedding/features_fisher
   learn/embedding/features_quadratic learn/embedding/linear_scores learn/embedding/nearest_mean"
  "learn/embedding/pe_fisher learn/generative/local_sda learn/generative/max_entropy
   learn/generative/medoids learn/generative/sda learn/generative/statistics"
  "learn/kernel_learning/full_kernel_svm learn/kernel_learning/learned_kernel
   learn/kernel_learning/learned_pairs learn/kernel_learning/robust_svm learn/multiclass/one_vs_one
   learn/neighbours/knn"
  "learn/kernel_learning/average_svm learn/kernel_learning/emkl learn/kernel_learning/eskl
   learn/kernel_learning/kernel_sum learn/kernel_learning/rekl learn/kernel_learning/trace_pairs"
  "learn/neighbours/kri learn/neighbours/local_kernel learn/neighbours/nearest learn/svm/augmented
   learn/svm/feature_svm learn/svm/kernel_svm"
  "learn/svm/prototypes learn/svm/svm_knn model/archive model/fingerprint model/model_file
   model/query_files"
  "model/trained_model model/record_rules model/strict_json model/tensor_file model/tensor_header
   model/xxh64"
  "evaluate/experiment evaluate/fold_part evaluate/grid evaluate/metrics evaluate/partition_file
   evaluate/partitions"
  "evaluate/results evaluate/results_json evaluate/selection evaluate/sqlite evaluate/statistics
   evaluate/store"
  "evaluate/store_differences evaluate/store_file evaluate/store_rows evaluate/unit report/escape
   report/inspection"
  "report/results_table report/text_art model/measure_archive model/raw_queries")
set(number 0)
foreach(batch IN LISTS batches)
  math(EXPR number "${number} + 1")
  separate_arguments(sources UNIX_COMMAND "${batch}")
  list(TRANSFORM sources PREPEND "${PROJECT_SOURCE_DIR}/src/")
  list(TRANSFORM sources APPEND ".cpp")
  set_source_files_properties(${sources} TARGET_DIRECTORY kith PROPERTIES UNITY_GROUP batch_${number})
endforeach()
set_target_properties(kith PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
# g++ takes a source inside a batch for a header, in which local types would be a danger.
target_compile_options(kith PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
