"""quarantine: devices that fail their own A/A are taken out, and what sick ones measured is measured again on sound ones.

Both are found in the database, so that doing either twice changes nothing. Only a person releases a device.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from perfd.domain.device import DeviceRow, Quarantine
from perfd.domain.occasion import Occasion
from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.run import OccasionKind
from perfd.rules.quarantine import by_aa
from perfd.stages.comparison import gone
from perfd.stages.context import Context

ACTOR = "A/A"
MEMORY = timedelta(days=90)
"""How far back comparisons of a Build with itself say something of a device."""


def quarantine(context: Context) -> bool:
    """One device is quarantined for its A/A, or what one quarantine has cost is planned again; False when neither is due."""
    ready = [row for row in context.store.devices.rows() if row.quarantine is None]
    return any(_by_aa(context, row) for row in ready) or _measure_again(context, ready)


def _by_aa(context: Context, row: DeviceRow) -> bool:
    past = [one.released.at for one in context.store.devices.quarantines(row.device) if one.released is not None]
    answers = context.store.devices.aa(row.device, max([context.now() - MEMORY, *past]))
    cause = by_aa(answers)
    opened = None if cause is None else context.store.devices.quarantine(row.device, cause, ACTOR, context.now())
    if opened is not None:
        name = f"{row.device.name} of {row.device.host}"
        context.tell.say("confirm", f"{name} is quarantined: {opened.cause.reason}; {opened.voided} Runs are void")
    return opened is not None


def _measure_again(context: Context, ready: Sequence[DeviceRow]) -> bool:
    """What nights lost by a quarantine is planned as an occasion of its own, once there is a sound device of the class."""
    sound = {row.device.device_class for row in ready}
    for lost in context.store.devices.owed(sound):
        runs = tuple(_runs(context, lost))
        occasion = Occasion(OccasionKind.NIGHT, lost.opened_at.replace(microsecond=0), f"again-{lost.id}")
        builds = {run.build.digest: build for build, run in runs}
        plan = Plan(tuple(builds.values()), tuple(run for _, run in runs))
        context.store.plans.open(occasion, plan, gone(context, plan.builds), context.now())
        context.tell.say("plan", f"{len(runs)} runs that quarantine {lost.id} made void are measured again")
        return context.store.devices.again(lost.id, occasion)
    return False


def _runs(context: Context, lost: Quarantine) -> Iterator[tuple[PlannedBuild, PlannedRun]]:
    """What can be measured again: Runs that entered Series, whose Build and Model are still known."""
    for key in context.store.devices.voided(lost.id):
        page = context.store.pages.run_page(key)
        build = None if page is None else context.store.builds.planned(page.run.build)
        model = None if page is None else context.config.model(page.run.model)
        if page is None or build is None or not _enters_series(page.run.occasion) or (model is None and page.run.model):
            continue
        yield build, PlannedRun(build.spec, page.workload, page.run.device_class, model)


def _enters_series(occasion: str) -> bool:
    return OccasionKind(occasion.partition(":")[0]).enters_series
