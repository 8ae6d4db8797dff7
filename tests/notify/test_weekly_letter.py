"""The report of a week goes out by e-mail, once a week, with its figures."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from receivers import Mailbox
from site_history import History

from perfd.cli import main
from perfd.cli.tell import Silent
from perfd.cli.weekly import owe, site_of
from perfd.config import Config, DeviceConfig, Notify, Schedule, Weekly
from perfd.site import weekly
from perfd.stages.alarms import keep_watch
from perfd.stages.context import Context
from perfd.store import Store, make_engine

DUE = datetime(2026, 3, 16, 8, 0, tzinfo=UTC)
"""The Monday after week 11, in which a slowdown of 8 % was planted."""
LEVELS = [1.0] * 12 + [1.08] * 3


class Service:
    """A service whose time is moved by hand."""

    def __init__(self, store: Store, settings: Notify) -> None:
        self.now = DUE - timedelta(minutes=1)
        config = Config(None, Path("/nowhere"), (), (), (DeviceConfig("cpu"),), Schedule(), notify=settings)
        self.context = Context(config, store, Silent(), "clock:1:1", now=lambda: self.now)

    def tick(self, minutes: int = 1) -> int:
        """So many minutes pass; how many letters the clock wrote."""
        written = 0
        for _ in range(minutes):
            self.now += timedelta(minutes=1)
            written += owe(self.context)
            self.context.store.alarms.looked(self.now)
            keep_watch(self.context)
        return written


def settings(mail: Mailbox) -> Notify:
    return Notify(
        email_to=("a@example.com",),
        email_from="perfd@example.com",
        smtp_host="127.0.0.1",
        smtp_port=mail.port,
        weekly=Weekly(0, "08:00"),
        site="https://perfd.example.com",
    )


@pytest.fixture
def service(store: Store, mail: Mailbox) -> Service:
    store.began_at(DUE - timedelta(days=6))
    History(store).nights(LEVELS)
    return Service(store, settings(mail))


def reports(mail: Mailbox) -> list[str]:
    return [one["Subject"] for one in mail.letters if one["Subject"].startswith("perfd: week")]


def test_the_report_goes_out_once_when_its_week_is_over(service: Service, mail: Mailbox) -> None:
    assert not owe(service.context)

    assert 1 == service.tick(minutes=30)

    assert 1 == len(reports(mail))
    assert reports(mail)[0].startswith("perfd: week 2026-W11: 7 nights measured")


def test_its_text_is_the_report_and_each_figure_a_picture(service: Service, mail: Mailbox) -> None:
    site = site_of(service.context)
    service.tick()

    letter = mail.letters[0]
    body = letter.get_body()
    figures = list(letter.iter_attachments())
    assert body is not None
    text = body.get_content().replace("\r\n", "\n")
    assert text.startswith(weekly.markdown(weekly.told(site, weekly.named("2026-W11"))))
    assert text.endswith("\nhttps://perfd.example.com/report?week=2026-W11\n")
    assert f"{len(figures)} figures of this letter" in text
    assert {"image/png"} == {one.get_content_type() for one in figures}
    assert {b"\x89PNG"} == {one.get_content()[:4] for one in figures}
    drawn = weekly.told(site, weekly.named("2026-W11"))["drawn"]
    assert [f"2026-W11-series-{one}.png" for one in drawn] == [one.get_filename() for one in figures]


def test_a_clock_that_was_away_sends_the_last_week_alone(service: Service, mail: Mailbox) -> None:
    service.now = DUE + timedelta(days=15)

    assert 1 == service.tick(minutes=3)
    assert ["perfd: week 2026-W13: No night was run in this week."] == reports(mail)


def test_two_clocks_send_one_letter(service: Service, mail: Mailbox) -> None:
    other = Service(service.context.store, settings(mail))

    assert 1 == service.tick() + other.tick()
    assert 1 == len(reports(mail))


def test_a_letter_that_is_not_taken_is_tried_again_and_says_the_same(service: Service, mail: Mailbox) -> None:
    mail.answer = "451 later"
    service.tick()
    before = weekly.markdown(weekly.told(site_of(service.context), weekly.named("2026-W11")))
    service.context.store.engine.dispose()
    History(service.context.store).night(len(LEVELS))
    mail.answer = "250 OK"

    service.tick(minutes=5)

    body = mail.letters[0].get_body()
    assert 1 == len(reports(mail))
    assert body is not None
    assert before in body.get_content().replace("\r\n", "\n")


def test_of_weeks_before_perfd_began_nothing_is_sent(store: Store, mail: Mailbox) -> None:
    service = Service(store, settings(mail))
    service.now = DUE + timedelta(hours=1)
    store.began_at(DUE - timedelta(minutes=5))

    assert 0 == service.tick(minutes=10)
    service.now = DUE + timedelta(days=7)
    assert 1 == service.tick()


def test_where_no_moment_is_named_nothing_goes_out(service: Service, mail: Mailbox) -> None:
    quiet = replace(service.context.config, notify=replace(settings(mail), weekly=None))
    service.context = replace(service.context, config=quiet)

    assert 0 == service.tick(minutes=10)
    assert [] == reports(mail)


@pytest.fixture
def perfd(
    tmp_path: Path, mail: Mailbox, new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str]]:
    """The command line over a database of its own, with the mail server in perfd.toml."""
    url = new_database()
    store = Store(make_engine(url))
    History(store).nights(LEVELS)
    store.engine.dispose()
    monkeypatch.chdir(tmp_path)
    addresses = 'email_to = ["a@example.com"]\nemail_from = "p@example.com"'
    server = f'smtp_host = "127.0.0.1"\nsmtp_port = {mail.port}'
    (tmp_path / "perfd.toml").write_text(f"[notify]\n{addresses}\n{server}\n")

    def ask(*words: str) -> tuple[int, str]:
        done = CliRunner(env={"PERFD_DATABASE_URL": url}).invoke(main, ["weekly", *words], catch_exceptions=False)
        return done.exit_code, done.stdout + done.stderr

    return ask


def test_a_person_prints_it_or_sends_it_by_hand(perfd: Callable[..., tuple[int, str]], mail: Mailbox) -> None:
    printed = perfd("--week", "2026-W11")
    told = [perfd("--week", "2026-03-12", "--mail", *more)[1] for more in ((), (), ("--again",))]

    assert (0, True) == (printed[0], printed[1].startswith("# Week 2026-W11 (2026-03-09 to 2026-03-15)"))
    assert ["sent", "--again sends it once more", "sent"] == [one.splitlines()[-1].rpartition("; ")[2] for one in told]
    assert 2 == len(reports(mail))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(("--again",), "needs --mail"), (("--week", "2026-W54"), "week is a week such as 2026-W11")],
)
def test_what_cannot_be_sent_is_told(perfd: Callable[..., tuple[int, str]], words: tuple[str, ...], sentence: str) -> None:
    code, said = perfd(*words)

    assert (3, True) == (code, sentence in said)
