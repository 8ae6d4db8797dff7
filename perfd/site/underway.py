"""What else is going on, for the home page: Launches under way, and devices in quarantine; each as words and an address."""

from datetime import datetime

from perfd.site.sentences import plural
from perfd.site.site import Site
from perfd.site.templates import short

Notices = list[tuple[str, str]]


def launches(site: Site, now: datetime) -> Notices:
    """Launches that have begun and have a Checkpoint to come, with the day that is next."""
    found = []
    for row in site.store.launches.every():
        left = [one for one in row.checkpoints if one.owed and one.closed_at is None]
        if left and row.launch.at <= now:
            closed = sum(one.closed_at is not None for one in row.checkpoints)
            done = f"{closed} of {plural(len(row.checkpoints), 'Checkpoint')} done"
            found.append((f"{row.launch.model} on {row.launch.engine}: day {left[0].day} next, {done}", f"/launches/{row.id}"))
    return found


def quarantined(site: Site) -> Notices:
    """Devices on which nothing is measured until a person or a good calibration lets them go."""
    rows = site.store.pages.quarantined()
    return [(f"{device} is in quarantine: {short(reason, 120)}", f"/devices/{number}") for number, device, reason in rows]
