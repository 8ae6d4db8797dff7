"""Suites: from `suites/*.toml` to Suite and Workload. Every mistake of a file is told at once, each with its line.

A suite file has a question and [[workloads]]; docs/suites.md explains every key. Data files lie in `suites/data/`, and their
hash is part of a Workload's identity.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from perfd.config.lines import lines_of
from perfd.config.table import Mistakes, Table
from perfd.domain.data import data_hash, hashes_of
from perfd.domain.identity import Json
from perfd.domain.limit import Limit
from perfd.domain.metric import METRICS
from perfd.domain.suite import Suite, Workload, WorkloadClass
from perfd.errors import BadInputError

DATA_FOLDER = "data"
CLASSES = tuple(one.value for one in WorkloadClass if one is not WorkloadClass.KERNEL)
"""Kernels are files, not Workloads of a suite: each is found by its path."""
LEAST_TOP_K = 2
PROMPT_KINDS = ("chat", "agentic", "long_context", "multimodal", "batch")
WHOLES: Mapping[str, int] = {
    **dict.fromkeys(("turns", "parallel_calls", "agent_turns", "needles", "asked_needles", "width", "height"), 1),
    **dict.fromkeys(("growth_tokens", "context_most", "tools", "agents", "images", "frames"), 0),
}
"""Whole parameters of a load that few have, each with the least that it may be."""
NUMBERS = (
    *("prompt_p90", "prompt_most", "output_p90", "output_most", "growth_p90", "growth_most"),
    *("think_s", "think_p90", "think_most", "turn_tail"),
)
FLAGS = ("live", "reuse_prefix", "reuse_images")
TASKS = ("gsm8k", "humaneval", "bfcl", "retrieval")


def load_suites(folder: Path) -> tuple[Suite, ...]:
    """Every suite of the folder, by name; raises BadInputError with all mistakes of all files."""
    if not folder.is_dir():
        raise BadInputError(f'{folder}: there is no such folder; name the folder of suites in perfd.toml ([suites] folder = "…")')
    suites, told = [], []
    for path in sorted(folder.glob("*.toml")):
        try:
            suites.append(load_suite(path))
        except BadInputError as error:
            told.append(error.message)
    if told:
        raise BadInputError("\n".join(told))
    return tuple(suites)


def load_suite(path: Path) -> Suite:
    """The suite in one file; its name is the file's. Raises BadInputError with one line for each mistake."""
    text = _text(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(f"{path}: no valid TOML: {error}") from None
    mistakes = Mistakes(str(path), lines_of(text))
    root = Table(mistakes, (), document)
    question = root.text("question")
    nightly = root.flag("nightly", default=True)
    engines = root.texts("engines", ())
    tables = root.tables("workloads")
    if not tables:
        mistakes.add(("workloads",), "a suite needs at least one [[workloads]]")
    workloads = tuple(_workload(table, path) for table in tables)
    root.close()
    _check_names(mistakes, [workload.name for workload in workloads])
    if mistakes.told:
        raise BadInputError(str(mistakes))
    return Suite(path.stem, question, workloads, nightly, engines)


def suites_for(engine: str, folder: Path) -> tuple[str, ...]:
    """Names of the suites of the folder that say themselves that the Engine runs them; a broken file is passed over."""
    return tuple(path.stem for path in sorted(folder.glob("*.toml")) if engine in _engines(path))


def _engines(path: Path) -> tuple[str, ...]:
    try:
        named = tomllib.loads(_text(path)).get("engines", ())
    except (tomllib.TOMLDecodeError, BadInputError):
        return ()
    return tuple(named) if isinstance(named, list) else ()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: byte {error.start} is no UTF-8; TOML files are UTF-8 text") from None
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}") from None


def _check_names(mistakes: Mistakes, names: list[str]) -> None:
    for index, name in enumerate(names):
        if name and name in names[:index]:
            mistakes.add(("workloads", index, "name"), f'the workload "{name}" is there twice; give it another name')


def _workload(table: Table, path: Path) -> Workload:
    name = table.text("name")
    kind = table.choice("class", CLASSES)
    known = kind in CLASSES
    question = table.text("question")
    seed = table.whole("seed", default=0, least=0)
    time_limit_s = table.number("time_limit_s", default=300.0, least=1.0)
    inner = table.table("parameters", needed=True)
    own = inner.values.get("metric") if kind == WorkloadClass.LONG_RUN.value else None
    limits = tuple(_limit(one, own) for one in table.tables("limits"))
    if kind == WorkloadClass.ACCURACY.value:
        parameters, files = _accuracy(inner)
    elif kind == WorkloadClass.LONG_RUN.value:
        parameters, files = _long_run(inner)
        if float(parameters["work_s"]) >= time_limit_s:
            told = f"the work alone may take {parameters['work_s']:g} s, and all of the Run {time_limit_s:g} s"
            table.wrong("time_limit_s", f"{told}; give it time to score")
    elif known:
        parameters, files = _serving(inner, kind), ()
    else:
        parameters, files = {}, ()
    if known:
        inner.close()
    table.close()
    return Workload(
        suite=path.stem,
        name=name,
        workload_class=WorkloadClass(kind) if known else WorkloadClass.CHAT,
        parameters=parameters,
        seed=seed,
        data_hash=_data_hash(inner, path.parent / DATA_FOLDER, files),
        time_limit_s=time_limit_s,
        question=question,
        limits=limits,
    )


def _limit(table: Table, own: Json) -> Limit:
    """A level that a Metric may not pass, one of the catalogue or the long Run's own.

    `unit` is said again so that a reader of the file sees it, and checked where the catalogue knows it.
    """
    metric = table.choice("metric", [*METRICS, own] if isinstance(own, str) else METRICS)
    unit = table.text("unit")
    if metric in METRICS and unit and unit != METRICS[metric].unit:
        table.wrong("unit", f'{metric} is told in "{METRICS[metric].unit}", not in "{unit}"')
    made = Limit(
        metric=metric,
        worst=table.number("worst", 0.0, 0.0),
        device_class=table.text("device_class"),
        engine=table.text("engine"),
        model=table.text("model", ""),
    )
    if "worst" not in table.values:
        table.wrong("worst", 'a limit needs "worst" (a number, in the Metric\'s unit)')
    table.close()
    return made


def _serving(table: Table, kind: str) -> dict[str, Json]:
    """Parameters of a load; what is not written is filled in, so that a default that changes makes another Workload."""
    usual = kind if kind in {"long_context", "multimodal"} else "chat"
    parameters: dict[str, Json] = {
        "requests": table.whole("requests", default=1, least=1),
        "warmup_requests": table.whole("warmup_requests", default=0, least=0),
        "prompts": table.choice("prompts", PROMPT_KINDS, usual),
        "api": table.choice("api", ["chat", "completions"], "chat"),
        "prompt_tokens": table.whole("prompt_tokens", default=1, least=1),
        "output_tokens": table.whole("output_tokens", default=1, least=1),
        "system_tokens": table.whole("system_tokens", default=0, least=0),
        "temperature": table.number("temperature", default=0.0, least=0.0),
        "ignore_eos": table.flag("ignore_eos", default=True),
        **_offered(table),
    }
    for name in ("calibrate_s", "send_lag_p99_s"):
        seconds = table.number(name, default=0.0, least=0.0)
        if seconds:
            parameters[name] = seconds
    if parameters["prompts"] == "agentic":
        parameters |= {
            "turns": table.whole("turns", default=2, least=1),
            "growth_tokens": table.whole("growth_tokens", default=0, least=0),
            "think_s": table.number("think_s", default=0.0, least=0.0),
        }
    parameters |= _varied(table)
    _check_load(table, parameters)
    return parameters


def _varied(table: Table) -> dict[str, Json]:
    """What a load has only where it is written: spreads, sessions, tools, needles, pictures."""
    found: dict[str, Json] = {}
    for name, least in WHOLES.items():
        if name in table.values:
            found[name] = table.whole(name, default=least, least=least)
    for name in NUMBERS:
        if name in table.values:
            found[name] = table.number(name, default=0.0, least=0.0)
    for name in FLAGS:
        if name in table.values:
            found[name] = table.flag(name, default=False)
    return found


def _check_load(table: Table, parameters: Mapping[str, Json]) -> None:
    for key in ("requests", "prompt_tokens", "output_tokens"):
        if key not in table.values:
            table.wrong(key, f'a load needs "{key}" (a whole number of at least 1)')
    if isinstance(table.values.get("requests"), int) and int(parameters["requests"]) <= int(parameters["warmup_requests"]):
        table.wrong("warmup_requests", "every request is warm-up, so nothing would be measured; give more requests")
    if int(parameters.get("asked_needles", 1)) > int(parameters.get("needles", 1)):
        table.wrong("asked_needles", 'more needles are asked for than there are; give more "needles"')


def _offered(table: Table) -> dict[str, Json]:
    """How much load: requests at once, or requests a second."""
    offered: dict[str, Json] = {}
    concurrency, rate_rps = table.whole("concurrency", default=0, least=0), table.number("rate_rps", default=0.0, least=0.0)
    arrival = table.choice("arrival", ["poisson", "constant", "gamma"], "poisson")
    burstiness = table.number("burstiness", default=1.0, least=0.001)
    if concurrency:
        offered["concurrency"] = concurrency
    if rate_rps:
        offered |= {"rate_rps": rate_rps, "arrival": arrival}
    if arrival == "gamma":
        offered["burstiness"] = burstiness
    if not offered:
        table.wrong("concurrency", 'a load needs "concurrency" (requests at once) or "rate_rps" (requests a second)')
    return offered


def _accuracy(table: Table) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Parameters of an accuracy Workload, and the data files that it reads."""
    kind = table.choice("kind", ["likelihood", "greedy_agreement", "numerics", "task"])
    if kind == "task":
        return {"kind": kind, **_task(table)}, ()
    if kind == "numerics":
        files = (table.text("documents"), table.text("reference"))
        return {"kind": kind, "documents": files[0], "reference": files[1]}, files
    if kind == "likelihood":
        documents = table.text("documents")
        return {"kind": kind, "documents": documents, "top_k": table.whole("top_k", 100, LEAST_TOP_K)}, (documents,)
    reference = table.text("reference")
    return {"kind": kind, "reference": reference, "output_tokens": table.whole("output_tokens", 32, 1)}, (reference,)


def _long_run(table: Table) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Parameters of a long Run, and the data that it is made of: files and folders of the data folder."""
    names = {key: table.text(key, None if key != "files" else "") for key in ("files", "validation", "held_out", "scorer")}
    if names["validation"] and names["validation"] == names["held_out"]:
        table.wrong("held_out", "the held-out set must be another than the validation set, which the work sees")
    parameters: dict[str, Json] = {
        **names,
        "work": list(table.texts("work")),
        "score": list(table.texts("score")),
        "metric": table.text("metric"),
        "work_s": table.number("work_s", 3600.0, 0.1),
        "score_s": table.number("score_s", 60.0, 0.1),
        "repeats": table.whole("repeats", 3, 1),
        "most_submissions": table.whole("most_submissions", 200, 1),
        "most_bytes": table.whole("most_bytes", 1_000_000, 1),
        "engine": table.flag("engine", default=False),
    }
    return parameters, tuple(names.values())


def _task(table: Table) -> dict[str, Json]:
    """Parameters of a task. Its items lie outside the project, so what pins them is a hash beside their name."""
    task = table.choice("task", TASKS)
    parameters: dict[str, Json] = {
        "task": task,
        "items": table.whole("items", default=0, least=0),
        "output_tokens": table.whole("output_tokens", default=256, least=1),
        "concurrency": table.whole("concurrency", default=1, least=1),
    }
    if task == "retrieval":
        keys = table.whole("keys", default=1, least=1)
        return {**parameters, "context_tokens": table.whole("context_tokens", default=1024, least=64), "keys": keys}
    parameters |= {"path": table.text("path", ""), "data_sha256": table.text("data_sha256", "")}
    if task == "gsm8k":
        parameters["shots"] = table.whole("shots", default=5, least=0)
    if task == "bfcl":
        parameters |= {"category": table.text("category"), "native_tools": table.flag("native_tools", default=False)}
    return parameters


def _data_hash(table: Table, folder: Path, names: tuple[str, ...]) -> str:
    """Over the names and contents of the files; "" where there are none."""
    hashes: dict[str, str] = {}
    for name in filter(None, names):
        try:
            hashes |= hashes_of(folder, name)
        except OSError as error:
            key = next(key for key, value in table.values.items() if value == name)
            table.wrong(key, f"{folder / name}: the data file cannot be read ({error.strerror})")
    return data_hash(hashes)
