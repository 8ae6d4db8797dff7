"""The answer to a pull request: what was measured against which base, what was not, and how far it can be believed."""

from dataclasses import dataclass
from datetime import datetime

from perfd.domain.metric import Metric
from perfd.domain.verdict import Outcome, Verdict


@dataclass(frozen=True)
class AnswerRow:
    """One Metric of one Workload, base against head."""

    workload_class: str
    workload: str
    model: str
    metric: Metric
    base: float | None
    """The median of base's Runs; absent where none was measured."""
    head: float | None
    verdict: Verdict
    gates: bool = False
    """Whether it may fail the check: a gate of the configuration speaks of it, and it passes its own A/A comparisons."""
    counts: bool = True
    """False for what is only told: a resource, or the engine's start, about which nothing sure can be said."""
    link: str = ""
    """The address of its Series or of the comparison; empty where no site is known."""

    @property
    def name(self) -> str:
        """What it is told apart by on one pull request."""
        return " ".join(filter(None, (self.workload, self.model, self.metric.name)))


@dataclass(frozen=True)
class Unmeasured:
    """A Workload that should have been measured and was not."""

    what: str
    reason: str
    log_tail: str = ""


@dataclass(frozen=True)
class Against:
    """What head was compared with."""

    commit: str
    title: str = ""
    committed_at: datetime | None = None
    branch: str = ""
    """The branch that the pull request would be merged into."""
    behind: int | None = None
    """Commits that the branch has and the base lacks; absent where that is not known."""
    asked: str = ""
    """The ref that a person asked for; empty for the merge base."""


@dataclass(frozen=True)
class Answer:
    """All that is told of one head, once its comparison is over."""

    subject: str
    head: str
    against: Against
    verdict: Verdict
    """Speed and quality together."""
    rows: tuple[AnswerRow, ...]
    unmeasured: tuple[Unmeasured, ...]
    now: datetime
    device: str = ""
    environment: str = ""
    """Whether both arms were measured in the same Environment, as a sentence without its full stop."""
    blocks: int = 0
    """ABBA blocks that were measured, of the Workload that has the most."""
    why: str = ""
    """Why these Workloads and no others."""
    reproduce: str = ""
    """The command that measures it again elsewhere."""
    remarks: tuple[str, ...] = ()
    """What else must be known: the branch was force-pushed, time ran out."""
    alarms: str = ""
    """How often these Series raised a false alarm in the last thirty days, as a sentence."""
    page: str = ""
    """The address of the comparison on the site."""
    plot: str = ""
    """The address of its picture."""
    version: str = ""

    def counted(self, outcome: Outcome) -> int:
        """How many of the rows that count have that outcome."""
        return sum(row.verdict.outcome is outcome for row in self.counting)

    @property
    def counting(self) -> tuple[AnswerRow, ...]:
        """The rows that decide."""
        return tuple(row for row in self.rows if row.counts)
