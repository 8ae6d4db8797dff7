"""Two other load clients, run as they ship, each in an environment of its own; absent ones are said to be absent."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfd.errors import PerfdError

TIMEOUT_S = 240
Read = Callable[[Path], dict[str, float]]


@dataclass(frozen=True)
class Rival:
    """A load client that can be asked for the same load."""

    name: str
    program: Path | None
    tokenizer: Path | None
    command: Callable[[str, float, int, Path, Path], list[str]]
    """(url, rate, count, tokenizer, output folder) → arguments."""
    read: Read
    """Output folder → TTFT p50 and p99 in seconds."""

    def measure(self, url: str, rate_rps: float, count: int, folder: Path) -> dict[str, float] | str:
        """TTFT in seconds by percentile, or why there is none."""
        if self.program is None or not self.program.exists():
            return f"not installed (give --{self.name} FILE)"
        if self.tokenizer is None or not self.tokenizer.is_dir():
            return "it needs a tokenizer (give --tokenizer FOLDER)"
        try:
            self._run(
                [str(self.program.absolute()), *self.command(url, rate_rps, count, self.tokenizer.absolute(), folder)], folder
            )
            return self.read(folder)
        except PerfdError as error:
            return error.message

    def _run(self, command: list[str], folder: Path) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
        log = folder / "log"
        try:
            with log.open("w", encoding="utf-8") as output:
                done = subprocess.run(
                    command, cwd=folder, stdout=output, stderr=output, env=environment, timeout=TIMEOUT_S, check=False
                )
        except subprocess.TimeoutExpired:
            raise PerfdError(f"it was not over after {TIMEOUT_S} s") from None
        if done.returncode:
            tail = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-300:]
            raise PerfdError(f"it ended with exit code {done.returncode}: {tail}")


def rivals(guidellm: Path | None, aiperf: Path | None, tokenizer: Path | None) -> Iterator[Rival]:
    """Both of them, installed or not."""
    yield Rival("guidellm", guidellm, tokenizer, _guidellm_command, _guidellm_read)
    yield Rival("aiperf", aiperf, tokenizer, _aiperf_command, _aiperf_read)


def _guidellm_command(url: str, rate_rps: float, count: int, tokenizer: Path, _folder: Path) -> list[str]:
    return [
        "run",
        *("--backend", f"kind=openai_http,target={url},model=truth,request_format=/v1/chat/completions"),
        *("--profile", f"kind=constant,rate={rate_rps:g}"),
        *("--constraint", f"kind=max_requests,count={count}"),
        *("--data", "kind=synthetic_text,prompt_tokens=256,output_tokens=64"),
        *("--tokenizer", f"kind=hf_auto,model={tokenizer}"),
        *("--output", "kind=json,path=out.json"),
        "--disable-console-interactive",
    ]


def _guidellm_read(folder: Path) -> dict[str, float]:
    found = _load(folder / "out.json")
    cuts = _dig(found, "benchmarks", 0, "metrics", "time_to_first_token_ms", "successful", "percentiles")
    return {place: float(_dig(cuts, place)) / 1e3 for place in ("p50", "p99")}


def _aiperf_command(url: str, rate_rps: float, count: int, tokenizer: Path, _folder: Path) -> list[str]:
    return [
        "profile",
        *("-m", "truth", "--url", url, "--endpoint-type", "chat", "--streaming", "--tokenizer", str(tokenizer)),
        *("--synthetic-input-tokens-mean", "256", "--synthetic-input-tokens-stddev", "0"),
        *("--output-tokens-mean", "64", "--output-tokens-stddev", "0", "--use-legacy-max-tokens"),
        *("--request-rate", f"{rate_rps:g}", "--request-count", str(count), "--arrival-pattern", "poisson"),
        *("--artifact-dir", "out", "--ui", "none"),
    ]


def _aiperf_read(folder: Path) -> dict[str, float]:
    written = sorted((folder / "out").rglob("profile_export_aiperf.json"))
    if not written:
        raise PerfdError("it wrote no profile_export_aiperf.json")
    cuts = _dig(_load(written[0]), "time_to_first_token")
    return {place: float(_dig(cuts, place)) / 1e3 for place in ("p50", "p99")}


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise PerfdError(f"its output cannot be read ({error})") from None


def _dig(value: Any, *keys: str | int) -> Any:
    """The value under these keys; raises PerfdError that names the missing one."""
    for key in keys:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            raise PerfdError(f"its output has another form than the one read here: no {key!r}") from None
    return value
