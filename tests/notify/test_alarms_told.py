"""What is late is told to people: once when it begins, once a day, and once when it is over."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from receivers import Hooked, Mailbox
from store_world import FIRST_NIGHT, World

from perfd.cli.tell import Silent
from perfd.config import Config, DeviceConfig, Notify, Schedule
from perfd.domain.alarm import Alarm, AlarmKind
from perfd.stages.alarms import keep_watch, late, sound
from perfd.stages.context import Context
from perfd.stages.night import open_due_night
from perfd.stages.notify import hand_on, notify
from perfd.stages.telling import KIND
from perfd.store import Store

MINUTE = timedelta(minutes=1)


class Watch:
    """A service whose time is moved by hand."""

    def __init__(self, store: Store, settings: Notify) -> None:
        self.world = World(store)
        config = Config(None, Path("/nowhere"), (), (), (DeviceConfig("cpu"),), Schedule(), notify=settings)
        self.context = Context(config, store, Silent(), "watcher:1:1", now=lambda: self.world.now)

    def tick(self) -> None:
        """The clock looks what is due."""
        open_due_night(self.context.store, self.context.config.schedule, self.world.now)
        self.context.store.alarms.looked(self.world.now)

    def pass_minutes(self, minutes: int) -> None:
        """So many minutes pass, with a look in each."""
        for _ in range(minutes):
            self.world.now += MINUTE
            keep_watch(self.context)


@pytest.fixture
def watch(store: Store, webhook: Hooked) -> Watch:
    """A service whose clock has just looked, at 01:00 on the day of the first night."""
    made = Watch(store, Notify(webhook=True, webhook_url=webhook.url, site="https://perfd.example.com"))
    made.world.now = FIRST_NIGHT - timedelta(hours=1)
    made.tick()
    return made


def heads(webhook: Hooked) -> list[str]:
    return [one["text"].splitlines()[0] for one in webhook.taken]


def test_a_clock_that_died_is_told_within_a_quarter_of_an_hour_and_once(watch: Watch, webhook: Hooked) -> None:
    watch.pass_minutes(10)
    assert [] == webhook.taken

    watch.pass_minutes(5)
    assert 1 == len(webhook.taken)
    assert "The clock last looked at 2026-11-20 01:00 UTC" in heads(webhook)[0]

    watch.pass_minutes(30)
    assert 1 == len(webhook.taken)


def test_a_night_that_did_not_come_is_told_within_a_quarter_of_an_hour(watch: Watch, webhook: Hooked) -> None:
    watch.world.now = FIRST_NIGHT
    watch.context.store.alarms.looked(FIRST_NIGHT + timedelta(hours=1))  # a clock that looks, and opens nothing
    watch.pass_minutes(15)

    assert ["No night has begun since: 1 night due by 2026-11-20 02:00 UTC did not come."] == [
        one.removeprefix("\N{WARNING SIGN} ") for one in heads(webhook)
    ]


def test_what_is_over_is_told_once_and_what_comes_back_is_told_anew(watch: Watch, webhook: Hooked) -> None:
    watch.pass_minutes(15)
    watch.tick()
    watch.pass_minutes(4)
    assert 1 == len(webhook.taken)

    watch.pass_minutes(5)
    assert ["over: The clock last looked"] == [one.removeprefix("\N{WHITE HEAVY CHECK MARK} ")[:27] for one in heads(webhook)[1:]]
    assert () == watch.context.store.alarms.lasting()

    watch.pass_minutes(15)
    assert 3 == len(webhook.taken)


def test_an_alarm_that_comes_and_goes_is_told_once(store: Store) -> None:
    late_again = Alarm(AlarmKind.WORKER, "worker:cpu", FIRST_NIGHT, "1 Run waits.", "start one")
    looks = [(late_again,), ()] * 5

    told = [store.alarms.sound(found, FIRST_NIGHT + number * 2 * MINUTE) for number, found in enumerate(looks)]

    assert [1, *[0] * 9] == told


def test_a_day_later_people_are_reminded(watch: Watch, webhook: Hooked) -> None:
    watch.pass_minutes(15)
    watch.world.now += timedelta(days=1)
    watch.pass_minutes(10)

    assert 1 == sum("still: The clock last looked" in one for one in heads(webhook))


def test_two_processes_that_watch_tell_once(watch: Watch, webhook: Hooked) -> None:
    watch.pass_minutes(15)
    other = Watch(watch.context.store, watch.context.config.notify)
    other.world.now = watch.world.now

    keep_watch(other.context)

    assert 1 == len(webhook.taken)


def test_a_webhook_that_is_away_holds_no_mail_up_and_gets_its_message_later(watch: Watch, webhook: Hooked, mail: Mailbox) -> None:
    letters = Notify(email_to=("a@example.com",), email_from="p@example.com", smtp_host="127.0.0.1", smtp_port=mail.port)
    both = replace(letters, webhook=True, webhook_url=webhook.url)
    watch.context = replace(watch.context, config=replace(watch.context.config, notify=both))
    webhook.answers = [(503, {"Retry-After": "180"})]

    watch.pass_minutes(11)
    assert 1 == len(mail.letters)
    assert [] == webhook.taken

    watch.pass_minutes(2)
    assert 1 == len(webhook.keys)  # Retry-After is honoured

    watch.pass_minutes(2)
    assert 1 == len(webhook.taken)
    assert 1 == len(mail.letters)
    assert 1 == len(set(webhook.keys))


def test_a_message_that_nobody_takes_is_an_alarm_of_its_own(watch: Watch, webhook: Hooked) -> None:
    webhook.answers = [(500, {})] * 100
    watch.pass_minutes(25)

    found = {one.key: one.sentence for one in late(watch.context.store, Schedule(), watch.world.now)}
    assert "the webhook answered 500" in found["message:webhook:not delivered"]


def test_a_message_that_was_refused_is_given_up_and_said_so(watch: Watch, webhook: Hooked) -> None:
    webhook.answers = [(400, {})]
    watch.pass_minutes(12)

    found = {one.key: one.sentence for one in late(watch.context.store, Schedule(), watch.world.now)}
    assert "was given up: the webhook answered 400" in found["message:webhook:given up"]
    assert 2 == len(webhook.keys)
    assert "given up" in heads(webhook)[0]


def test_a_machine_without_the_secret_leaves_the_message_to_another_one(watch: Watch, webhook: Hooked) -> None:
    known = watch.context
    watch.context = replace(known, config=replace(known.config, notify=Notify(webhook=True)))
    watch.pass_minutes(15)
    assert [] == webhook.keys

    watch.context = known
    watch.pass_minutes(1)
    assert any("The clock last looked" in one for one in heads(webhook))


def test_where_nobody_is_named_nothing_waits(watch: Watch) -> None:
    watch.context = replace(watch.context, config=replace(watch.context.config, notify=Notify()))
    watch.pass_minutes(30)

    assert ("clock",) == watch.context.store.alarms.lasting()


def test_a_regression_wakes_a_person_with_its_link(watch: Watch, webhook: Hooked) -> None:
    payload = {"regression": 7, "title": "tiny: ttft_s +8 % since abc", "why": "confirmed", "gates": True}
    watch.context.store.outbox.put("regression:7:told", KIND, payload, watch.world.now)

    assert hand_on(watch.context)
    assert notify(watch.context)
    assert not notify(watch.context)

    body = webhook.taken[0]
    assert "Regression 7: tiny: ttft_s +8 % since abc" in body["text"]
    assert "https://perfd.example.com/regressions/7" in body["text"]
    assert "perfd, worth attention" == body["blocks"][-1]["elements"][0]["text"]


def test_sounding_twice_at_one_moment_changes_nothing(watch: Watch) -> None:
    watch.world.now += timedelta(minutes=12)

    assert 1 == sound(watch.context)
    assert 0 == sound(watch.context)
