"""Devices: the list, and one with its state, its evidence, its recent looks and the Runs that became void by it."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import HTMLResponse, Response

from perfd.domain.device import DeviceRow, Quarantine
from perfd.errors import BadInputError
from perfd.site.fresh import this_minute
from perfd.site.parameters import Limit, Offset, linker, text
from perfd.site.rows import run_label
from perfd.site.runs import device_states, flat
from perfd.site.site import Here, Site
from perfd.site.troubles import NotHereError
from perfd.store.records import RunRow

router = APIRouter()
MOST_RUNS = 100
STATES = ("ready", "refused", "quarantined")
DeviceId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The number in the device's address.")]


@router.get("/devices")
def devices(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """The list, quarantined ones first; `state` narrows it."""
    return this_minute(request, lambda: _list(request, site, offset, limit), alike=True)


@router.get("/devices/{device_id}")
def device(request: Request, device_id: DeviceId, site: Here) -> Response:
    """The page of one device."""
    return this_minute(request, lambda: _page(site, find(site, device_id)), alike=True)


def _list(request: Request, site: Site, offset: int, limit: int) -> HTMLResponse:
    rows = sorted(site.store.devices.rows(), key=lambda row: (row.quarantine is None, not row.refusal))
    state = text(request, "state")
    if state not in {"", *STATES}:
        raise BadInputError(f"state is one of {', '.join(STATES)}")
    found = [words(row) for row in rows if state in {"", row.state}]
    return site.pages.show(
        "devices.html",
        here="/status",
        sentence=sentence(rows),
        devices=found[offset : offset + limit],
        states=STATES,
        chosen=state,
        total=len(found),
        offset=offset,
        limit=limit,
        link=linker(request),
    )


def _page(site: Site, row: DeviceRow) -> HTMLResponse:
    page = site.store.devices.page(row.device)
    columns, states = device_states(page.states, page.states[0].at if page.states else None)
    return site.pages.show(
        "device.html",
        here="/status",
        sentence=f"{row.device.name} of {row.device.host} is {row.state}",
        device=words(row),
        quarantines=[_quarantine(one) for one in site.store.devices.quarantines(row.device)],
        spoilt=row.spoilt,
        voided=[_run(run) for run in page.voided[:MOST_RUNS]],
        voided_total=len(page.voided),
        runs=[_run(run) for run in page.runs],
        states_of=page.states_of,
        state_words=columns,
        states=states,
    )


def find(site: Site, device_id: int) -> DeviceRow:
    """The device; raises NotHereError where there is none."""
    row = site.store.devices.read(device_id)
    if row is None:
        raise NotHereError(f"There is no device {device_id}.")
    return row


def sentence(rows: Sequence[DeviceRow]) -> str:
    """How the devices stand, in one sentence."""
    if not rows:
        return "No device has measured anything yet."
    out, refused = sum(row.quarantine is not None for row in rows), sum(row.state == "refused" for row in rows)
    if not out and not refused:
        return f"{len(rows)} device{'' if len(rows) == 1 else 's'}, none in quarantine, none refused"
    return f"{out} of {len(rows)} device{'' if len(rows) == 1 else 's'} in quarantine, {refused} refused for now"


def words(row: DeviceRow) -> dict[str, Any]:
    """A device as pages show it."""
    return {
        "id": row.id,
        "name": row.device.name,
        "host": row.device.host,
        "device_class": row.device.device_class,
        "state": row.state,
        "why": row.quarantine.cause.reason if row.quarantine else row.refusal,
        "since": row.quarantine.opened_at if row.quarantine else row.refused_since,
        "looked_at": row.looked_at,
        "good_at": row.good_at,
    }


def _quarantine(one: Quarantine) -> dict[str, Any]:
    return {
        "id": one.id,
        "opened_at": one.opened_at,
        "since": one.cause.since,
        "actor": one.actor,
        "reason": one.cause.reason,
        "evidence": flat(one.cause.evidence),
        "voided": one.voided,
        "again": one.again,
        "released": one.released,
    }


def _run(run: RunRow) -> dict[str, Any]:
    return {"key": run.key, "label": run_label(run), "state": run.state.value, "why": run.reason, "at": run.finished_at}
