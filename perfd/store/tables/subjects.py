"""What is measured: subjects, their Revisions, the Builds of these, and the Models that engines serve."""

from sqlalchemy import CheckConstraint, Index, Table, UniqueConstraint
from sqlalchemy import text as sql

from perfd.domain.build import BuildState
from perfd.domain.subject import SubjectKind
from perfd.store.tables.columns import METADATA, document, identity, large, moment, number, one_of, reference, text, whole

subject = Table(
    "subject",
    METADATA,
    identity(),
    text("name", "The Engine's name in perfd.toml, or the Kernel's file name without its ending.", unique=True),
    text("kind", "engine or kernel."),
    one_of("kind", SubjectKind),
    comment="An Engine or a Kernel: something whose performance is followed.",
)

revision = Table(
    "revision",
    METADATA,
    identity(),
    reference("subject_id", "subject", "Whose Revision it is."),
    text("branch", "The branch on which `ordinal` counts; a commit on two branches has two rows."),
    text("name", "The full commit hash, the version, or the content hash."),
    whole("ordinal", "Its place on the branch, counted from the oldest; Series are ordered by it."),
    moment("committed_at", "When it was committed or released; NULL where the source does not tell.", null=True),
    text("title", "The first line of the commit message, or of the release.", default=""),
    text("parent", "Name of the first parent; NULL for the oldest.", null=True),
    UniqueConstraint("subject_id", "branch", "name"),
    Index(None, "subject_id", "branch", "ordinal"),
    comment="A commit of a subject's source, a released version, or the hash of a file's content.",
)

build = Table(
    "build",
    METADATA,
    identity(),
    text("digest", "The content address: sha256 over everything in `spec`.", unique=True),
    reference("subject_id", "subject", "What was built."),
    text("revision", "Name of the Revision that was built."),
    document("spec", "The ingredients: recipe, recipe hash, toolchain, dependencies.", default=None),
    text("state", "queued, building, built or failed.", default="queued"),
    text("artifact_path", "The folder that holds the result, on the machine that built it; NULL until it is built.", null=True),
    text("log_path", "The file that holds the whole log; NULL until it was tried.", null=True),
    text("log_tail", "The last lines of the log, kept because log files get lost.", default=""),
    number("seconds", "How long the last building took; NULL until it was tried.", null=True),
    text("claimed_by", "Who builds it now: host:pid:starttime; NULL when nobody does.", null=True),
    moment("lease_until", "When its builder counts as gone; NULL when nobody builds it.", null=True),
    large("token", "Fencing token, raised by every claim; a builder with an older one is refused.", default=0),
    whole("attempts", "How often it was claimed since it was queued.", default=0),
    moment("queued_at", "When it was last queued."),
    moment("ranks_at", "Its place in the queue, that of the most urgent occasion that needs it; NULL: queued_at.", null=True),
    moment("finished_at", "When it was last built or failed; NULL until then.", null=True),
    one_of("state", BuildState),
    CheckConstraint("(state = 'built') = (artifact_path IS NOT NULL)", name="built_has_artifact"),
    CheckConstraint("(state = 'building') = (claimed_by IS NOT NULL)", name="building_is_claimed"),
    CheckConstraint("(state = 'building') = (lease_until IS NOT NULL)", name="building_has_lease"),
    Index("ix_build_queued", "queued_at", postgresql_where=sql("state = 'queued'")),
    Index(None, "subject_id", "revision"),
    comment="A subject at one Revision, made with one toolchain and one dependency set.",
)

model = Table(
    "model",
    METADATA,
    identity(),
    text("name", "The Model's name in perfd.toml; Series are keyed by it."),
    text("sha256", "Hash of the weights."),
    text("package", "The Python package that carries the weights; empty where `file` is a path.", default=""),
    text("version", "Version of that package.", default=""),
    text("file", "The file's name inside the package, or a path.", default=""),
    text("quantisation", "How the weights are quantised."),
    text("parallelism", "How the weights are spread over devices: 1, tp2, pp2tp4."),
    text("licence", "The licence of the weights.", default=""),
    text("shape", "The file with the announced shapes that random weights are written from; empty for real weights.", default=""),
    UniqueConstraint("name", "sha256", "quantisation", "parallelism"),
    comment="Weights that an Engine serves, by name and hash.",
)
