"""Scoring one submission: the scorer in a cage, on one set at a time; what it prints is read as hostile data."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from perfd.bench.cage.plan import TRIAL, Plan, python_places
from perfd.bench.cage.run import PLACES, Ended, Ran, run
from perfd.bench.longrun.asked import SCORER, SET, SUBMISSION, Asked, filled
from perfd.bench.longrun.taking import Taken
from perfd.domain import results as results_file
from perfd.domain.metric import Better
from perfd.domain.results import MetricSamples
from perfd.domain.submission import Submission
from perfd.errors import BadInputError


class UnscoredError(Exception):
    """Why a submission has no score, as a sentence."""


def score(asked: Asked, taken: Taken, *, gpu: bool) -> Submission:
    """The submission with its scores on both sets, taken in turn `repeats` times, or with the reason why it has none."""
    if taken.wrong:
        return _unscored(asked, taken, taken.wrong)
    sets = (asked.validation, asked.held_out) * asked.repeats
    try:
        told = [_one(asked, taken.path, each, gpu=gpu) for each in sets]
    except UnscoredError as unscored:
        return _unscored(asked, taken, str(unscored))
    if len({(one.unit, one.better) for one in told}) > 1:
        return _unscored(asked, taken, f"the scorer tells {asked.metric} in several units or directions")
    bare, validation, held_out = _unscored(asked, taken, "not yet"), _values(told[0::2]), _values(told[1::2])
    return replace(bare, unit=told[0].unit, better=told[0].better, reason="", validation=validation, held_out=held_out)


def _values(samples: Iterable[MetricSamples]) -> tuple[float, ...]:
    return tuple(value for one in samples for value in one.values)


def _unscored(asked: Asked, taken: Taken, reason: str) -> Submission:
    return Submission(
        place=taken.place,
        name=taken.name,
        elapsed_s=taken.elapsed_s,
        digest=taken.digest,
        size_bytes=taken.size_bytes,
        metric=asked.metric,
        unit="",
        better=Better.LOWER,
        reason=reason[:2000],
    )


def _one(asked: Asked, submission: Path, on: Path, *, gpu: bool) -> MetricSamples:
    """The asked Metric's Samples from one run of the scorer; raises UnscoredError."""
    plan = Plan(
        command=filled(asked.score, {"scorer": SCORER, "submission": SUBMISSION, "set": SET}),
        limits=replace(TRIAL, wall_s=asked.score_s),
        environment=PLACES,
        shown={**python_places(), SCORER: str(asked.scorer), SUBMISSION: str(submission), SET: str(on)},
        gpu=gpu,
    )
    ran = run(plan)
    if ran.ended is not Ended.WELL:
        raise UnscoredError(_how(ran))
    try:
        found = results_file.parse(ran.output.decode("utf-8", "replace"))
    except BadInputError as error:
        raise UnscoredError(f"what the scorer printed is no results file: {error.message}") from None
    for one in found.samples:
        if one.name == asked.metric and one.values:
            return one
    raise UnscoredError(f"the scorer's results have no Samples of {asked.metric}; they say {found.reason or 'nothing else'}")


def _how(ran: Ran) -> str:
    end = f"was stopped: {ran.over}" if ran.over else f"ended with {ran.code}"
    return f"the scorer {end}; its last words: {ran.errors.strip()[-300:] or 'none'}"
