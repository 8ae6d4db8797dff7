"""Devices that may not be trusted: a quarantine, who opened it and why, and what became of what was measured meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from perfd.domain.environment import Device
from perfd.domain.identity import Json


@dataclass(frozen=True)
class Cause:
    """Why a device is not trusted any more."""

    reason: str
    """One sentence with its remedy."""
    since: datetime
    """What it has measured from then on is void: the last good check, or the first bad one."""
    evidence: Mapping[str, Json] = field(default_factory=dict)
    """What was seen, as JSON: facts, Runs, comparisons."""


@dataclass(frozen=True)
class Released:
    """The end of a quarantine: only a person ends one."""

    at: datetime
    actor: str
    reason: str


@dataclass(frozen=True)
class Quarantine:
    """A span in which a device measures nothing, because it was not to be trusted."""

    id: int
    device: Device
    cause: Cause
    actor: str
    """The person, or the named rule, that opened it."""
    opened_at: datetime
    released: Released | None = None
    """Absent while it lasts."""
    voided: int = 0
    """How many Runs were void by it."""
    again: str = ""
    """Name of the occasion in which those of nights and Checkpoints are measured again; "" until that is planned."""


@dataclass(frozen=True)
class Spoilt:
    """A Run that gave no result by the device's fault."""

    run: str
    """Digest of the Run's key."""
    at: datetime
    reason: str


@dataclass(frozen=True)
class AaAnswer:
    """What a comparison of a Build with itself said of the device that measured all of it."""

    occasion: str
    at: datetime
    different: bool


@dataclass(frozen=True)
class DeviceRow:
    """A device, and how it stands."""

    id: int
    device: Device
    looked_at: datetime | None
    """When a worker last looked whether a Run may begin."""
    refusal: str
    """Why none may for now; "" where one may."""
    refused_since: datetime | None
    good_at: datetime | None
    """When a Run on it last ended with nothing wrong with it: its last good check."""
    spoilt: tuple[Spoilt, ...]
    """The Runs in a row that it has spoilt, oldest first."""
    quarantine: Quarantine | None
    """The one that lasts; absent where none does."""

    @property
    def state(self) -> str:
        """quarantined, refused or ready, in a word."""
        return "quarantined" if self.quarantine else "refused" if self.refusal else "ready"
