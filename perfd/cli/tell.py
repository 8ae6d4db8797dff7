"""What is seen while perfd works: stages and progress bars on standard error; lines or JSON where that is no terminal."""

import logging
import os
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from perfd.cli.log import LogStyle, Relay, line, style
from perfd.cli.shown import shown
from perfd.stages.about import what_about

QUIET_S = 1.0
"""Steps that follow one another faster than this are one line in a log."""


class Teller:
    """Says which stage works on what; `with Teller() as tell` keeps the terminal tidy."""

    def __init__(self, console: Console | None = None, log: LogStyle | None = None) -> None:
        self.console = console or Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._log = log or style(os.environ)
        self._relay = Relay(lambda name, sentence, level: self._write(name, sentence, {"level": level}))
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[stage]:<8}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=self.console,
            disable=self._log.json or not self.console.is_terminal,
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}
        self._said: dict[str, float] = {}
        self._last: dict[str, tuple[str, int]] = {}
        """By stage, the step that was told last, and how often it came again since."""

    def __enter__(self) -> Self:
        self._bars.start()
        logging.getLogger().addHandler(self._relay)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        logging.getLogger().removeHandler(self._relay)
        self._bars.stop()

    def say(self, stage: str, sentence: str) -> None:
        """One line that stays."""
        self._count(stage)
        self._write(stage, sentence, what_about())

    def _write(self, stage: str, sentence: str, words: Mapping[str, object]) -> None:
        if not self._log.writes(str(words.get("level", "info"))):
            return
        if self._log.json:
            self.console.out(line(stage, sentence, words), highlight=False)
        else:
            self.console.print(shown(f"{stage:<8} {sentence}"), markup=False, emoji=False)

    def steps(self, stage: str, done: int, total: int, sentence: str) -> None:
        """How far the stage is; where there is no terminal, a line a step."""
        if self._log.json or not self.console.is_terminal:
            self._say_now_and_then(stage, done, total, sentence)
            return
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(sentence, total=total, stage=stage)
        self._bars.update(self._tasks[stage], completed=done, total=total, description=shown(sentence))

    def _say_now_and_then(self, stage: str, done: int, total: int, sentence: str) -> None:
        """A log is read later: a line for every step that took a while, and for the last one; one that repeats is counted."""
        told = f"{done}/{total} {sentence}"
        last, times = self._last.get(stage, ("", 0))
        if told == last and done < total:
            self._last[stage] = (last, times + 1)
            return
        now = time.monotonic()
        if done == total or now - self._said.get(stage, -QUIET_S) >= QUIET_S:
            self._said[stage] = now
            self.say(stage, told)
            self._last[stage] = (told, 1)

    def _count(self, stage: str) -> None:
        """The step that was told once is told again with how often it came, if it came again."""
        last, times = self._last.pop(stage, ("", 0))
        if times > 1:
            self._write(stage, f"{last} ({times} times)", what_about())


class Silent(Teller):
    """Says nothing: for tests and for programs."""

    def __init__(self) -> None:
        super().__init__(Console(quiet=True))

    def steps(self, stage: str, done: int, total: int, sentence: str) -> None:
        """Nothing."""
