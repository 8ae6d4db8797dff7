"""Natural keys: the same words always give the same name."""

import hashlib
import json
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""What JSON can hold. (A recursive alias would say more, but dataclasses could not be read by their annotations.)"""


def canonical(value: Json) -> str:
    """JSON with sorted keys and no spaces, so that equal values have equal text on every machine."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Json) -> str:
    """The sha256 of `canonical(value)`, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()
