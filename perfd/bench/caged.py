"""Caged Runs: what an engine is shown, and what a kernel's whole measuring child is; docs/cage.md says why they differ."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from perfd.bench import gpu, machine
from perfd.bench.cage import network
from perfd.bench.cage.plan import ENGINE, HOME, ROOT, Limits, Plan, command, python_places, same_place
from perfd.domain.job import Job
from perfd.errors import BadInputError

MEMORY_SHARE = 0.9
"""Of the machine's: with the rest, the harness can still say that the engine took too much."""
LONGER_S = 60.0
"""The Run's own clock is to strike first, since it says so as a result."""


def caged_engine(job: Job, arguments: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """The command line of the engine in a cage on the loopback that this process has entered before."""
    # Files that the configuration names. Those of the checkout are not: one of them may be a link to a secret of this host.
    named = [Path(word) for word in arguments if word.startswith("/") and not Path(word).is_relative_to(job.artifact)]
    weights = [job.weights] if job.weights else []
    _check_readable(job.artifact, *weights)
    plan = Plan(
        command=tuple(arguments),
        limits=_limits(job),
        environment={**variables, "HOME": HOME, "TMPDIR": "/tmp"},  # noqa: S108 - the cage's own
        shown={**python_places(), **same_place(job.artifact, *weights, *(path for path in named if path.is_file()))},
        network=network.entered(),
        gpu=gpu.is_gpu(job.device),
    )
    return command(plan)


def caged_child(job: Job, words: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """The command line of a measuring child in a cage: a kernel runs in the child's own process."""
    _check_readable(job.artifact)
    data = [job.data] if job.data is not None and job.data.exists() else []
    plan = Plan(
        command=tuple(words),
        limits=_limits(job),
        environment=variables,
        shown={**python_places(), **same_place(ROOT / "perfd", job.artifact, *data)},
        writes=(str(job.work.resolve()),),
        cwd=str(job.work.resolve()),
        gpu=gpu.is_gpu(job.device),
    )
    return command(plan)


def _check_readable(*paths: Path) -> None:
    """Raise BadInputError where a cage's user would find a closed door, which must not be told as the Build's fault."""
    closed = [path for path in paths if os.geteuid() == 0 and not path.stat().st_mode & stat.S_IROTH]
    if closed:
        raise BadInputError(
            f"{closed[0]}: only its owner may read it, and a cage has another user: start perfd with a umask of 022, "
            "and let everybody read what is there (chmod -R a+rX)"
        )


def _limits(job: Job) -> Limits:
    total = machine.meminfo().get("MemTotal", ENGINE.memory_bytes)
    return replace(ENGINE, wall_s=job.workload.time_limit_s + LONGER_S, memory_bytes=int(MEMORY_SHARE * total))
