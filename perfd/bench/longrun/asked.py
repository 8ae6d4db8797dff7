"""What a long Run's Workload asks for, read from its parameters."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from perfd.domain.data import hash_of
from perfd.domain.job import Job
from perfd.errors import BadInputError


@dataclass(frozen=True)
class Asked:
    """Commands, files and limits of one long Run; every path is one of this host."""

    work: tuple[str, ...]
    """The command that works; `work_words` fills its placeholders in."""
    files: Path | None
    validation: Path
    held_out: Path
    """Never shown to the work."""
    scorer: Path
    score: tuple[str, ...]
    metric: str
    work_s: float
    score_s: float
    repeats: int
    most_submissions: int
    most_bytes: int
    engine: bool
    """Whether the work needs the Build's server."""


FILES, VALIDATION, SCORES = "/files", "/validation", "/scores"
"""Places in the work's cage, all read-only there."""
SCORER, SUBMISSION, SET = "/scorer", "/submission", "/set"
"""Places in the scorer's cage, read-only too."""


def asked(job: Job) -> Asked:
    """What the job's Workload asks for; raises BadInputError where a file of it is not there."""
    told, data = job.workload.parameters, job.data
    if data is None:
        raise BadInputError("a long Run needs the folder with the suites' data")
    _check(job, data)
    return Asked(
        work=tuple(told["work"]),
        files=_there(data, told["files"]) if told["files"] else None,
        validation=_there(data, told["validation"]),
        held_out=_there(data, told["held_out"]),
        scorer=_there(data, told["scorer"]),
        score=tuple(told["score"]),
        metric=str(told["metric"]),
        work_s=float(told["work_s"]),
        score_s=float(told["score_s"]),
        repeats=int(told["repeats"]),
        most_submissions=int(told["most_submissions"]),
        most_bytes=int(told["most_bytes"]),
        engine=bool(told["engine"]),
    )


def _check(job: Job, data: Path) -> None:
    """Raise BadInputError where the files are not those of the Workload: it would be another one under this one's name."""
    names = [str(job.workload.parameters[key]) for key in ("files", "validation", "held_out", "scorer")]
    try:
        found = hash_of(data, names)
    except OSError as error:
        raise BadInputError(f"{error.filename}: the long Run's file cannot be read on this machine ({error.strerror})") from None
    if found != job.workload.data_hash:
        raise BadInputError(
            f"the files of the long Run in {data} are others than when it was planned; bring those back, or plan it anew"
        )


def _there(data: Path, name: str) -> Path:
    path = data / name
    if not path.exists():
        raise BadInputError(f"{path}: the long Run's file is not there on this machine")
    return path.resolve()


def filled(words: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """The command with its {placeholders} replaced; {python} is this interpreter."""
    known = {"python": sys.executable, **values}
    for name, value in known.items():
        words = tuple(word.replace("{" + name + "}", value) for word in words)
    return words
