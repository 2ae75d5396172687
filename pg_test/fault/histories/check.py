"""Both judges over one history."""

from dataclasses import dataclass

from .graph import dependencies
from .linearize import linearize


@dataclass
class Verdict:
    anomalies: list
    #: Not made where there is an anomaly.
    search: object | None

    @property
    def sound(self):
        return not self.anomalies and self.search.order is not None

    @property
    def undecided(self):
        """No anomaly is known, and no order was found in the time allowed."""
        return not self.anomalies and self.search.undecided

    def __str__(self):
        return "\n".join([*map(str, self.anomalies), *([] if self.search is None else [self.search.explanation()])])


def check(operations, keys, **limits):
    """`keys`: how many there are; the items of all are missing at the beginning."""
    anomalies, edges = dependencies(operations)
    search = None if anomalies else linearize(operations, dict.fromkeys(range(keys)), edges, **limits)
    return Verdict(anomalies, search)
