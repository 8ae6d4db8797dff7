"""`perfd ci`: the answer to a pull request from inside the user's own pipeline."""

import os
from dataclasses import replace
from pathlib import Path

import click

from perfd.builders import worktree
from perfd.cli import main
from perfd.cli.ci_answer import Reply, deliver, reply_of, reply_of_artefact
from perfd.cli.ci_server import ask_server
from perfd.cli.group import answer, json_option
from perfd.cli.opened import read_config
from perfd.cli.tell import Teller
from perfd.config import Config, GitHubRepository
from perfd.domain.codec import to_json
from perfd.errors import BadInputError
from perfd.forge.actions import PipelineFacts, facts_of
from perfd.forge.artefact import read_artefact, written
from perfd.rules.trust import VOUCHED
from perfd.stages.context import Context, worker_name
from perfd.stages.spot import Found, Spot, answer_here, in_checkout
from perfd.store import open_store

FILE = click.Path(path_type=Path, dir_okay=False)


@main.command()
@click.option("--base", default="", metavar="REF", help="Compare with this commit, branch or tag, not with the merge base.")
@click.option("--onto", default="", metavar="REF", help="The branch to find the merge base with; default: the pull request's.")
@click.option("--head", default="", metavar="REF", help="The commit to judge; default: the pull request's head, else HEAD.")
@click.option("--engine", default="", help="The engine to build from this checkout; default: the repository's, else the first.")
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Measure all of this suite (may be given again).")
@click.option("--server", default="", metavar="URL", help="Let this perfd measure, with PERFD_TOKEN, instead of this machine.")
@click.option("--cage", is_flag=True, help="Run the code in a cage, as on a runner that outlives this job.")
@click.option("--repository", default="", metavar="OWNER/NAME", help="Where to comment; default: GITHUB_REPOSITORY.")
@click.option("--pull", type=click.IntRange(1), metavar="N", help="The pull request's number; default: that of the event.")
@click.option("--comment/--no-comment", "comments", default=True, help="Whether to comment where a GITHUB_TOKEN is at hand.")
@click.option("--save", type=FILE, help="Write the answer into this file, too, for --from.")
@click.option("--from", "saved", type=FILE, help="Measure nothing: comment the answer that --save wrote elsewhere.")
@json_option
@click.pass_obj
def ci(
    config_path: Path | None,
    base: str,
    onto: str,
    head: str,
    engine: str,
    suites: tuple[str, ...],
    server: str,
    cage: bool,
    repository: str,
    pull: int | None,
    comments: bool,
    save: Path | None,
    saved: Path | None,
    as_json: bool,
) -> int:
    """Compare a pull request with its merge base, here and now, and print the answer as Markdown.

    Start it in a checkout of the engine's repository with its whole history. Exit code 1: a gated metric is worse; 2: unsure, not
    comparable, or something was not measured.
    """
    facts = facts_of(os.environ)
    facts = replace(facts, repository=repository or facts.repository, pull=pull or facts.pull)
    with Teller() as tell:
        if saved is not None:
            made, number = read_artefact(saved)
            reply = reply_of_artefact(made, number, facts, head)
            facts = replace(facts, pull=number)
        else:
            config = read_config(config_path)
            spot = _spot(config, facts, (base, onto, head), engine, suites)
            # Without a cage the label says so: a runner that is thrown away has nothing that the code could spoil.
            spot = spot if cage else replace(spot, label=f"{spot.label} {VOUCHED}")
            configured = config.github.repository(facts.repository)
            found = ask_server(server, spot, configured, tell) if server else _measured(config, spot, configured, tell)
            reply = reply_of(found)
            if save is not None and reply.answer is not None:
                save.write_text(written(reply.answer, facts.pull), encoding="utf-8")
        url = deliver(reply, facts, tell) if comments else ""
    if as_json:
        answer({"conclusion": reply.conclusion, "title": reply.title, "url": url, "markdown": reply.body, **_document(reply)})
    else:
        click.echo(reply.body)
    return reply.exit_code


def _spot(config: Config, facts: PipelineFacts, refs: tuple[str, str, str], engine: str, suites: tuple[str, ...]) -> Spot:
    """The two commits in this checkout; raises BadInputError where one of them cannot be told."""
    base, onto, head = refs
    folder = worktree.top_of(Path.cwd())
    head_commit = worktree.commit_of(folder, head or facts.head or "HEAD")
    configured = config.github.repository(facts.repository)
    name = engine or (configured.engine if configured else config.engines[0].name)
    tip, branch = "", onto or facts.base_branch
    if base:
        base_commit = worktree.commit_of(folder, base)
    else:
        if not branch:
            raise BadInputError("there is no pull request in this environment: give --onto BRANCH, or --base REF")
        tip = worktree.commit_of(folder, onto or facts.base)
        base_commit = worktree.merge_base_of(folder, tip, head_commit)
    # A folder may be called anything: a second word of its name must not vouch for the code.
    where = facts.repository or "-".join(folder.name.split())
    label = f"pull {where}{f'#{facts.pull}' if facts.pull else ''} {base_commit[:12]}..{head_commit[:12]}"
    remarks = tuple(_remarks(config, folder, base_commit, head_commit))
    return Spot(folder, name, base_commit, head_commit, label, branch, tip, base, suites, remarks)


def _remarks(config: Config, folder: Path, base: str, head: str) -> list[str]:
    """What a reader must know: here the pull request's own configuration and suites measured it, if it brought any."""
    if base == head:
        return ["base and head are the same commit: this measures nothing but the noise"]
    own = [path.resolve() for path in (config.path, config.suites_folder) if path is not None]
    touched = [
        name
        for name in worktree.paths_between(folder, base, head)
        if any(path == folder / name or path in (folder / name).parents for path in own)
    ]
    return [f"the change touches what it was measured by: {', '.join(touched[:5])}"] if touched else []


def _measured(config: Config, spot: Spot, configured: GitHubRepository | None, tell: Teller) -> Found:
    here = in_checkout(config, spot.engine, spot.folder)
    with open_store(here) as store:
        return answer_here(Context(here, store, tell, worker_name()), spot, configured)


def _document(reply: Reply) -> dict[str, object]:
    """The numbers of the answer, for programs."""
    made = reply.answer
    if made is None:
        return {"answer": None}
    return {"answer": {**to_json(made), "rows": [to_json(row) for row in made.rows]}}
