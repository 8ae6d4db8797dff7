"""Boot logs: what an engine said of itself before the first request. Only what changes numbers is read.

llama.cpp is read here; the logs of vLLM, SGLang and TensorRT-LLM are read by inferlint where it is there (external.py).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 4 * 1024 * 1024
MOST_WARNINGS = 10
_SLOTS = re.compile(r"n_slots = (\d+)")
_SLOT_CONTEXT = re.compile(r"n_ctx_slot = (\d+)")
_UNIFIED = re.compile(r"kv_unified = '?(true|false)")
_KV_SIZE = re.compile(r"KV buffer size =\s+([\d.]+) MiB")
_CELLS = re.compile(r"llama_kv_cache\S*: size =\s+[\d.]+ MiB \(\s*(\d+) cells")
_OFFLOADED = re.compile(r"offloaded (\d+)/(\d+) layers to GPU")
_IGNORED = re.compile(
    r"will be ignored|is ignored|ignoring|not supported|unsupported|falling back|fall back|forcing off|set to disabled"
    r"|no usable gpu|rounding down|cannot be offloaded",
    re.IGNORECASE,
)
"""Words by which llama.cpp (and most other engines) admit that a setting was not taken as given."""
_PREFIX = re.compile(r"^\s*(?:[\d.:]+\s+)?(?:[DIWE]\s+)?")
_QUIET = re.compile(r"^\s*[\d.:]+\s+[DI]\s")
"""A line that llama.cpp itself marks as information: hints that tell of settings, not that one was dropped."""


@dataclass(frozen=True)
class BootLog:
    """What the log told; what it did not tell is absent."""

    slots: int | None = None
    slot_context_tokens: int | None = None
    unified: bool | None = None
    """All slots share one pool."""
    kv_bytes: int | None = None
    kv_cells: int | None = None
    offloaded: tuple[int, int] | None = None
    """(layers on the GPU, layers)."""
    ignored: tuple[str, ...] = ()
    """Lines by which the engine admits that a setting was not taken as given."""


def read_boot_log(path: Path) -> BootLog:
    """The beginning of a log, up to the first request; an unreadable one tells nothing."""
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return BootLog()
    return parse_boot_log(text)


def parse_boot_log(text: str) -> BootLog:
    """The facts of a log's text, whatever its verbosity."""
    lines = _before_requests(text.splitlines())
    whole = "\n".join(lines)
    sizes = [float(size) for size in _KV_SIZE.findall(whole)]
    unified, offloaded = _UNIFIED.search(whole), _OFFLOADED.search(whole)
    ignored = dict.fromkeys(_PREFIX.sub("", line)[:200] for line in lines if _IGNORED.search(line) and not _QUIET.match(line))
    return BootLog(
        slots=_whole(_SLOTS, whole),
        slot_context_tokens=_whole(_SLOT_CONTEXT, whole),
        unified=None if unified is None else unified[1] == "true",
        kv_bytes=int(sum(sizes) * 1024**2) if sizes else None,
        kv_cells=_whole(_CELLS, whole),
        offloaded=(int(offloaded[1]), int(offloaded[2])) if offloaded else None,
        ignored=tuple(ignored)[:MOST_WARNINGS],
    )


def _before_requests(lines: Sequence[str]) -> list[str]:
    """Lines up to the first that speaks of a request; a warning about one prompt is no ignored setting."""
    boot: list[str] = []
    for line in lines:
        if "launch_slot_" in line or "POST /v1/" in line:
            break
        boot.append(line)
    return boot


def _whole(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found[1]) if found else None
