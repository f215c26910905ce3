// SPDX-License-Identifier: Apache-2.0
// The few LAPACK routines kith calls, declared by hand: lapacke.h would copy the matrix for its
// checks, and Eigen's own lapacke route ends in the slow dsyev.
#pragma once

#include "kith/numerics/blas.hpp"

namespace kith::detail {
/// Before main: whoever calls LAPACK has the kernels that suit the processor.
inline const bool kBlasKernelsChosen = ensure_blas_kernels();
}  // namespace kith::detail

extern "C" {

/// Eigenvalues, and vectors if asked for, by divide and conquer.
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);

/// The three steps of dsyevd: a tridiagonal matrix T = Q'AQ, its eigenpairs by divide and conquer
/// (or, with less memory, by dstemr), and Q times their vectors.
void dsytrd_(const char* uplo, const int* n, double* a, const int* lda, double* d, double* e,
             double* tau, double* work, const int* lwork, int* info);
void dstedc_(const char* compz, const int* n, double* d, double* e, double* z, const int* ldz,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
void dstemr_(const char* jobz, const char* range, const int* n, double* d, double* e,
             const double* vl, const double* vu, const int* il, const int* iu, int* m, double* w,
             double* z, const int* ldz, const int* nzc, int* isuppz, int* tryrac, double* work,
             const int* lwork, int* iwork, const int* liwork, int* info);
void dormtr_(const char* side, const char* uplo, const char* trans, const int* m, const int* n,
             const double* a, const int* lda, const double* tau, double* c, const int* ldc,
             double* work, const int* lwork, int* info);

/// The same through a band matrix (LAPACK 3.7); jobz 'N' only.
void dsyevd_2stage_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda,
                    double* w, double* work, const int* lwork, int* iwork, const int* liwork,
                    int* info);

/// Chosen eigenpairs of a tridiagonal matrix.
void dstevr_(const char* jobz, const char* range, const int* n, double* d, double* e,
             const double* vl, const double* vu, const int* il, const int* iu, const double* abstol,
             int* m, double* w, double* z, const int* ldz, int* isuppz, double* work,
             const int* lwork, int* iwork, const int* liwork, int* info);

/// Root i (from 1) of the secular equation 1 + rho sum_j z_j^2 / (d_j - root) = 0 for |z| = 1 and
/// n > 2 ascending poles; delta_j = d_j - root.
void dlaed4_(const int* n, const int* i, const double* d, const double* z, double* delta,
             const double* rho, double* dlam, int* info);

/// Cholesky factor L of A = L L'; info > 0: the leading minor of that order is not positive.
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

/// The same in single precision.
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);

/// The same with complete pivoting, ended where no pivot is above tol: `rank` columns of L, whose
/// row k belongs to row piv[k] (from 1) of A.
void dpstrf_(const char* uplo, const int* n, double* a, const int* lda, int* piv, int* rank,
             const double* tol, double* work, int* info);

/// P'AP = L D L' by bounded Bunch-Kaufman pivoting: L below the diagonal of A, D on it and in e.
void dsytrf_rk_(const char* uplo, const int* n, double* a, const int* lda, double* e, int* ipiv,
                double* work, const int* lwork, int* info);
}
