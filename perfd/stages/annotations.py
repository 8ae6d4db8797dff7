"""Annotations: a remark at the line of the suite file that says what was measured, for everything that became worse."""

from collections.abc import Iterator
from pathlib import Path

from perfd.domain.answer import Answer, AnswerRow
from perfd.domain.forge import Annotation, Level
from perfd.domain.numbers import percent, percents
from perfd.domain.verdict import Outcome
from perfd.stages.context import Context


def annotations(context: Context, answer: Answer) -> Iterator[Annotation]:
    """One for each Metric that is worse; the files are perfd's own suites, named as they lie beside its configuration."""
    for row in answer.counting:
        if row.verdict.outcome is Outcome.WORSE:
            found = _line(context.config.suites_folder, row.workload)
            if found is not None:
                yield _annotation(row, *found)


def _annotation(row: AnswerRow, path: str, line: int) -> Annotation:
    change = f"{percent(row.verdict.effect)} {percents(row.verdict.interval)}".strip()
    return Annotation(
        path=path,
        line=line,
        level=Level.FAILURE if row.gates else Level.WARNING,
        message=f"{row.metric.name} of {row.workload} {row.model}: {change}. {row.metric.sentence}",
        title=f"{row.metric.name} is worse",
    )


def _line(folder: Path, workload: str) -> tuple[str, int] | None:
    """Where the Workload stands, counted from 1; absent for one that no suite file names, such as a kernel's."""
    for path in sorted(folder.glob("*.toml")):
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            name, _, value = text.partition("=")
            if name.strip() == "name" and value.split("#")[0].strip().strip("\"'") == workload:
                return f"{folder.name}/{path.name}", number
    return None
