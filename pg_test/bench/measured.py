"""What a run gave, and how runs are set side by side."""

import os
import platform
import statistics
from typing import NamedTuple


class Measured(NamedTuple):
    rate: float  # answers a second
    answers: int
    p50_ms: float
    p99_ms: float
    p999_ms: float

    @classmethod
    def of(cls, latencies_ms, seconds):
        ordered = sorted(latencies_ms)

        def percentile(percent):
            return ordered[min(int(len(ordered) * percent / 100), len(ordered) - 1)] if ordered else float("nan")

        return cls(len(ordered) / seconds, len(ordered), percentile(50), percentile(99), percentile(99.9))


def middle(runs):
    """The median of each figure by itself."""
    return Measured(*map(statistics.median, zip(*runs)))


def ratio(runs, measures, figure="rate"):
    """The median of the ratios of runs that were made in turns."""
    return statistics.median(getattr(run, figure) / getattr(measure, figure) for run, measure in zip(runs, measures))


def spread(values, digits=0):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def print_runs(runs_by_name):
    width = max(map(len, runs_by_name))
    print(f"\n{'':{width}} {'requests/s':>24} {'p50 ms':>9} {'p99 ms':>9} {'p99.9 ms':>9}")
    for name, runs in runs_by_name.items():
        figures = middle(runs)
        print(f"{name:{width}} {spread([run.rate for run in runs]):>24} {figures.p50_ms:>9.2f} {figures.p99_ms:>9.2f} "
              f"{figures.p999_ms:>9.2f}")


def machine():
    return f"{os.cpu_count()} CPUs ({platform.machine()}), load {os.getloadavg()[0]:.1f}"


class Targets:
    """What is asked for, and whether it was reached."""

    def __init__(self):
        self.lines = []

    def check(self, what, value, holds, wanted):
        """The mark to set behind the value."""
        mark = "" if holds else "!"
        self.lines.append(f"{what:84} {value:>12}{mark:1}  {wanted}")
        return mark

    def print(self):
        if self.lines:
            print("\nTargets (! behind what is missed)\n\n" + "\n".join(self.lines), flush=True)
