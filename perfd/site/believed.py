"""How far perfd can be believed: the false alarms of some days, as a number and as a sentence."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from perfd.domain.codec import to_json
from perfd.rules.aa import alarm_rate
from perfd.site.numbers import percent
from perfd.site.sentences import plural
from perfd.site.site import Site
from perfd.store.records import FalseAlarms

DAYS = 30


def false_alarms(site: Site, now: datetime, days: int = DAYS) -> dict[str, Any]:
    """A/A comparisons called different and suspects not reproduced, of all; counts, rate and its 95 % interval."""
    return false_alarms_of(site, now, [days])[days]


def false_alarms_of(site: Site, now: datetime, spans: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The same for several spans of days."""
    found = site.store.trust.false_alarms_by([now - timedelta(days=days) for days in spans])
    return {days: _counted(days, one) for days, one in zip(spans, found, strict=True)}


def _counted(days: int, found: FalseAlarms) -> dict[str, Any]:
    rate = alarm_rate(found.aa_different + found.refuted, found.aa + found.remeasured)
    return {"days": days, **to_json(found), **to_json(rate)}


def sentence(counted: dict[str, Any]) -> str:
    """The same for people."""
    if not counted["of"]:
        return f"False alarms: nothing was counted in the last {counted['days']} days."
    low, high = (percent(end).lstrip("+") for end in counted["interval"])
    aa = f"{counted['aa_different']} of {plural(counted['aa'], 'A/A comparison')} called different"
    again = f"{counted['refuted']} of {plural(counted['remeasured'], 'suspect')} not reproduced"
    rate = percent(counted["rate"]).lstrip("+")
    return f"False alarms in the last {counted['days']} days: {rate} ({low} to {high}); {aa}, {again}."
