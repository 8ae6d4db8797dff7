"""Tasks with right and wrong answers, one Sample an item in a fixed order, so that two Builds are compared item by item.

GSM8K, HumanEval and BFCL read their items from a folder outside the project (PERFD_EVALS); retrieval makes its own.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from perfd.bench.ask import Asker
from perfd.bench.dialects import dialect, model_name
from perfd.bench.engine import EngineError, Server
from perfd.bench.measured import Measured
from perfd.bench.tasks import bfcl, gsm8k, humaneval, retrieval
from perfd.bench.tasks.folder import evals_folder
from perfd.bench.tasks.items import Answer, Item, Place, TaskItems, ask
from perfd.domain.identity import Json
from perfd.domain.job import Job
from perfd.domain.run import FailureKind
from perfd.errors import BadInputError
from perfd.stats.shares import share_interval

KEPT_CHARACTERS = 160
READ = {"gsm8k": gsm8k.load, "humaneval": humaneval.load, "bfcl": bfcl.load}
"""Tasks whose items are read; retrieval counts tokens, so it wants the engine."""
MOST_FAILED = 0.5
"""Where more of the items had no answer at all, that is a finding about the engine, not a score."""


@dataclass(frozen=True)
class Row:
    """One item's outcome."""

    id: str
    right: bool
    answer: str
    error: str = ""
    """Why there is no answer; "" where there is one."""


def measure(job: Job, server: Server) -> Measured:
    """Samples of `task_accuracy`: 1 for an item that was answered right, 0 otherwise, in the task's own order.

    Raises EngineError where the engine dies or has no answer to most items, BadInputError where the items cannot be had.
    """
    if job.launch is None:
        raise BadInputError("a task needs an engine's launch stanza")
    asker = Asker(server.port)
    try:
        task, model = load(job, asker), model_name(asker)
    finally:
        asker.close()
    rows = answered(job, server, task.items, model)
    server.check_alive()
    check_answers(rows)
    return Measured({"task_accuracy": [float(row.right) for row in rows]}, {"task": told(job, task, rows)})


def load(job: Job, asker: Asker) -> TaskItems:
    """The Workload's items; raises BadInputError with what to do where they cannot be had."""
    given, name = job.workload.parameters, str(job.workload.parameters["task"])
    if name == "retrieval":
        assert job.launch is not None  # noqa: S101 - measure has looked
        return retrieval.load(given, dialect(job.launch.dialect).tokenizer(asker), job.workload.seed)
    if name not in READ:
        raise BadInputError(f'there is no task "{name}"; there is {", ".join([*READ, "retrieval"])}')
    try:
        return READ[name](given, Place(evals_folder(given), job.work), job.workload.seed)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadInputError(
            f"the items of {name} have not the form of the version that docs/accuracy.md names ({error!r})"
        ) from None


def answered(job: Job, server: Server, items: Sequence[Item], model: str) -> list[Row]:
    """Every item's outcome, `concurrency` of them asked at once."""
    given = job.workload.parameters
    patience_s, tokens = job.workload.time_limit_s / 3, int(given["output_tokens"])

    def one(item: Item) -> Row:
        asker = Asker(server.port, patience_s)
        try:
            return judged(item, ask(asker, model, item, tokens))
        except EngineError as error:
            if error.failure is FailureKind.DIED:
                raise
            return Row(item.id, right=False, answer="", error=error.sentence[:KEPT_CHARACTERS])
        finally:
            asker.close()

    with ThreadPoolExecutor(int(given.get("concurrency", 1))) as pool:
        return list(pool.map(one, items))


def judged(item: Item, answer: Answer) -> Row:
    """The item with its answer, kept short."""
    text = answer.text or str([dict(call) for call in answer.tool_calls])
    return Row(item.id, item.check(answer), text[:KEPT_CHARACTERS])


def check_answers(rows: Sequence[Row]) -> None:
    """Raise EngineError where most items have no answer."""
    failed = [row for row in rows if row.error]
    if len(failed) > MOST_FAILED * len(rows):
        sentence = f"{len(failed)} of {len(rows)} items had no answer, the first because {failed[0].error}"
        raise EngineError(FailureKind.NONSENSE, sentence)


def told(job: Job, task: TaskItems, rows: Sequence[Row]) -> Json:
    """What a reader wants beside the Samples: each item's row, and what the items were."""
    right = sum(row.right for row in rows)
    return {
        "task": str(job.workload.parameters["task"]),
        "data_sha256": task.data_sha256,
        **task.about,
        "right": right,
        "items": len(rows),
        "share_interval_95": list(share_interval(right, len(rows))),
        "without_answer": sum(bool(row.error) for row in rows),
        "rows": [{"id": row.id, "right": row.right, "answer": row.answer, "error": row.error} for row in rows],
    }
