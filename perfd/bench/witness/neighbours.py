"""Processes of inference engines on this machine: other people's before a Run, and our own that outlive their engine."""

import os
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from perfd.bench import processes

ENGINES = re.compile(
    r"llama-server|llama_cpp\.server|xllamacpp_server|VLLM::|vllm\.entrypoints|\bvllm serve"
    r"|sglang::|sglang[. ](launch_server|serve)|trtllm-serve|transformers serve|text-generation-server|\bollama\b"
)
START_TIME = 19
"""Place of the start time in processes.stat_fields: with the pid it names a process for good."""
PATIENCE_S = 2.0
"""A killed process needs a moment to give its memory back."""


def other_engines(own: Iterable[int]) -> list[str]:
    """Inference engines that run now and are not among `own`: "llama-server (pid 123)"."""
    mine = {*own, os.getpid(), os.getppid()}
    found = []
    for pid in processes.all_pids():
        engine = ENGINES.search(_command(pid)) if pid not in mine else None
        if engine is not None and alive(pid):
            found.append(f"{engine[0].strip(':')} (pid {pid})")
    return found


def _command(pid: int) -> str:
    """Program and arguments of a process; "" for one that is gone or a thread of the kernel. A shell's own text is no engine."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", errors="replace").split("\0")
    except OSError:
        return ""
    shell = words[0].rpartition("/")[2] in {"sh", "bash", "dash", "zsh", "grep", "timeout", "nice"}
    return "" if shell else " ".join(words)


def births(pids: Iterable[int]) -> dict[int, str]:
    """When each process was started, as the kernel counts it; those that are gone are left out."""
    seen = ((pid, processes.stat_fields(pid)) for pid in pids)
    return {pid: fields[START_TIME] for pid, fields in seen if len(fields) > START_TIME}


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    fields = processes.stat_fields(pid)
    return bool(fields) and fields[0] not in {"Z", "X"}


def survivors(born: Mapping[int, str], patience_s: float = PATIENCE_S) -> list[int]:
    """Those of the processes that still live after `patience_s`; a process id that was given to another does not count."""
    end_s = time.monotonic() + patience_s
    while True:
        left = [pid for pid in born if alive(pid) and births([pid]).get(pid) == born[pid]]
        if not left or time.monotonic() >= end_s:
            return left
        time.sleep(0.02)
