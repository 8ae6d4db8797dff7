"""The Store: every question that the stages, the site and the reports may ask of the database, in domain words."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from sqlalchemy import Engine, create_engine, func, make_url, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import ArgumentError

from perfd.config import Config
from perfd.domain.alarm import Standing
from perfd.errors import BadInputError
from perfd.store import migrate, tables
from perfd.store.access_tokens import AccessTokens
from perfd.store.alarms import Alarms
from perfd.store.alive import look_before_use
from perfd.store.arrivals import Arrivals
from perfd.store.audit import Audit
from perfd.store.bisects import Bisects
from perfd.store.builds import Builds
from perfd.store.cancelling import Cancelling
from perfd.store.confirmations import Confirmations
from perfd.store.deliveries import Deliveries
from perfd.store.devices import Devices
from perfd.store.embedded import EmbeddedPostgres
from perfd.store.figures import Figures, figures
from perfd.store.forecast import Forecast
from perfd.store.judgements import Judgements
from perfd.store.launches import Launches
from perfd.store.locks import session_lock
from perfd.store.occasions import Occasions
from perfd.store.outbox import Outbox
from perfd.store.pages import Pages
from perfd.store.plans import Plans
from perfd.store.posts import Posts
from perfd.store.pull_jobs import PullJobs
from perfd.store.pulls import Pulls
from perfd.store.regressions import Regressions
from perfd.store.runs import Runs
from perfd.store.saved_views import SavedViews
from perfd.store.standing import standing
from perfd.store.subjects import Subjects
from perfd.store.submissions import Submissions
from perfd.store.todos import Todos
from perfd.store.trust import Trust
from perfd.store.usage import Usage
from perfd.store.web_sessions import WebSessions
from perfd.store.workers import Workers


@dataclass(frozen=True)
class Store:
    """The questions by what they are about. Every call is one transaction of its own; none stays open in between."""

    engine: Engine

    @property
    def occasions(self) -> Occasions:
        """Nights, Checkpoints, comparisons, and findings about them."""
        return Occasions(self.engine)

    @property
    def subjects(self) -> Subjects:
        """Engines, Kernels and their Revisions."""
        return Subjects(self.engine)

    @property
    def builds(self) -> Builds:
        """Builds to be made, and what became of them."""
        return Builds(self.engine)

    @property
    def runs(self) -> Runs:
        """Runs to be measured, and what became of them."""
        return Runs(self.engine)

    @property
    def devices(self) -> Devices:
        """What can be measured on, and what may not be."""
        return Devices(self.engine)

    @property
    def submissions(self) -> Submissions:
        """What long Runs handed in."""
        return Submissions(self.engine)

    @property
    def judgements(self) -> Judgements:
        """Histories of Series; Verdicts and Changes."""
        return Judgements(self.engine)

    @property
    def regressions(self) -> Regressions:
        """What someone must answer."""
        return Regressions(self.engine)

    @property
    def confirmations(self) -> Confirmations:
        """Re-measurements of what someone must answer."""
        return Confirmations(self.engine)

    @property
    def bisects(self) -> Bisects:
        """Searches for the commit that brought a difference."""
        return Bisects(self.engine)

    @property
    def launches(self) -> Launches:
        """Launches and their Checkpoints."""
        return Launches(self.engine)

    @property
    def todos(self) -> Todos:
        """What Launches can still use."""
        return Todos(self.engine)

    @property
    def trust(self) -> Trust:
        """How often perfd was wrong."""
        return Trust(self.engine)

    @property
    def arrivals(self) -> Arrivals:
        """Results that were measured elsewhere."""
        return Arrivals(self.engine)

    @property
    def access_tokens(self) -> AccessTokens:
        """Tokens for programs."""
        return AccessTokens(self.engine)

    @property
    def web_sessions(self) -> WebSessions:
        """Browsers that are logged in."""
        return WebSessions(self.engine)

    @property
    def saved_views(self) -> SavedViews:
        """Names for addresses of pages."""
        return SavedViews(self.engine)

    @property
    def audit(self) -> Audit:
        """Who did what."""
        return Audit(self.engine)

    @cached_property
    def pages(self) -> Pages:
        """What pages and reports show.

        Each statement commits by itself: under READ COMMITTED a transaction around several would see no more of one moment,
        and would be two journeys more to the database for every question.
        """
        return Pages(self.engine.execution_options(isolation_level="AUTOCOMMIT"))

    @property
    def workers(self) -> Workers:
        """Who is alive."""
        return Workers(self.engine)

    @property
    def alarms(self) -> Alarms:
        """What is late, and who was told."""
        return Alarms(self.engine)

    def standing(self, now: datetime) -> Standing:
        """What is owed, and how far it has come."""
        return standing(self.engine, now)

    def figures(self, since: datetime) -> Figures:
        """What a monitor counts, and no page shows."""
        return figures(self.engine, since)

    @property
    def outbox(self) -> Outbox:
        """Messages on their way out."""
        return Outbox(self.engine)

    @property
    def deliveries(self) -> Deliveries:
        """Webhooks."""
        return Deliveries(self.engine)

    @property
    def pulls(self) -> Pulls:
        """Pull requests."""
        return Pulls(self.engine)

    @property
    def pull_jobs(self) -> PullJobs:
        """The answering of pull requests."""
        return PullJobs(self.engine)

    @property
    def posts(self) -> Posts:
        """Comments and checks."""
        return Posts(self.engine)

    @contextmanager
    def post_lock(self, post: int) -> Iterator[bool]:
        """Whether this process may send that comment or check while the block runs."""
        with session_lock(self.engine, f"post:{post}") as got:
            yield got

    @property
    def plans(self) -> Plans:
        """What occasions owe."""
        return Plans(self.engine)

    @property
    def forecast(self) -> Forecast:
        """How long Runs will take."""
        return Forecast(self.engine)

    @property
    def cancelling(self) -> Cancelling:
        """What will not be done."""
        return Cancelling(self.engine)

    @property
    def usage(self) -> Usage:
        """How devices spent their time."""
        return Usage(self.engine)

    @contextmanager
    def device_lock(self, host: str, name: str) -> Iterator[bool]:
        """Whether this process may measure on the device while the block runs; let go when it dies."""
        with session_lock(self.engine, f"device:{host}:{name}") as got:
            yield got

    @contextmanager
    def clock_lock(self) -> Iterator[bool]:
        """Whether this process is the one clock while the block runs."""
        with session_lock(self.engine, "clock") as got:
            yield got

    def time(self) -> datetime:
        """The database's time, in UTC."""
        with self.engine.begin() as connection:
            found: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
        return found.astimezone(UTC)

    def began_at(self, now: datetime) -> datetime:
        """When perfd began on this database: `now` when it is asked for the first time, and the same ever after."""
        began = insert(tables.service).values(id=1, began_at=now).on_conflict_do_nothing()
        with self.engine.begin() as connection:
            connection.execute(began)
            found: datetime = connection.execute(select(tables.service.c.began_at)).scalar_one()
        return found


@contextmanager
def open_store(config: Config) -> Iterator[Store]:
    """The store that the configuration names: an outside Postgres, or the embedded one, started when nobody runs it yet.

    The embedded database is brought to this perfd's schema; an outside one must be there already (`perfd db upgrade`).
    """
    with ExitStack() as stack:
        url = stack.enter_context(open_database(config.state, config.database_url))
        if config.database_url is None:
            migrate.upgrade(url)
        migrate.check(url)
        engine = make_engine(url)
        stack.callback(engine.dispose)
        yield Store(engine)


@contextmanager
def open_database(state: Path, database_url: str | None) -> Iterator[str]:
    """The URL of a running database; with none given, of the embedded one in the state folder."""
    if database_url is not None:
        yield with_driver(database_url)
        return
    with EmbeddedPostgres(state) as server:
        yield server.url


def with_driver(url: str) -> str:
    """The URL as SQLAlchemy must be given it: people write postgres:// or postgresql://, as psql does.

    Raises BadInputError, without the URL's password, for one that is no Postgres URL.
    """
    scheme, mark, rest = url.partition("://")
    whole = f"postgresql+psycopg://{rest}" if mark and scheme in {"postgres", "postgresql"} else url
    try:
        driver = make_url(whole).drivername
    except (ArgumentError, ValueError):  # ValueError: a port that is no number, or a bracket that is not closed
        driver = "something else"
    if driver != "postgresql+psycopg":
        raise BadInputError(
            f"PERFD_DATABASE_URL: expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE, saw {driver}; "
            "correct it, or unset it to use perfd's own Postgres"
        )
    return whole


def make_engine(url: str) -> Engine:
    """An engine whose connections survive a restart of the server.

    The connection that was given back last is taken first: its plans are made and its caches are warm.
    """
    engine = create_engine(url, connect_args={"connect_timeout": 10, "application_name": "perfd"}, pool_use_lifo=True)
    look_before_use(engine)
    return engine
