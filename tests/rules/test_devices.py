"""When a Run may not begin, and when a device is not to be trusted: pure decisions."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perfd.config import DeviceConfig
from perfd.domain.device import AaAnswer, Spoilt
from perfd.rules.preflight import why_refused
from perfd.rules.quarantine import by_aa, by_spoilt

BEGIN = datetime(2026, 11, 20, 3, tzinfo=UTC)


def answers(nights: str) -> list[AaAnswer]:
    """One comparison a night: "x" was called different, "." was not."""
    return [AaAnswer(f"aa:{day}", BEGIN + timedelta(days=day), different=one == "x") for day, one in enumerate(nights)]


FIT: list[tuple[dict[str, Any], DeviceConfig]] = [
    ({}, DeviceConfig("cpu")),
    ({"temperature_c": 85}, DeviceConfig("cpu")),
    ({"temperature_c": 99}, DeviceConfig("cpu", hottest_c=0.0)),
    ({"other_busy_cores": 9.0}, DeviceConfig("cpu")),
    ({"other_gpu_processes": 1}, DeviceConfig("0", neighbours=1)),
    ({"gpu_temperature_c": 60, "temperature_c": 99}, DeviceConfig("0")),
]
UNFIT: list[tuple[dict[str, Any], DeviceConfig, str]] = [
    ({"temperature_c": 85.5}, DeviceConfig("cpu"), "85.5 °C and may have 85"),
    ({"other_busy_cores": 0.8}, DeviceConfig("cpu", busiest_cores=0.5), "others use 0.8 cores and may use 0.5"),
    ({"other_gpu_processes": 2}, DeviceConfig("0"), "2 foreign processes on it, and 0 may be"),
    ({"gpu_busy_percent": 11}, DeviceConfig("0"), "busy for 11 % of the time and may be for 10"),
]


@pytest.mark.parametrize(("facts", "limits"), FIT)
def test_a_device_within_its_limits_may_begin(facts: dict[str, Any], limits: DeviceConfig) -> None:
    assert "" == why_refused(facts, limits)


@pytest.mark.parametrize(("facts", "limits", "sentence"), UNFIT)
def test_a_device_beyond_a_limit_is_refused_with_the_limit_and_a_remedy(
    facts: dict[str, Any], limits: DeviceConfig, sentence: str
) -> None:
    told = why_refused(facts, limits)

    assert sentence in told
    assert ", or raise " in told


def test_three_different_comparisons_with_itself_in_a_row_are_the_devices_doing() -> None:
    cause = by_aa(answers("..xxx"))

    assert cause is not None
    assert BEGIN + timedelta(days=1) == cause.since  # the last one that was not called different
    assert 4 == len(cause.evidence["aa"])


def test_a_device_that_never_passed_is_void_from_its_first_comparison_on() -> None:
    cause = by_aa(answers("xxxx"))

    assert cause is not None
    assert BEGIN == cause.since


@pytest.mark.parametrize("nights", ["", "xx", "xxx.", "xx.xx"])
def test_fewer_than_three_in_a_row_are_chance(nights: str) -> None:
    assert by_aa(answers(nights)) is None


def test_three_spoilt_runs_in_a_row_are_the_devices_doing_and_make_nothing_before_them_void() -> None:
    spoilt = [Spoilt(f"{number:064x}", BEGIN + timedelta(hours=number), "it was slow") for number in range(3)]
    cause = by_spoilt(spoilt)

    assert by_spoilt(spoilt[:2]) is None
    assert cause is not None
    assert BEGIN == cause.since
