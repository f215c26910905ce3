# SPDX-License-Identifier: Apache-2.0
"""How good a model is on samples whose classes are known."""
import html
import json

import numpy as np

from . import _core
from ._texts import path_of


class ScoreReport:
    """What `kith predict --labels` finds, as `model.score_report(X, y)` gives it; prints as it prints.

    Attributes: `n`, `wrong`, `error` and its Wilson `interval` (low, high); `balanced_error`, `baseline` (the error of
    always predicting `baseline_class`, the most frequent class of the training samples), `log_loss`, `auc` (two
    classes), `mean_cost` and `calibration` (`error` and `bins`), each None where it does not exist; `classes`, one dict
    per class with `samples`, `recall`, `recall_interval`, `predicted`, `precision`, `precision_interval` and `known`
    (False: the model never saw it); `confusion`, counts with a row per true class and a column per predicted one in
    the order of `classes`; `notes`. Shares are fractions.
    """

    def __init__(self, document, text, value_of):
        self._document = document
        self._text = text
        facts = self.to_dict()
        self.n = facts["n"]
        self.wrong = facts["wrong"]
        self.error = facts["error"]
        self.interval = tuple(facts["interval"])
        self.balanced_error = facts["balanced_error"]
        self.baseline = facts["baseline"]
        self.baseline_class = value_of.get(facts["baseline_class"])
        self.log_loss = facts["log_loss"]
        self.auc = facts["auc"]
        self.mean_cost = facts["mean_cost"]
        self.calibration = facts["calibration"]
        self.classes = [{**one, "class": value_of[one["class"]]} for one in facts["classes"]]
        self.confusion = np.array(facts["confusion"]["counts"])
        self.notes = facts["notes"]

    def to_dict(self):
        """Everything, as `kith predict --labels --json` has it under `score`; classes are texts there."""
        return json.loads(self._document)["score"]

    def to_frame(self):
        """A row per class (a pandas frame where pandas is installed, else a list of dicts)."""
        try:
            import pandas
        except ImportError:
            return self.classes
        return pandas.DataFrame(self.classes).set_index("class")

    def report(self, path):
        """Writes the page of `kith predict --labels --html`: one HTML file to look at, without network."""
        path = path_of(path)
        page = _core.page_of(self._document)
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def __str__(self):
        return self._text

    def __repr__(self):
        low, high = self.interval
        return (f"<kith.ScoreReport: error {100 * self.error:.2f} %, 95 % interval {100 * low:.2f} to "
                f"{100 * high:.2f} %, {self.n} samples>")

    def _repr_html_(self):
        return f"<pre>{html.escape(self._text)}</pre>"
