"""Other inference engines on this machine: they take cores, memory and caches from the one that is measured."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from perfd.bench import processes

ENGINES = re.compile(
    r"llama-server|llama_cpp\.server|xllamacpp_server|VLLM::|vllm\.entrypoints|\bvllm serve"
    r"|sglang::|sglang[. ](launch_server|serve)|trtllm-serve|transformers serve|text-generation-server|\bollama\b"
)


def other_engines(own: Iterable[int]) -> list[str]:
    """Inference engines that run now and are not among `own`: "llama-server (pid 123)"."""
    mine = {*own, os.getpid(), os.getppid()}
    found = []
    for pid in processes.all_pids():
        engine = ENGINES.search(_command(pid)) if pid not in mine else None
        if engine is not None and processes.alive(pid):
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
