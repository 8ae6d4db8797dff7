"""lm-evaluation-harness' results JSON: by task and metric a value with its standard error."""

from perfd.domain.arrival import Arrival
from perfd.domain.metric import Better
from perfd.domain.suite import WorkloadClass
from perfd.errors import BadInputError
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.source import Node, Source
from perfd.importers.units import Quantity, slug

NAME = "lm-eval"
SHARES = {"acc", "acc_norm", "acc_mutual_info", "exact_match", "em", "f1", "mc1", "mc2", "pass@1", "prompt_level_strict_acc"}
LOWER = {"perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "ter"}


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return '"results"' in text and ('"n-shot"' in text or '"lm_eval_version"' in text or '"versions"' in text)


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every task of the file."""
    document = source.json()
    config = document["config"]
    model = document["model_name"].text() or (
        config["model_args"].word() if config and isinstance(config["model_args"].value, str) else ""
    )
    maker = Maker(NAME, given, given.named(""), Machine(software={"lm_eval": document["lm_eval_version"].text()}), source.key)
    commit = Commit("", document["date"].moment())
    return once(
        _arrival(maker, commit, document, model, (task, *filtered))
        for task, told in document["results"].items()
        for filtered in _filters(told)
    )


def _filters(told: Node) -> list[tuple[str, dict[str, Node]]]:
    """A task's metrics by filter: each filter reads the answers in its own way."""
    found: dict[str, dict[str, Node]] = {}
    for key, value in told.items():
        metric, comma, which = key.partition(",")
        if comma:
            found.setdefault(which, {})[metric] = value
    return list(found.items())


def _arrival(maker: Maker, commit: Commit, document: Node, model: str, told: tuple[str, str, dict[str, Node]]) -> Arrival:
    task, which, metrics = told
    samples = document["n-samples"]
    n = samples[task]["effective"].count() if samples and samples[task] else 1
    parameters = {"shots": document["n-shot"][task].word()} if document["n-shot"] and document["n-shot"][task] else {}
    if document["versions"] and document["versions"][task]:
        parameters["version"] = document["versions"][task].word()
    if which != "none":
        parameters["filter"] = which
    found = [_measured(document, task, metric, metrics, n) for metric in metrics if not metric.endswith("_stderr")]
    if not found:
        raise BadInputError(f"$.results.{task[:60]}: no metric in it")
    return maker.arrival(commit, task, found, parameters=parameters, workload_class=WorkloadClass.ACCURACY, model=model)


def _measured(document: Node, task: str, metric: str, metrics: dict[str, Node], n: int) -> Measured:
    value = metrics[metric].number()
    ways = document["higher_is_better"]
    way = ways[task][metric].value if ways and ways[task] else metric not in LOWER
    kind = Quantity(slug(metric), "share" if metric in SHARES else "score", Better.HIGHER if way is not False else Better.LOWER)
    error = metrics.get(f"{metric}_stderr")
    known = error is not None and isinstance(error.value, int | float)  # "N/A" where it was not bootstrapped
    half = 1.96 * error.number() if known and error is not None else None
    return Measured(kind, (value,), None if half is None else (value - half, value + half), n)
