# SPDX-License-Identifier: Apache-2.0
# The library's sources in batches, see kith_batch. A source in none stands alone: parallel.cpp is compiled with
# options of its own under ThreadSanitizer, vector_kernels.cpp for several processors.
kith_batch(kith core/context core/error core/rng core/settings core/status core/text)
kith_batch(kith numerics/blas numerics/pivoted_cholesky numerics/rank_one_update
  numerics/symmetric_eigen)
kith_batch(kith numerics/arrowhead numerics/lanczos numerics/principal_axes numerics/psd)
kith_batch(kith optim/free_set optim/mixed_mkl optim/projected_gradient optim/symmetric_view)
kith_batch(kith optim/certificate optim/float_columns optim/regularised_mkl optim/robust_active optim/robust_ball
  optim/robust_dual optim/robust_kernel)
kith_batch(kith optim/robust_newton optim/spectrum_newton optim/spectrum_program optim/trace_block)
kith_batch(kith optim/trace_kernel optim/trace_search optim/trace_spectral)
kith_batch(kith optim/hinge_vertex optim/robust_problem optim/trace_barrier)
kith_batch(kith optim/trace_newton optim/trace_splitting)
kith_batch(kith optim/exchange optim/hinge_interior optim/hinge_lp optim/interior optim/smo)
kith_batch(kith optim/boxed_lasso optim/boxed_lasso_certificate optim/lasso_interior optim/mkl_parts
  optim/robust_point optim/smo_block optim/trace_weighted)
kith_batch(kith optim/spectrum_cones optim/spectrum_inner optim/spectrum_interior)
kith_batch(kith optim/mirror_descent optim/narrow_pairs optim/simplex_qp optim/spectrum_norm)
kith_batch(kith optim/metric_descent optim/metric_problem optim/squared_hinge)
kith_batch(kith optim/lbfgs optim/margin_radius optim/radius_mkl)
kith_batch(kith data/block data/formats/checks data/formats/csv_layout data/formats/delimited
  data/formats/edges data/formats/id_table data/formats/idx data/formats/mapped_file data/formats/npy_header
  data/labels)
kith_batch(kith data/atomic_file data/folds data/formats/csv_parser data/formats/libsvm
  data/formats/mat data/formats/matrix_market data/formats/phylip)
kith_batch(kith data/formats/blast data/formats/csv data/formats/formats data/formats/mat_check
  data/formats/npy data/formats/pair_list data/formats/stream data/similarity_set)
kith_batch(kith measure/align measure/categories measure/compression measure/dtw measure/dtw_nearest
  measure/edit measure/fasta measure/gaussian measure/inner_product measure/measure
  measure/measure_rule measure/pairs measure/raw_data measure/raw_matrix measure/series
  measure/set_similarity measure/sets measure/spectrum measure/strings measure/value_difference
  measure/vector_distance measure/vectors)
kith_batch(kith condition/distance condition/missing condition/query condition/rows_rbf
  condition/scale condition/symmetric condition/table)
kith_batch(kith condition/input_rule condition/pipeline condition/spectrum condition/symmetrise)
kith_batch(kith learn/embedding/nearest_mean learn/kernel_learning/average_svm
  learn/kernel_learning/mkl learn/shared_work learn/svm/feature_svm learn/svm/prototypes)
kith_batch(kith learn/decision learn/embedding/embed_svm learn/neighbours/knn learn/neighbours/krr
  learn/neighbours/voters learn/portrait learn/svm/augmented learn/svm/lp_machine)
kith_batch(kith learn/generative/medoids learn/generative/mixture_sda learn/generative/statistics
  learn/registry learn/summary learn/svm/kernel_svm learn/svm/pair_machines)
kith_batch(kith learn/embedding/features_fisher learn/embedding/linear_scores
  learn/generative/local_sda learn/kernel_learning/learned_kernel learn/svm/p_svm learn/svm/svm_knn)
kith_batch(kith learn/advice learn/method_json learn/embedding/discriminant learn/embedding/features_quadratic
  learn/generative/max_entropy learn/kernel_learning/learned_pairs learn/kernel_learning/robust_svm)
kith_batch(kith learn/generative/sda learn/kernel_learning/full_kernel_svm
  learn/kernel_learning/kernel_sum learn/kernel_learning/spectrum_pair
  learn/kernel_learning/spectrum_svm learn/svm/spectrum_kernel)
kith_batch(kith learn/calibration learn/embedding/pe_fisher learn/learner
  learn/multiclass/one_vs_one learn/neighbours/kri learn/neighbours/local_kernel
  learn/neighbours/nearest learn/svm/column_machines)
kith_batch(kith learn/kernel_learning/emkl learn/kernel_learning/eskl learn/kernel_learning/rekl
  learn/kernel_learning/trace_pairs)
kith_batch(kith learn/feature_scale learn/metric/linear_msvm learn/metric/metric_machine learn/metric/metric_pairs
  learn/metric/nonlinear_msvm)
kith_batch(kith learn/kernel_learning/base_kernels learn/metric/metric_knn
  learn/metric/neighbour_maps learn/svm/vector_svm)
kith_batch(kith model/archive model/fingerprint model/measure_archive model/model_file
  model/query_files)
kith_batch(kith model/raw_queries model/record_rules model/strict_json model/tensor_file
  model/tensor_header model/trained_model model/xxh64)
kith_batch(kith evaluate/details evaluate/experiment evaluate/metrics evaluate/partition_file
  evaluate/results evaluate/selection evaluate/store_differences evaluate/store_rows)
kith_batch(kith evaluate/fold_part evaluate/given_partitions evaluate/grid evaluate/partitions
  evaluate/results_json evaluate/sqlite evaluate/statistics evaluate/store evaluate/store_file evaluate/unit)
kith_batch(kith report/escape report/inspect report/inspection report/text_art)
kith_batch(kith report/page report/png report/results_table)
