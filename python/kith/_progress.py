# SPDX-License-Identifier: Apache-2.0
"""Progress of a run, for people who watch it."""
import sys
import time


def shown():
    """A bar of tqdm where that is installed, else lines on standard error."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Lines()
    return Bar(tqdm)


class Bar:
    """Progress through tqdm."""

    def __init__(self, tqdm):
        self._tqdm = tqdm
        self._stage = None
        self._bar = None

    def __call__(self, stage, done, total, at_hand):
        done, total = round(done), round(total)  # counts, which tqdm shows as it gets them
        if stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = self._tqdm(total=total if total > 0 else None, desc=stage, file=sys.stderr)
        if at_hand:
            self._bar.set_postfix_str(at_hand, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Lines:
    """A line every few seconds, and one at the end."""

    EVERY = 2.0

    def __init__(self):
        self._last = time.monotonic()
        self._unsaid = None

    def __call__(self, stage, done, total, at_hand):
        counted = f"{done:.0f} of {total:.0f}" if total > 0 else f"{done:.0f}"
        self._unsaid = f"kith: {stage} {counted}" + (f", {at_hand}" if at_hand else "")
        if time.monotonic() - self._last >= self.EVERY:
            self.close()

    def close(self):
        if self._unsaid is not None:
            print(self._unsaid, file=sys.stderr, flush=True)
            self._unsaid = None
            self._last = time.monotonic()
