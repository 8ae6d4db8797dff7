"""How a device fared, by what was seen of it: facts whose names mean the same in every Run."""

from collections.abc import Sequence
from typing import Any

from perfd.domain.environment import DeviceState

SLOWED_BY_HARDWARE = frozenset({"hw_slowdown", "hw_thermal_slowdown", "sw_thermal_slowdown", "hw_power_brake_slowdown"})
"""Throttle reasons that make a number worthless; the power cap alone is how a GPU works under load."""
OF_THE_PROGRAM = frozenset({13, 31, 43, 45, 68, 109})
"""Critical errors (Xid) that a faulty kernel or engine brings about on a sound GPU: findings about the Build."""


def why_slowed(states: Sequence[DeviceState]) -> str:
    """One sentence when heat or power slowed the device while it was looked at; "" otherwise."""
    counts = seen(states, "cpu_throttle_count")
    if counts and counts[-1] > counts[0]:
        return f"the CPU was slowed for heat {counts[-1] - counts[0]} times during the Run; cool the machine or lower its clock"
    slowed = sorted({reason for reasons in seen(states, "throttle_reasons") for reason in reasons} & SLOWED_BY_HARDWARE)
    return f"the GPU was throttled during the Run ({', '.join(slowed)}); cool it or lower its clocks" if slowed else ""


def why_sick(states: Sequence[DeviceState]) -> str:
    """One sentence when the device must not be trusted until a person has looked at it; "" otherwise."""
    for lost in seen(states, "gpu_lost"):
        return f"the GPU is gone: {lost}; look at the kernel's log, and reset it or restart the machine"
    errors = max(seen(states, "gpu_ecc_uncorrected"), default=0)
    if errors:
        return f"the GPU's memory had {errors} uncorrectable errors since its driver was loaded; reset it, or replace it"
    if any(seen(states, "gpu_remapping_failed")):
        return "the GPU could not take a faulty row of its memory out of use; replace it"
    xids = sorted({number for numbers in seen(states, "gpu_xids") for number in numbers} - OF_THE_PROGRAM)
    if xids:
        return f"the driver told critical errors of the GPU (Xid {', '.join(map(str, xids))}); reset it, or replace it"
    return ""


def seen(states: Sequence[DeviceState], fact: str) -> list[Any]:
    """What the states tell of one fact, in order; states that do not tell it are left out."""
    return [state.facts[fact] for state in states if state.facts.get(fact) is not None]
