"""From a Regression of the database to a suite file that would catch it."""

from collections.abc import Iterator
from pathlib import Path

from perfd import suites
from perfd.domain.suite import Suite, WorkloadClass
from perfd.errors import BadInputError
from perfd.rules.pinning import Lost, pinned, suite_text
from perfd.stages.context import Context
from perfd.store.records import RegressionRow


def pin(context: Context, number: int, folder: Path) -> tuple[Path, Suite]:
    """The suite file, written, and what it holds; raises BadInputError where nothing can be pinned, or the file is there."""
    row = context.store.regressions.read(number)
    if row is None:
        raise BadInputError(f"there is no regression {number}; `perfd regression list` shows which there are")
    lost = tuple(_lost(context, row))
    if not lost:
        raise BadInputError(
            f"regression {number} has no Workload of a suite that could be pinned: it is about a budget, or about a kernel, "
            "whose shapes every night measures anyway"
        )
    path = folder / f"regression_{number}.toml"
    if path.exists():
        raise BadInputError(f"{path} is there already; delete it first if it should be written again")
    question = f"Is regression {number} back? {row.title}"
    return path, _write(path, suite_text(question, [row.subject], pinned(lost)))


def _lost(context: Context, row: RegressionRow) -> Iterator[Lost]:
    for info, change in row.members:
        page = context.store.pages.run_page(change.run)
        if page is None or not change.worse or info.workload_class is WorkloadClass.KERNEL:
            continue
        words = info.key.subject, info.key.model, info.key.device_class
        yield Lost(page.workload, info.key.metric, info.metric.unit, *words, change.before, change.after)


def _write(path: Path, text: str) -> Suite:
    """The file is there and can be loaded, or is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    try:
        return suites.load_suite(path)
    except BadInputError as error:
        path.unlink()
        told = f"its Workload cannot be written as a suite of this perfd any more: {error.message}"
        raise BadInputError(told) from None
