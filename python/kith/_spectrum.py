# SPDX-License-Identifier: Apache-2.0
"""A kernel from indefinite similarities, with the same map for new rows."""
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _core
from ._finite import KERNEL, NEW_ROWS
from ._run import run_options
from ._texts import text_of


class Spectrum(TransformerMixin, BaseEstimator):
    """Turns similarities into a kernel that scikit-learn's `SVC(kernel="precomputed")` can learn from.

    `fit_transform(S)` is the kernel of the training samples; `transform(rows)` is what new rows look
    like under the same map, so that training and test samples are treated alike.

    Frames are matched by id. `consistency_` is how far `transform(S)` of the training matrix is from its kernel,
    which is 0 but for shift and diffusion, whose map of new rows is another one.

    Similarities of float32 give a kernel of float32, computed in double precision.

    spectrum : none, clip, flip, shift, square or diffusion
    beta : of diffusion, exp(beta S), above 0; "auto": 1 / max|lambda|, as in `kith.SVM`

    >>> import kith, numpy as np
    >>> S = np.array([[1., 2.], [2., 1.]])
    >>> kith.Spectrum("clip").fit_transform(S)
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """

    def __init__(self, spectrum="clip", *, beta="auto", threads=None, blas_threads=None):
        self.spectrum = spectrum
        self.beta = beta
        self.threads = threads
        self.blas_threads = blas_threads

    def fit(self, X, y=None):
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y=None):
        S = _arrays.check_matrix(_arrays.in_order(X), False, False, of=KERNEL)
        if S.shape[0] != S.shape[1]:
            raise ValueError(f"X must be a square matrix of similarities, and is {S.shape[0]} x {S.shape[1]}")
        with run_options(self.threads, self.blas_threads) as options:
            kernel, self.map_, self.consistency_ = _core.spectrum_kernel(
                text_of(self.spectrum, "spectrum"), self._strength(), S, options)
        self.n_features_in_ = S.shape[1]
        self._ids = _arrays.sample_ids(X)
        return kernel

    def _strength(self):
        """Of diffusion; None leaves it to the library."""
        if isinstance(self.beta, str) and self.beta == "auto":
            return None
        try:
            beta = float(self.beta)
        except (TypeError, ValueError):
            beta = np.nan
        if not 0 < beta < np.inf:
            raise ValueError(f"beta is {self.beta!r}, and must be a number above 0, or 'auto'")
        return beta

    def transform(self, X):
        check_is_fitted(self, "map_")
        chosen = _arrays.over_samples(X, self._ids)
        rows = _arrays.check_matrix(X if chosen is None else chosen, False, False, of=NEW_ROWS)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {rows.shape[1]} features, but Spectrum is expecting "
                             f"{self.n_features_in_} features as input: one column per training sample")
        with run_options(self.threads, self.blas_threads) as options:
            return self.map_(rows, options)

    def get_feature_names_out(self, input_features=None):
        check_is_fitted(self, "map_")
        return np.array(self._ids or [f"sample{i}" for i in range(self.n_features_in_)], dtype=object)

    def _more_tags(self):  # scikit-learn before 1.6
        return {"pairwise": True, "preserves_dtype": [np.float64, np.float32]}

    def __sklearn_tags__(self):  # scikit-learn from 1.6 on
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
