"""Who may do what: roles, tokens and their scopes, proxies, forms of other sites, limits, and the audit log."""

import hashlib
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from fastapi.routing import APIRoute
from people_world import ELSEWHERE, PROXY, People, closed, known, results, seal_of

from perfd.config import SiteConfig
from perfd.domain.account import Right, Role
from perfd.rules.rights import may
from perfd.site import create_app
from perfd.site.limits import MOST_BUCKETS, Limits
from perfd.store import Store

QUESTION = {"engine": "llama", "base": "a" * 40, "head": "b" * 40}
PEOPLE = {"proxy:ada": Role.TRIAGER, "proxy:grace": Role.ADMIN}


@pytest.fixture
def people(store: Store) -> Iterator[People]:
    """An open site of one machine."""
    with known(store) as made:
        yield made


@pytest.fixture
def guarded(store: Store) -> Iterator[People]:
    """A closed site behind a proxy."""
    with known(store, access=closed(proxies=(PROXY,), people=PEOPLE)) as made:
        yield made


def upload(client: httpx.Client, key: str = "", **changed: str) -> httpx.Response:
    return client.post("/api/v1/results", json=results(**changed), headers={"Idempotency-Key": key} if key else {})


# Tokens


def test_a_token_is_kept_as_a_hash_only_and_its_last_use_is_known(people: People) -> None:
    secret = people.token(Role.RUNNER)

    assert 201 == upload(people.program(secret)).status_code

    [row] = people.store.access_tokens.every()
    assert (people.now, ELSEWHERE) == (row.last_used_at, row.last_used_from)
    with people.store.engine.begin() as connection:
        stored = str(connection.exec_driver_sql("SELECT * FROM access_token").all())
    assert hashlib.sha256(secret.encode()).hexdigest() in stored
    assert secret not in stored
    assert len(secret.removeprefix("perfd_")) * 6 >= 256


def test_a_revoked_token_opens_nothing_from_the_next_request_on(people: People) -> None:
    program = people.program(people.token(Role.RUNNER))
    assert 201 == upload(program).status_code

    people.store.access_tokens.revoke(1, people.now)

    for again in (program, people.program(people.token(Role.VIEWER)[:-1] + "?")):
        assert 401 == upload(again).status_code
    assert "is revoked since 2026-11-29 12:00 UTC" in upload(program).json()["error"]


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        ("x", "malformed"),
        ("perfd_short", "malformed"),
        ("perfd_" + "a" * 44, "malformed"),
        ("perfd_" + "a" * 42 + "é", "malformed"),
        ("perfd_" + "a" * 43, "does not know"),
        ("' OR 1=1 --", "malformed"),
    ],
)
def test_a_token_that_opens_nothing_is_answered_with_one_sentence(people: People, shown: str, told: str) -> None:
    answer = people.visitor("127.0.0.1").post(
        "/api/v1/results", json=results(), headers=[(b"authorization", b"Bearer " + shown.encode())]
    )

    assert (401, "Bearer") == (answer.status_code, answer.headers["www-authenticate"])
    assert told in answer.json()["error"]
    assert len(shown) < 8 or shown not in answer.text


def test_a_token_ends_by_itself(people: People) -> None:
    program = people.program(people.token(Role.RUNNER, days=1))
    people.now += timedelta(days=1, seconds=-1)
    assert 201 == upload(program).status_code

    people.now += timedelta(seconds=1)

    assert 401 == upload(program).status_code
    assert "this token is expired since 2026-11-30 12:00 UTC" in upload(program).json()["error"]


def test_a_missing_right_is_told_with_the_roles_that_have_it(people: People) -> None:
    answer = upload(people.program(people.token(Role.TRIAGER)))

    assert 403 == answer.status_code
    assert (
        "only runner, maintainer or admin may hand in results; token:1:a triager has the role triager" in answer.json()["error"]
    )


def test_the_table_of_rights_lets_no_runner_read_and_no_triager_run_code() -> None:
    assert {Right.FOLLOW, Right.UPLOAD, Right.COMPARE} == {right for right in Right if may(Role.RUNNER, right)}
    assert not may(Role.TRIAGER, Right.COMPARE)
    assert all(may(Role.ADMIN, right) for right in Right)
    assert not any(may(None, right) for right in Right)


def test_a_runner_cannot_go_on_with_what_another_one_handed_in(people: People) -> None:
    first, second = (people.program(people.token(Role.RUNNER)) for _ in range(2))
    assert 201 == upload(first, "night-7").status_code

    stolen = upload(second, "night-7")

    assert 403 == stolen.status_code
    assert "its own jobs only" in stolen.json()["error"]
    assert 200 == upload(first, "night-7").status_code
    assert 201 == upload(second, "night-8").status_code


def test_a_runner_follows_only_the_comparison_that_it_asked_for(guarded: People) -> None:
    first, second, viewer = (guarded.program(guarded.token(role)) for role in (Role.RUNNER, Role.RUNNER, Role.VIEWER))
    asked = first.post("/api/v1/comparisons", json=QUESTION)
    assert 202 == asked.status_code
    address = f"/api/v1/comparisons/{asked.json()['comparison']}"

    assert 404 == first.get(address).status_code  # no stage has opened it yet
    assert 403 == second.get(address).status_code
    assert 404 == viewer.get(address).status_code
    assert 403 == first.get("/api/v1/series").status_code


def test_a_token_is_good_for_its_engines_and_devices_only(people: People) -> None:
    engine = people.program(people.token(Role.RUNNER, engines=("vllm",)))
    device = people.program(people.token(Role.RUNNER, devices=("gpu0",)))
    maintainer = people.program(people.token(Role.MAINTAINER, engines=("vllm",)))

    assert 403 == upload(engine, subject="sglang").status_code
    assert 403 == engine.post("/api/v1/comparisons", json=QUESTION).status_code
    assert 403 == upload(device, device="gpu1").status_code
    assert 201 == upload(engine, "a").status_code
    assert 201 == upload(device, "b").status_code
    refused = maintainer.post("/regressions/1", data={"deed": "noise"})
    assert 403 == refused.status_code
    assert "held to engines or devices may not answer Regressions" in refused.text


# Who is at the other end


def test_somebody_from_elsewhere_reads_an_open_site_and_writes_nothing(people: People) -> None:
    stranger = people.visitor(ELSEWHERE)

    assert 200 == stranger.get("/").status_code
    assert 401 == upload(stranger).status_code
    assert 401 == stranger.post("/regressions/1", data={"deed": "noise"}).status_code
    assert 401 == stranger.get("/audit").status_code
    assert "You are not logged in" in stranger.get("/account").text


def test_a_header_that_names_somebody_is_believed_from_the_proxy_only(guarded: People) -> None:
    name = {"X-Forwarded-User": "Grace"}

    assert 200 == guarded.visitor(PROXY, **name).get("/audit").status_code
    for source in ("127.0.0.1", ELSEWHERE):
        spoofed = guarded.visitor(source, **name, **{"X-Forwarded-For": PROXY})
        assert 401 == spoofed.get("/audit").status_code
        assert 401 == spoofed.get("/").status_code
    assert 401 == guarded.visitor(PROXY).get("/").status_code


def test_a_proxy_that_names_two_people_names_nobody(guarded: People) -> None:
    both = [("X-Forwarded-User", "ada"), ("X-Forwarded-User", "grace")]

    assert 401 == guarded.visitor(PROXY).get("/audit", headers=both).status_code


def test_behind_a_proxy_nobody_is_taken_for_the_person_at_the_machine(store: Store) -> None:
    with known(store, access=SiteConfig(proxies=("127.0.0.1",))) as people:
        assert 401 == upload(people.visitor("127.0.0.1")).status_code


def test_the_person_at_the_machine_can_be_switched_off(store: Store) -> None:
    with known(store, access=SiteConfig(loopback=False)) as people:
        assert 401 == upload(people.visitor("127.0.0.1")).status_code
        assert "You are not logged in" in people.visitor("127.0.0.1").get("/account").text


def test_the_address_in_the_log_is_what_the_proxy_saw(guarded: People) -> None:
    proxied = guarded.visitor(PROXY, **{"X-Forwarded-User": "grace", "X-Forwarded-For": "6.6.6.6, 192.0.2.7"})
    seal = seal_of(proxied.get("/account"))

    proxied.post("/account/tokens", data={"csrf": seal, "label": "ci", "role": "viewer", "days": "7"})

    _, [event] = guarded.store.audit.latest(0, 10)
    assert ("proxy:grace", "192.0.2.7", "POST /account/tokens") == (event.actor, event.address, event.deed)


# A closed site


def test_on_a_closed_site_only_health_and_the_way_in_are_open(guarded: People) -> None:
    stranger, viewer = guarded.visitor(ELSEWHERE), guarded.program(guarded.token(Role.VIEWER))

    for address in ("/", "/regressions", "/metrics", "/status", "/api/v1/series", "/devices", "/kernels"):
        assert 401 == stranger.get(address).status_code, address
        assert 200 == viewer.get(address).status_code, address
    for address in ("/healthz", "/login", "/account"):
        assert 200 == stranger.get(address).status_code, address


def routes(store: Store) -> list[APIRoute]:
    found, waiting = [], list(create_app(store).routes)
    while waiting:
        one = waiting.pop()
        if isinstance(one, APIRoute):
            found.append(one)
        else:
            waiting += getattr(getattr(one, "original_router", one), "routes", None) or []
    return found


def test_every_route_that_writes_asks_who_writes(store: Store) -> None:
    def asks(dependant: object) -> bool:
        return any(
            getattr(one.call, "__qualname__", "").startswith("needs.<locals>") or asks(one)
            for one in getattr(dependant, "dependencies", ())
        )

    writing = [one for one in routes(store) if one.methods - {"GET", "HEAD", "OPTIONS"}]

    assert {"/api/v1/results", "/api/v1/comparisons", "/hooks/github", "/logout", "/account/tokens"} <= {
        one.path for one in writing
    }
    assert ["/hooks/github"] == [one.path for one in writing if not asks(one.dependant)]


# Forms


def test_no_page_of_another_site_makes_a_browser_write(people: People) -> None:
    here = people.visitor()
    form = {"csrf": seal_of(here.get("/account")), "label": "mine", "role": "admin", "days": "7"}

    for headers in (
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert 403 == here.post("/account/tokens", data=form, headers=headers).status_code, headers
    assert 403 == here.post("/account/tokens", data={**form, "csrf": "0" * 64}).status_code
    assert 403 == here.post("/account/tokens", data={**form, "csrf": ""}).status_code
    assert 401 == here.post("/account/tokens", data=form, headers={"Host": "rebound.example"}).status_code
    assert () == people.store.access_tokens.every()
    assert 200 == here.post("/account/tokens", data=form, headers={"Origin": people.address}).status_code


def test_a_form_of_one_person_is_no_form_of_another(guarded: People) -> None:
    ada, grace = (guarded.visitor(PROXY, **{"X-Forwarded-User": name}) for name in ("ada", "grace"))
    hers = seal_of(guarded.visitor(PROXY, **{"X-Forwarded-User": "grace"}).get("/account"))

    assert 403 == ada.post("/account/tokens", data={"csrf": hers, "label": "x", "role": "admin", "days": "7"}).status_code
    assert 200 == grace.post("/account/tokens", data={"csrf": hers, "label": "x", "role": "admin", "days": "7"}).status_code


def test_a_token_is_shown_once_and_revoked_on_the_page(people: People) -> None:
    here = people.visitor()
    form = {"csrf": seal_of(here.get("/account")), "label": "<b>ci</b>", "role": "runner", "days": "7", "engines": "a, b"}

    made = here.post("/account/tokens", data=form)

    secret = made.text.partition("perfd_")[2][:43]
    assert "no-store" == made.headers["cache-control"]
    assert "<b>ci" not in made.text
    assert secret not in here.get("/account").text
    assert ("a", "b") == people.store.access_tokens.every()[0].scope.engines
    assert 201 == upload(people.program(people.token(Role.RUNNER))).status_code
    assert 303 == here.post("/account/tokens/1/revoke", data=form).status_code
    assert 401 == people.program(f"perfd_{secret}").get("/audit").status_code
    assert 404 == here.post("/account/tokens/99/revoke", data=form).status_code


@pytest.mark.parametrize(
    "wrong", [{"label": ""}, {"label": "x" * 61}, {"role": "king"}, {"days": "0"}, {"days": "731"}, {"days": "²"}]
)
def test_a_token_that_cannot_be_is_refused(people: People, wrong: dict[str, str]) -> None:
    here = people.visitor()
    form = {"csrf": seal_of(here.get("/account")), "label": "ci", "role": "runner", "days": "7"}

    assert 400 == here.post("/account/tokens", data=form | wrong).status_code
    assert () == people.store.access_tokens.every()


# Limits and the log


def test_guessing_tokens_is_soon_answered_with_a_time_to_wait(people: People) -> None:
    guesser = people.program("perfd_" + "a" * 43)

    seen = [upload(guesser) for _ in range(21)]

    assert [401] * 20 + [429] == [one.status_code for one in seen]
    assert 1 <= int(seen[-1].headers["retry-after"]) <= 30
    assert 201 == upload(people.program(people.token(Role.RUNNER), source="127.0.0.9")).status_code


def test_whoever_writes_without_end_is_slowed_down(people: People) -> None:
    program = people.program(people.token(Role.VIEWER))
    for _ in range(299):
        people.limits.take("write", "token:1:a viewer")

    assert [403, 429] == [upload(program).status_code for _ in range(2)]
    people.now += timedelta(seconds=0.2)
    assert [403, 429] == [upload(program).status_code for _ in range(2)]


def test_limits_take_no_more_memory_however_many_addresses_ask() -> None:
    limits = Limits(clock=lambda: 0.0)

    for address in range(MOST_BUCKETS + 50):
        limits.take("login", str(address))

    assert MOST_BUCKETS * 0.9 < len(limits) <= MOST_BUCKETS


def test_the_log_tells_who_did_what_and_holds_no_secret(people: People) -> None:
    secret = people.token(Role.RUNNER)
    viewer = people.program(people.token(Role.VIEWER))
    held = people.program(people.token(Role.RUNNER, engines=("sglang",)))
    upload(people.program(secret))
    upload(viewer)
    upload(held)

    page = people.visitor().get("/audit")

    assert [
        ("token:1:a runner", "POST /api/v1/results", True),
        ("token:2:a viewer", "POST /api/v1/results", False),
        ("token:3:a runner", "POST /api/v1/results", True),
        ("token:3:a runner", "POST /api/v1/results", False),
    ] == people.deeds()
    assert "only runner, maintainer or admin may hand in results" in page.text
    assert "this token is for sglang and not for" in page.text
    assert secret not in page.text
    assert "127.0.0.2" in page.text
