"""What one measurement of a kernel found."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from perfd.domain.environment import DeviceState
from perfd.domain.identity import Json
from perfd.domain.run import FailureKind


@dataclass(frozen=True)
class Finding:
    """Samples, or the reason why there are none: a kernel that is wrong or does not compile is a result."""

    hardware: Mapping[str, str]
    """What the numbers belong to: the architecture compiled for, the interpreter, or the GPU."""
    samples: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Metric → values, in the order they were measured."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    device_states: tuple[DeviceState, ...] = ()
    software: Mapping[str, str] = field(default_factory=dict)
    """Versions that torch, triton and the Build do not tell: the GPU's driver."""
    clock_policy: str = "none"
    """"none" where no clock matters."""
    failure: FailureKind | None = None
    reason: str = ""
    """Why it failed; "" otherwise."""
    why_void: str = ""
    """Why the Samples must not be believed (a throttled GPU); "" when they may be."""


class KernelError(Exception):
    """An op's own code failed: a finding about the Build, not a fault of perfd."""

    def __init__(self, failure: FailureKind, sentence: str) -> None:
        super().__init__(sentence)
        self.failure = failure
        self.sentence = sentence
