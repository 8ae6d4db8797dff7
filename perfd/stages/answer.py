"""What a comparison is told as: its rows with their gates, what was not measured and why, and how far to believe it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from urllib.parse import quote

from perfd import HARNESS_VERSION
from perfd.domain.answer import Against, Answer, AnswerRow, Unmeasured
from perfd.domain.area import Gate
from perfd.domain.numbers import percent
from perfd.domain.occasion import Occasion
from perfd.domain.run import Arm, RunState
from perfd.rules.aa import alarm_rate
from perfd.rules.suspects import epoch_difference
from perfd.stages.aa import Believed, failing
from perfd.stages.comparison import PLACES_A_BLOCK, Line, is_told, look
from perfd.stages.context import Context
from perfd.stages.members import is_waited_for
from perfd.store.pages import SeriesFilter
from perfd.store.records import ArmSamples, RunPage, RunRow

WINDOW = timedelta(days=30)
"""How far back A/A comparisons count."""
TOO_LONG = "Its device minutes were spent before everything was decided: this is what was known by then"
NOT_YET = "it was not measured yet when the answer was due"


@dataclass(frozen=True)
class Asking:
    """What is known of a question beside its measurements."""

    subject: str
    head: str
    against: Against
    gates: tuple[Gate, ...] = ()
    why: str = ""
    reproduce: str = ""
    remarks: tuple[str, ...] = ()
    site: str = ""
    """Where people reach perfd's pages; empty: no links."""


def answer_of(context: Context, occasion: Occasion, asking: Asking) -> Answer:
    """The answer as the blocks that were measured so far give it: a pure reading."""
    found = look(context, occasion)
    blocks = context.store.pages.blocks(occasion)
    around = surroundings(context, occasion, found.lines)
    done = [one for one in blocks if one.run.state is RunState.DONE]
    page = page_of(asking.site, occasion)
    return Answer(
        subject=asking.subject,
        head=asking.head,
        against=asking.against,
        verdict=found.verdict,
        rows=tuple(_rows(context, found.lines, around, asking, page)),
        unmeasured=tuple(_unmeasured(context, blocks, found.lines)),
        now=context.now(),
        device=around.device,
        environment=around.environment,
        blocks=max((one.run.block // PLACES_A_BLOCK + 1 for one in done), default=0),
        why=asking.why,
        reproduce=asking.reproduce,
        remarks=asking.remarks + ((TOO_LONG,) if found.owed else ()),
        alarms=around.alarms,
        page=page,
        plot=plot_of(asking.site, occasion) if found.lines else "",
        version=HARNESS_VERSION,
    )


@dataclass(frozen=True)
class Surroundings:
    """Where a comparison was measured, and how far its Series are to be believed."""

    subject: str
    device: str
    """The device class; empty where nothing was measured."""
    environment: str
    """A sentence without its full stop."""
    alarms: str
    classes: Mapping[tuple[str, str], str]
    """The device class of each Workload and Model."""
    failing: frozenset[Believed]
    """Series that were called different from themselves."""


def surroundings(context: Context, occasion: Occasion, lines: Sequence[Line]) -> Surroundings:
    """What stands around the comparison's numbers: a pure reading."""
    blocks = context.store.pages.blocks(occasion)
    done = [one for one in blocks if one.run.state is RunState.DONE]
    subject = blocks[0].run.subject if blocks else ""
    return Surroundings(
        subject=subject,
        device=done[0].run.device_class if done else "",
        environment=_environment(context, done),
        alarms=alarms(context, subject, lines),
        classes={(one.run.workload, one.run.model): one.run.device_class for one in blocks},
        failing=failing(context, WINDOW),
    )


def is_failing(around: Surroundings, line: Line) -> bool:
    """Whether the row's Series was called different from itself the last time: it may fail no check."""
    device_class = around.classes[line.workload, line.model]
    return (around.subject, line.workload, line.model, device_class, line.metric.name) in around.failing


def page_of(site: str, occasion: Occasion) -> str:
    """The address of the comparison on the site."""
    return f"{site.rstrip('/')}/compare/{quote(occasion.name, safe='')}" if site else ""


def plot_of(site: str, occasion: Occasion) -> str:
    """The address of the comparison's picture."""
    return f"{site.rstrip('/')}/plots/compare/{quote(occasion.name, safe='')}.png" if site else ""


def _rows(context: Context, lines: Sequence[Line], around: Surroundings, asking: Asking, page: str) -> Iterator[AnswerRow]:
    series = _series(context, asking)
    for line in lines:
        if not line.pairs:
            continue  # told as not measured
        key = (asking.subject, line.workload, line.model, around.classes[line.workload, line.model], line.metric.name)
        gated = any(gate.holds(line.workload, line.workload_class, line.metric.name) for gate in asking.gates)
        yield AnswerRow(
            workload_class=line.workload_class,
            workload=line.workload,
            model=line.model,
            metric=line.metric,
            base=line.base,
            head=line.head,
            verdict=line.decision.verdict,
            gates=gated and not is_failing(around, line),
            counts=is_told(line.metric, line.decision.verdict),
            link=series.get(key, page),
        )


def _series(context: Context, asking: Asking) -> dict[tuple[str, str, str, str, str], str]:
    """The address of each Series of the subject, by what the nights measure; empty where no site is known."""
    rows = context.store.pages.series_rows(SeriesFilter(subject=asking.subject)) if asking.site else ()
    keys = ((row.info.key, row.info) for row in rows)
    return {
        (
            asking.subject,
            info.workload_name,
            key.model,
            key.device_class,
            key.metric,
        ): f"{asking.site.rstrip('/')}/series/{info.id}"
        for key, info in keys
    }


def _unmeasured(context: Context, blocks: Sequence[ArmSamples], lines: Sequence[Line]) -> Iterator[Unmeasured]:
    """Each Workload of which one arm gave nothing, with the reason and the log of the first Run that failed.

    And each with a Metric that one arm never gave: what cannot be compared any more is not what everything was measured of.
    """
    for (workload, model), group in groupby(blocks, key=lambda one: (one.run.workload, one.run.model)):
        runs = [one.run for one in group]
        missing = {Arm.BASE, Arm.HEAD} - {run.arm for run in runs if run.state is RunState.DONE}
        if not missing:
            mine = [line for line in lines if (line.workload, line.model) == (workload, model)]
            lost = [line.metric.name for line in mine if not line.pairs and is_waited_for(line.metric)]
            if lost:
                yield Unmeasured(_named(runs[0], workload, model), f"only one arm gave {', '.join(lost)}")
            continue
        arms = " and ".join(sorted(missing))
        bad = next((run for run in runs if run.arm in missing and run.failure is not None), None)
        what = f"{_named(runs[0], workload, model)}, {arms}"
        page = None if bad is None else context.store.pages.run_page(bad.key)
        reason = NOT_YET if bad is None else f"{bad.failure}: {bad.reason}"
        yield Unmeasured(what, reason, "" if page is None else page.log_tail)


def _named(run: RunRow, workload: str, model: str) -> str:
    return f"{run.workload_class} {workload}{f' ({model})' if model else ''}"


def _environment(context: Context, done: Sequence[ArmSamples]) -> str:
    """Whether both arms ran on the same hardware, and what they were built with differently."""
    if not done:
        return ""
    if len({one.hardware_hash for one in done}) > 1:
        return "The arms ran on different hardware or clock policies, so that they cannot be compared"
    pages = [_first(context, done, arm) for arm in (Arm.BASE, Arm.HEAD)]
    software = [{**page.spec.toolchain, **page.spec.dependencies} for page in pages if page is not None]
    difference = epoch_difference(software[0], software[-1])
    hosts = sorted({page.environment.device.host for page in pages if page is not None and page.environment is not None})
    where = f"on {', '.join(hosts)}, " if hosts else ""
    return f"Both arms ran {where}on the same hardware with the same clock policy, with " + (
        f"other dependencies: {difference}" if difference else "the same toolchain and dependencies"
    )


def _first(context: Context, done: Sequence[ArmSamples], arm: Arm) -> RunPage | None:
    key = next((one.run.key for one in done if one.run.arm is arm), None)
    return None if key is None else context.store.pages.run_page(key)


def alarms(context: Context, subject: str, lines: Sequence[Line]) -> str:
    """How often these Series were called different although the same Build stood on both sides, as a sentence."""
    asked = {(line.workload, line.model, line.metric.name) for line in lines}
    wrong = of = 0
    for row in context.store.trust.aa(context.now() - WINDOW):
        mine = {
            metric for workload, model, metric in asked if (row.subject, row.workload, row.model) == (subject, workload, model)
        }
        of += len(row.judged & mine)
        wrong += len(row.different & mine)
    if not of:
        return f"False alarms of these Series in the last {WINDOW.days} days: none of them was compared with itself yet"
    rate = alarm_rate(wrong, of)
    low, high = (percent(end).lstrip("+") for end in rate.interval)
    share = percent(rate.rate).lstrip("+")
    return f"False alarms of these Series in the last {WINDOW.days} days: {share} ({low} to {high}), {wrong} of {of} comparisons"
