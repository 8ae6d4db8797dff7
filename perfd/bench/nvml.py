"""The one door to NVML: its module, loaded only where it is asked for, and its answers without its errors.

It needs the package nvidia-ml-py (import name pynvml) and a driver; where one is missing there is no GPU, without an error.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

_GONE = {
    1: "NVML is not initialised any more",
    6: "NVML finds it no more",
    9: "its driver is not loaded any more",
    15: "it has fallen off the bus or is otherwise inaccessible",
    16: "it needs a reset",
    999: "NVML answers with an unknown error",
}
"""Return codes that say something of the GPU itself; the others say that it does not tell, or not to us."""


@cache
def module() -> Any | None:
    """The initialised NVML module; absent without package or driver."""
    try:
        import pynvml  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415 - machines without a GPU lack it
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


def ask(question: Callable[[Any], Any]) -> Any:
    """The answer to one question to NVML; None where this GPU or driver does not tell it."""
    nvml = module()
    if nvml is None:
        return None
    try:
        return question(nvml)
    except nvml.NVMLError:
        return None


def why_gone(question: Callable[[Any], Any]) -> str:
    """Half a sentence when the answer to the question is that the GPU is gone; "" when it answers, or only does not tell."""
    nvml = module()
    if nvml is None:
        return "NVML does not answer on this machine"
    try:
        question(nvml)
    except nvml.NVMLError as error:
        return _GONE.get(error.value, "")
    return ""


def text(value: str | bytes) -> str:
    """What NVML calls a string, which older versions of its package give as bytes."""
    return value.decode() if isinstance(value, bytes) else value
