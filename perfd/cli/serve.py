"""`perfd serve`: the site, the clock and a worker in one process."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
from fastapi import FastAPI

from perfd.cli import main
from perfd.cli.group import FINE, answer, json_option
from perfd.cli.opened import opened
from perfd.cli.tell import Teller
from perfd.cli.weekly import owe
from perfd.errors import PerfdError
from perfd.forge import github_login
from perfd.schedule import start_clock
from perfd.site.app import create_app
from perfd.site.serve import LOOPBACK, PORT, listen, serve_site
from perfd.site.site import Site
from perfd.stages.about import about
from perfd.stages.alarms import keep_watch
from perfd.stages.attend import answer_pulls, converse
from perfd.stages.context import Context
from perfd.stages.launching import open_due_checkpoints
from perfd.stages.night import next_night, open_due_night, work_off
from perfd.stages.retention import Retention
from perfd.store.trouble import DATABASE_GONE, said

LOOK_S = 2.0
ALARMS_EVERY_S = 60.0
RETENTION_EVERY_S = 600.0
ENDS_WITHIN_S = 30.0


@main.command()
@click.option("--host", default=LOOPBACK, show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one."
)
@click.option("--clock/--no-clock", default=True, help="Whether this process opens nights when they are due.")
@click.option("--worker/--no-worker", default=True, help="Whether this process builds and measures, too.")
@json_option
@click.pass_obj
def serve(config_path: Path | None, host: str, port: int, clock: bool, worker: bool, as_json: bool) -> int:
    """Serve the site; with it run the clock, which opens the nightly when it is due, and a worker, which does the work."""
    with Teller() as tell, ExitStack() as stack:
        listening = listen(host, port)  # before anything is started: a port that is taken is told at once
        stack.callback(listening.close)
        context = stack.enter_context(opened(config_path, tell))
        url = f"http://{host}:{listening.getsockname()[1]}"
        if as_json:
            answer({"url": url, "next_night": next_night(context.config.schedule, context.now())})
        if clock:
            stack.enter_context(_ticking(context))
            stack.enter_context(_in_background("retention", Retention(context), context, RETENTION_EVERY_S))
        if worker:
            stack.enter_context(_in_background("worker", lambda: work_off(context), context))
        # Also where no repository is configured: a pipeline may ask for a comparison.
        stack.enter_context(_in_background("forge", lambda: converse(context), context))
        # Apart from that: the first clone of a large engine must not keep another pull request waiting for its first word.
        stack.enter_context(_in_background("pull", lambda: answer_pulls(context), context))
        # Also without the clock: a site that lives on tells that the clock, or the last worker, has gone.
        stack.enter_context(_in_background("alarms", lambda: keep_watch(context), context, ALARMS_EVERY_S))
        tell.say("serve", f"{url}   (Ctrl-C ends it)")
        serve_site(_site(context), listening, context.over)
    return FINE


def _site(context: Context) -> FastAPI:
    config = context.config
    app = create_app(
        context.store,
        clock=context.now,
        schedule=config.schedule,
        webhook_secret=config.github.webhook_secret,
        access=config.site,
        address=config.github.site,
        github_login=github_login(config.github, config.site),
        recent_s=1.0,
    )
    site: Site = app.state.site
    site.pages.prepare()
    return app


@contextmanager
def _ticking(context: Context) -> Iterator[None]:
    """This process is the clock while it can be; another one may be it already, and then this one takes over when that ends."""

    def own() -> bool:
        with context.store.clock_lock() as mine:
            if not mine:
                return False
            clock = start_clock(context.config.schedule, lambda: _fire(context))
            try:
                context.over.wait()
            finally:
                clock.shutdown(wait=False)
        return True

    with _in_background("clock", own, context):
        yield


def _fire(context: Context) -> None:
    """What is due is opened; while the database does not answer that is told in a line, and done when the clock fires again."""
    try:
        _open_due(context)
    except DATABASE_GONE as error:
        with about(level="warning"):
            context.tell.say("clock", f"the database does not answer ({said(error)})")


def _open_due(context: Context) -> None:
    night = open_due_night(context.store, context.config.schedule, context.now())
    if night is not None:
        context.tell.say("clock", f"{night.name} is due")
    open_due_checkpoints(context)
    owe(context)
    context.store.alarms.looked(context.now())


@contextmanager
def _in_background(name: str, work: Callable[[], object], context: Context, pause_s: float = LOOK_S) -> Iterator[None]:
    """`work` is called again and again in a thread of its own until the block ends; trouble is told, and tried again.

    A fault of perfd's own ends the whole service, and is raised when the block ends: a site that lives on without its worker
    would look well, and no service manager would start it again.
    """
    faults: list[Exception] = []

    def keep_on() -> None:
        try:
            repeat()
        except Exception as fault:  # noqa: BLE001  # raised again below, in the thread that ends the process
            faults.append(fault)
            context.over.set()

    def repeat() -> None:
        while not context.over.is_set():
            try:
                work()
            except PerfdError as error:
                trouble = error.message
            except DATABASE_GONE as error:
                trouble = f"the database does not answer ({said(error)})"
            else:
                trouble = ""
            if trouble:
                with about(level="warning"):
                    context.tell.say(name, trouble)
            context.over.wait(pause_s)

    thread = threading.Thread(target=keep_on, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        context.over.set()
        thread.join(ENDS_WITHIN_S)
    if faults:
        raise faults[0]
