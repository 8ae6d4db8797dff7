"""`perfd import FORMAT FILE…`: results of other tools become Runs, Points and Verdicts."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from perfd.cli import main
from perfd.cli.group import FINE, answer, json_option
from perfd.cli.opened import opened
from perfd.cli.tell import Teller
from perfd.domain.metric import Better
from perfd.domain.results import MOST_BYTES
from perfd.domain.subject import SubjectKind
from perfd.errors import BadInputError
from perfd.importers import FORMATS, Given, Source, read
from perfd.importers.formats import AUTO, found
from perfd.rules.arrivals import points_of
from perfd.stages.context import Context
from perfd.stages.judge import judge
from perfd.store.records import Written


@dataclass(frozen=True)
class Imported:
    """What became of a file."""

    file: str
    format: str
    runs: int
    stored: int
    already: int
    refused: int
    seconds: float


@main.command("import")
@click.argument("format_name", metavar="FORMAT", type=click.Choice([AUTO, *FORMATS]))
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--subject", "--engine", default="", metavar="NAME", help="What was measured; default: as the file names it.")
@click.option(
    "--kind",
    type=click.Choice([one.value for one in SubjectKind]),
    default="engine",
    show_default=True,
    help="Whether that is an engine or a kernel.",
)
@click.option("--branch", default="", help="The branch of its commits; default: as the file names it, or main.")
@click.option("--revision", default="", help="The commit or version that was measured, where the file does not say.")
@click.option(
    "--device-class", default="", metavar="CLASS", help="What it was measured on; default: the machine as the file tells it."
)
@click.option("--workload", default="", metavar="NAME", help="Another name for the benchmark of a file that holds only one.")
@click.option("--model", default="", metavar="NAME", help="The model that was served; default: as the file names it.")
@click.option("--quantisation", default="", metavar="WORD", help="How its weights are quantised.")
@click.option("--parallelism", default="", metavar="WORD", help="How its weights are spread over devices, such as tp2.")
@click.option(
    "--better",
    multiple=True,
    metavar="MEASURE=WAY",
    help="Which way is better, lower or higher, where nothing says so (may be given again).",
)
@click.option(
    "--at", type=click.DateTime(), help="When it was measured, in UTC, where the file does not say; default: the file's own time."
)
@json_option
@click.pass_obj
def import_(
    config_path: Path | None,
    /,
    format_name: str,
    files: tuple[Path, ...],
    better: tuple[str, ...],
    at: datetime | None,
    as_json: bool,
    **words: str,
) -> int:
    """Read results that another tool measured. FORMAT is the tool's name, or auto.

    A file is taken whole or not at all, and twice is once. asv's FILE is its folder of results. Every Series that got
    Points is judged at the end.
    """
    ways = dict(_way(one) for one in better)
    kind = SubjectKind(words.pop("kind"))
    sources = [(path, _source(path)) for path in files]
    with Teller() as tell, opened(config_path, tell) as context:
        done = []
        for path, source in sources:
            moment = at.replace(tzinfo=UTC) if at else datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
            given = Given(moment, kind=kind, better=ways, **words)
            done.append(_take(context, format_name, source, given))
            tell.say("import", _sentence(done[-1]))
        judged = _judge(context) if any(one.stored for one in done) else 0
    if as_json:
        answer({"files": done, "occasions_judged": judged})
    else:
        for one in done:
            click.echo(_sentence(one))
    return FINE


def _way(told: str) -> tuple[str, Better]:
    measure, _, way = told.rpartition("=")
    if not measure or way not in {*Better}:
        raise BadInputError(f"--better {told}: expected MEASURE=lower or MEASURE=higher")
    return measure, Better(way)


def _source(path: Path) -> Source:
    """The bytes of the file, or of the JSON files of the folder; raises BadInputError before too much is read."""
    try:
        if not path.is_dir():
            return Source(str(path), _bytes(path, path.stat().st_size))
        inside = sorted(one for one in path.rglob("*.json") if one.is_file())
        total = sum(one.stat().st_size for one in inside)
        if not inside:
            raise BadInputError(f"{path}: a folder without any JSON file; expected asv's folder of results")
        return Source(str(path), b"", {one.relative_to(path).as_posix(): _bytes(one, total) for one in inside})
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror})") from None


def _bytes(path: Path, size: int) -> bytes:
    if size > MOST_BYTES:
        raise BadInputError(f"{path}: {size:,} bytes, and at most {MOST_BYTES:,} are read")
    return path.read_bytes()


def _take(context: Context, format_name: str, source: Source, given: Given) -> Imported:
    began = time.monotonic()
    name = found(source) if format_name == AUTO else format_name
    arrivals = read(format_name, source, given)
    try:
        taken = context.store.arrivals.take_all(arrivals, [points_of(one) for one in arrivals], context.now())
    except BadInputError as error:
        raise BadInputError(f"{source.name}: {error.message}") from None
    many = {what: sum(one.written is what for one in taken) for what in Written}
    seconds = round(time.monotonic() - began, 2)
    return Imported(source.name, name, len(taken), many[Written.STORED], many[Written.ALREADY], many[Written.REFUSED], seconds)


def _sentence(one: Imported) -> str:
    refused = f", {one.refused} refused because other results stand under their keys" if one.refused else ""
    return f"{one.file} ({one.format}): {one.stored} runs stored, {one.already} already there{refused}, in {one.seconds} s"


def _judge(context: Context) -> int:
    """Every occasion that waits for the judge is judged; how many."""
    count = 0
    while judge(context):
        count += 1
    return count
