"""Results that somebody else measured: what a results file must say of itself to be taken without a plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from perfd.domain.build import BuildSpec
from perfd.domain.codec import from_json
from perfd.domain.identity import Json
from perfd.domain.model import Model
from perfd.domain.results import Results
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import Workload, WorkloadClass
from perfd.errors import BadInputError

RECIPE = "elsewhere"
"""The recipe of a Build that perfd did not make."""


@dataclass(frozen=True)
class Identity:
    """The fields of `run` in such a file."""

    subject: str
    revision: str
    workload: str
    suite: str = "elsewhere"
    workload_class: WorkloadClass = WorkloadClass.BATCH
    parameters: Mapping[str, Json] | None = None
    seed: int = 0
    subject_kind: SubjectKind = SubjectKind.ENGINE
    branch: str = "main"
    ordinal: int | None = None
    """The Revision's place on the branch; absent: behind all that are known."""
    committed_at: datetime | None = None
    title: str = ""
    model: str = ""
    quantisation: str = ""
    parallelism: str = ""


@dataclass(frozen=True)
class Told:
    """A Point as its writer gave it, where only this and no Samples were kept."""

    value: float
    interval: tuple[float, float] | None
    n: int


@dataclass(frozen=True)
class Arrival:
    """One Run that was measured elsewhere."""

    identity: Identity
    results: Results
    key: str
    """The same Run under the same key is taken once."""
    told: Mapping[str, Told] = field(default_factory=dict)
    """By Metric, the Points that the Samples cannot give; the others are reduced from these."""
    dated: bool = True
    """False where its writer did not say when it was measured: the key alone then tells whether it was taken before."""

    def __post_init__(self) -> None:
        if self.results.environment is None:
            raise BadInputError("environment: results that come without a plan say where they were measured, saw nothing")

    @property
    def workload(self) -> Workload:
        """The load, as the file names it."""
        one = self.identity
        return Workload(one.suite, one.workload, one.workload_class, dict(one.parameters or {}), one.seed, "")

    @property
    def model(self) -> Model | None:
        """The Model by name; its weights are not known here."""
        one = self.identity
        return Model(one.model, "", "", "", "", one.quantisation, "", one.parallelism or "1") if one.model else None

    @property
    def build(self) -> BuildSpec:
        """The Build, of which only the Revision is known."""
        return BuildSpec(self.identity.subject, self.identity.revision, RECIPE, "", {}, {})


def arrival_of(results: Results, key: str) -> Arrival:
    """The Run that these results are of; raises BadInputError with the place of what is missing or wrong."""
    known = set(Identity.__dataclass_fields__)
    said: dict[str, Any] = {name: value for name, value in results.run.items() if name in known}
    identity = from_json(Identity, said, "run")
    for name in ("subject", "revision", "workload", "suite", "branch"):
        if not getattr(identity, name).strip():
            raise BadInputError(f"run.{name}: expected a name, saw an empty text")
    return Arrival(identity, results, key)
