"""How perfd's log is written: lines for people, or one JSON object a line for programs, from a level on; `PERFD_LOG` says which.

Every line of every command goes through here, so that a log that is JSON is JSON to its last line.
"""

import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from perfd.errors import BadInputError

VARIABLE = "PERFD_LOG"
LEVELS = ("debug", "info", "warning", "error")
FORMS = ("text", "json")


@dataclass(frozen=True)
class LogStyle:
    """What is written, and how."""

    json: bool = False
    level: str = "info"

    def writes(self, level: str) -> bool:
        """Whether a line of that level is written."""
        return LEVELS.index(level) >= LEVELS.index(self.level)


def style(environ: Mapping[str, str]) -> LogStyle:
    """As PERFD_LOG has it: a form and a level, in any order, such as `json,warning`; raises BadInputError for other words."""
    words = [word.strip().lower() for word in environ.get("PERFD_LOG", "").split(",") if word.strip()]
    wrong = [word for word in words if word not in {*LEVELS, *FORMS}]
    if wrong:
        raise BadInputError(f'{VARIABLE}: "{wrong[0]}" is unknown; write {", ".join(FORMS)}, and one of {", ".join(LEVELS)}')
    return LogStyle("json" in words, next((word for word in words if word in LEVELS), "info"))


def is_json() -> bool:
    """Whether this process writes JSON; a PERFD_LOG that is wrong is told by whoever opens the log."""
    try:
        return style(os.environ).json
    except BadInputError:
        return False


def line(stage: str, sentence: str, words: Mapping[str, Any]) -> str:
    """One line of JSON: time, level, stage, worker, message, and what it is about."""
    named = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": "info", "stage": stage, "worker": _worker()}
    return json.dumps({**named, **words, "message": sentence}, ensure_ascii=False)


@cache
def _worker() -> str:
    from perfd.stages.context import worker_name  # noqa: PLC0415  # the stages load a database driver, which few commands need

    return worker_name()


class Relay(logging.Handler):
    """What libraries log (the web server, the clock, the migrations) is a line like any other."""

    def __init__(self, write: Callable[[str, str, str], None]) -> None:
        super().__init__(logging.WARNING)
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """The record is written, its traceback in the same line."""
        sentence = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            sentence += f": {logging.Formatter().formatException(record.exc_info)}"
        level = "error" if record.levelno >= logging.ERROR else "warning"
        self._write(record.name, sentence, level)
