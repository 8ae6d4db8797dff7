"""`perfd ci --server`: a perfd elsewhere measures, on devices of its own; this end asks, waits and tells."""

import os
import shlex
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from perfd import HARNESS_VERSION
from perfd.builders import worktree
from perfd.cli.tell import Teller
from perfd.config import GitHubRepository
from perfd.domain.answer import Against, Answer, AnswerRow, Unmeasured
from perfd.domain.area import Gate
from perfd.domain.codec import from_json
from perfd.domain.metric import METRICS
from perfd.domain.occasion import OccasionState
from perfd.domain.verdict import Outcome, Verdict
from perfd.errors import BadInputError, PerfdError
from perfd.rules.affected import DOCUMENTATION, affected
from perfd.stages.comparison import is_told
from perfd.stages.spot import Found, Spot

LOOK_S = 3.0
PATIENCE_S = 3 * 3600.0
QUEUES_S = 120.0
"""So long the comparison may not be known yet: the server takes it in in a loop of its own."""
LARGEST_BYTES = 20_000_000


def ask_server(url: str, spot: Spot, configured: GitHubRepository | None, tell: Teller) -> Found:
    """What the server's comparison found; only paths are looked at here. Raises PerfdError where it does not answer."""
    if urlsplit(url).scheme not in {"http", "https"}:
        raise BadInputError(f"--server wants the address of a perfd, https://HOST, not {url[:100]!r}")
    paths = worktree.paths_between(spot.folder, spot.base, spot.head)
    documentation = (configured.documentation if configured else ()) or DOCUMENTATION
    touched = affected(paths, configured.areas if configured else (), documentation)
    if touched.nothing and not spot.suites:
        return Found(touched, None)
    suites = spot.suites or (configured.suites if configured else ())
    question = {"engine": spot.engine, "base": spot.base, "head": spot.head, "suites": list(suites)}
    token = os.environ.get("PERFD_TOKEN", "")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=30) as client:
        name = str(_send(client, "POST", "/api/v1/comparisons", question).get("comparison"))
        tell.say("ci", f"{url} was asked for {name}")
        told = _wait(client, name, tell)
    return Found(touched, _answer(told, spot, configured, f"{url.rstrip('/')}/compare/{quote(name, safe='')}"))


def _wait(client: httpx.Client, name: str, tell: Teller) -> Mapping[str, Any]:
    began, seen = time.monotonic(), False
    while time.monotonic() < began + PATIENCE_S:
        try:
            told = _send(client, "GET", f"/api/v1/comparisons/{quote(name, safe='')}")
            seen = True
        except BadInputError:
            if seen or time.monotonic() > began + QUEUES_S:
                raise
            told = {"state": OccasionState.DUE.value}
        if told.get("state") == OccasionState.REPORTED.value:
            return told
        runs = told.get("runs") or {}
        tell.steps("measure", int(runs.get("done", 0)), sum(map(int, runs.values())), "on the server")
        time.sleep(LOOK_S)
    raise PerfdError(f"{name} was not over after {PATIENCE_S / 3600:g} h; its page tells why", permanent=False)


def _send(client: httpx.Client, method: str, path: str, body: Any = None) -> dict[str, Any]:
    try:
        with client.stream(method, path, json=body) as response:
            text = b"".join(_limited(response))
            code = response.status_code
        found = httpx.Response(code, content=text).json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise PerfdError(
            f"{client.base_url}: no answer of a perfd ({type(error).__name__}); check --server", permanent=False
        ) from None
    if code in {401, 403}:
        raise BadInputError(f"{client.base_url} refuses: {_said(found)}; set PERFD_TOKEN to a token that may run comparisons")
    if code >= 400 or not isinstance(found, dict):
        raise BadInputError(f"{client.base_url} answered {code}: {_said(found)}")
    return found


def _limited(response: httpx.Response) -> Iterator[bytes]:
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        if size > LARGEST_BYTES:
            raise ValueError(size)
        yield part


def _said(found: Any) -> str:
    return str(found.get("error") or found.get("detail") or "nothing")[:300] if isinstance(found, dict) else "nothing"


def _answer(told: Mapping[str, Any], spot: Spot, configured: GitHubRepository | None, page: str) -> Answer:
    report = told.get("report") or {}
    gates = configured.gates if configured else (Gate(),)
    rows = tuple(rows_of(report.get("rows") or (), gates, page))
    title, committed_at = worktree.told(spot.folder, spot.base)
    behind = worktree.ahead_of(spot.folder, spot.base, spot.tip) if spot.tip else None
    whole = report.get("verdict")
    return Answer(
        subject=spot.engine,
        head=spot.head,
        against=Against(spot.base, title, committed_at, spot.branch, behind, spot.asked),
        verdict=from_json(Verdict, whole) if whole else Verdict(Outcome.UNSURE, "nothing was measured", "", 0),
        rows=rows,
        unmeasured=tuple(_unmeasured(told, report, {row.workload for row in rows})),
        now=datetime.now(UTC),
        device=str(report.get("device") or f"a device of {urlsplit(page).hostname}"),
        environment=str(report.get("environment", "")),
        alarms=str(report.get("alarms", "")),
        blocks=max((row["pairs"] for row in report.get("rows") or ()), default=0) // 2,
        reproduce=shlex.join(["perfd", "compare", spot.base, spot.head, "--engine", spot.engine]),
        remarks=spot.remarks,
        page=page,
        version=HARNESS_VERSION,
    )


def rows_of(given: Any, gates: tuple[Gate, ...], page: str) -> Iterator[AnswerRow]:
    """The rows of the server's report; one that the server saw fail against itself gates nothing."""
    for row in given:
        metric = METRICS.get(row["metric"])
        if metric is None or not row["pairs"]:
            continue
        verdict = from_json(Verdict, row["verdict"])
        yield AnswerRow(
            workload_class=row["class"],
            workload=row["workload"],
            model=row["model"],
            metric=metric,
            base=row["base"],
            head=row["head"],
            verdict=verdict,
            gates=not row.get("fails_itself") and any(gate.holds(row["workload"], row["class"], metric.name) for gate in gates),
            counts=is_told(metric, verdict),
            link=page,
        )


def _unmeasured(told: Mapping[str, Any], report: Mapping[str, Any], measured: set[str]) -> Iterator[Unmeasured]:
    """What the server found wrong before any Run, and the first failure of each Workload that has no row."""
    for finding in told.get("findings") or ():
        yield Unmeasured(str(finding["subject"]), str(finding["sentence"]), str(finding.get("log_tail", "")))
    seen: set[str] = set()
    for failure in report.get("failures") or ():
        what, _, why = str(failure).partition(": ")
        workload = what.split(" ")[0]
        if workload not in measured | seen:
            seen.add(workload)
            yield Unmeasured(what, why)
