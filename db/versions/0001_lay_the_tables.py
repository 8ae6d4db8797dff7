"""Lay the tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The new tables and columns are there; yesterday's code still runs."""
    op.create_table(
        "device",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("host", sa.Text(), nullable=False, comment="The machine's name."),
        sa.Column("name", sa.Text(), nullable=False, comment="Unique on its host: cpu, or a GPU's UUID."),
        sa.Column("device_class", sa.Text(), nullable=False, comment="What makes two devices interchangeable."),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_device")),
        sa.UniqueConstraint("host", "name", "device_class", name=op.f("uq_device_host_name_device_class")),
        comment="One thing that can be measured on, one Run at a time.",
    )
    op.create_table(
        "metric",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="Its name, with the unit in it where it has one."),
        sa.Column("unit", sa.Text(), nullable=False, comment="The unit of its Samples."),
        sa.Column("better", sa.Text(), nullable=False, comment="Which way is better: higher or lower."),
        sa.Column("kind", sa.Text(), nullable=False, comment="speed, quality, resource or static."),
        sa.Column("reduction", sa.Text(), nullable=False, comment="How Samples become a Point: median or mean."),
        sa.Column(
            "relevant", sa.Double(), nullable=False, comment="The smallest relative effect that matters to a person: 0.02 is 2 %."
        ),
        sa.Column("sentence", sa.Text(), server_default="", nullable=False, comment="Its definition, in one sentence."),
        sa.CheckConstraint("better IN ('higher', 'lower')", name=op.f("ck_metric_better")),
        sa.CheckConstraint("kind IN ('speed', 'quality', 'resource', 'static')", name=op.f("ck_metric_kind")),
        sa.CheckConstraint("reduction IN ('median', 'mean')", name=op.f("ck_metric_reduction")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metric")),
        sa.UniqueConstraint("name", name=op.f("uq_metric_name")),
        comment="A measured quantity: name, unit, and which way is better.",
    )
    op.create_table(
        "model",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="The Model's name in perfd.toml; Series are keyed by it."),
        sa.Column("sha256", sa.Text(), nullable=False, comment="Hash of the weights."),
        sa.Column(
            "package",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The Python package that carries the weights; empty where `file` is a path.",
        ),
        sa.Column("version", sa.Text(), server_default="", nullable=False, comment="Version of that package."),
        sa.Column("file", sa.Text(), server_default="", nullable=False, comment="The file's name inside the package, or a path."),
        sa.Column("quantisation", sa.Text(), nullable=False, comment="How the weights are quantised."),
        sa.Column("parallelism", sa.Text(), nullable=False, comment="How the weights are spread over devices: 1, tp2, pp2tp4."),
        sa.Column("licence", sa.Text(), server_default="", nullable=False, comment="The licence of the weights."),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model")),
        sa.UniqueConstraint(
            "name", "sha256", "quantisation", "parallelism", name=op.f("uq_model_name_sha256_quantisation_parallelism")
        ),
        comment="Weights that an Engine serves, by name and hash.",
    )
    op.create_table(
        "occasion",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="The natural key, such as night:2026-11-29T02:00:00Z."),
        sa.Column("kind", sa.Text(), nullable=False, comment="night, checkpoint, compare, aa or import."),
        sa.Column("label", sa.Text(), server_default="", nullable=False, comment="Tells occasions of one kind and time apart."),
        sa.Column(
            "nominal_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When it was due; a night that was caught up keeps its nominal time.",
        ),
        sa.Column("state", sa.Text(), server_default="due", nullable=False, comment="due, watched, planned, judged or reported."),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False, comment="When it was entered here."),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False, comment="When its state last changed."),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True, comment="When it was reported; NULL until then."),
        sa.Column(
            "report",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
            comment="What was reported, as JSON; NULL until then.",
        ),
        sa.CheckConstraint("(state = 'reported') = (closed_at IS NOT NULL)", name=op.f("ck_occasion_reported_is_closed")),
        sa.CheckConstraint("kind IN ('night', 'checkpoint', 'compare', 'aa', 'import')", name=op.f("ck_occasion_kind")),
        sa.CheckConstraint("state IN ('due', 'watched', 'planned', 'judged', 'reported')", name=op.f("ck_occasion_state")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_occasion")),
        sa.UniqueConstraint("name", name=op.f("uq_occasion_name")),
        comment="A night, a Checkpoint, a comparison or an import: the reason why Runs are made.",
    )
    op.create_index(op.f("ix_occasion_kind_nominal_at"), "occasion", ["kind", "nominal_at"], unique=False)
    op.create_index(
        "ix_occasion_open", "occasion", ["state", "nominal_at"], unique=False, postgresql_where=sa.text("state <> 'reported'")
    )
    op.create_table(
        "outbox",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("dedupe_key", sa.Text(), nullable=False, comment="A message with this key is sent once."),
        sa.Column("kind", sa.Text(), nullable=False, comment="What sort of message: decides who sends it."),
        sa.Column(
            "payload",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="The message.",
        ),
        sa.Column(
            "attempts",
            sa.Integer(),
            server_default="0",
            autoincrement=False,
            nullable=False,
            comment="How often sending was tried.",
        ),
        sa.Column(
            "last_error", sa.Text(), server_default="", nullable=False, comment="Why the last try failed; empty until one did."
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When it was written, in the transaction of what it tells of.",
        ),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False, comment="It is not tried before then."),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True, comment="When it was sent; NULL until then."),
        sa.CheckConstraint("attempts >= 0", name=op.f("ck_outbox_attempts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("dedupe_key", name=op.f("uq_outbox_dedupe_key")),
        comment="Messages to the outside, written with what they tell of and sent afterwards.",
    )
    op.create_index("ix_outbox_due", "outbox", ["next_at"], unique=False, postgresql_where=sa.text("done_at IS NULL"))
    op.create_table(
        "service",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False, comment="Always 1: there is one row."),
        sa.Column(
            "began_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When perfd began on this database: no night before it was missed.",
        ),
        sa.CheckConstraint("id = 1", name=op.f("ck_service_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_service")),
        comment="The service itself, in one row.",
    )
    op.create_table(
        "subject",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column(
            "name",
            sa.Text(),
            nullable=False,
            comment="The Engine's name in perfd.toml, or the Kernel's file name without its ending.",
        ),
        sa.Column("kind", sa.Text(), nullable=False, comment="engine or kernel."),
        sa.CheckConstraint("kind IN ('engine', 'kernel')", name=op.f("ck_subject_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subject")),
        sa.UniqueConstraint("name", name=op.f("uq_subject_name")),
        comment="An Engine or a Kernel: something whose performance is followed.",
    )
    op.create_table(
        "suite",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="The name of its file in suites/."),
        sa.Column(
            "question", sa.Text(), server_default="", nullable=False, comment="The question that its Workloads were chosen for."
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suite")),
        sa.UniqueConstraint("name", name=op.f("uq_suite_name")),
        comment="Workloads chosen together for a question.",
    )
    op.create_table(
        "worker",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="host:pid:starttime of the process."),
        sa.Column("host", sa.Text(), nullable=False, comment="The machine it runs on."),
        sa.Column(
            "device_class",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The class of device that it measures on; empty for builders and clocks.",
        ),
        sa.Column("doing", sa.Text(), server_default="", nullable=False, comment="What it last said it does, in a few words."),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False, comment="When it was first seen."),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False, comment="When it was last seen."),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker")),
        sa.UniqueConstraint("name", name=op.f("uq_worker_name")),
        comment="A process that claims work; one that is not seen for long is gone.",
    )
    op.create_table(
        "build",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("digest", sa.Text(), nullable=False, comment="The content address: sha256 over everything in `spec`."),
        sa.Column("subject_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="What was built."),
        sa.Column("revision", sa.Text(), nullable=False, comment="Name of the Revision that was built."),
        sa.Column(
            "spec",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
            comment="The ingredients: recipe, recipe hash, toolchain, dependencies.",
        ),
        sa.Column("state", sa.Text(), server_default="queued", nullable=False, comment="queued, building, built or failed."),
        sa.Column(
            "artifact_path",
            sa.Text(),
            nullable=True,
            comment="The folder that holds the result, on the machine that built it; NULL until it is built.",
        ),
        sa.Column("log_path", sa.Text(), nullable=True, comment="The file that holds the whole log; NULL until it was tried."),
        sa.Column(
            "log_tail",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The last lines of the log, kept because log files get lost.",
        ),
        sa.Column("seconds", sa.Double(), nullable=True, comment="How long the last building took; NULL until it was tried."),
        sa.Column(
            "claimed_by", sa.Text(), nullable=True, comment="Who builds it now: host:pid:starttime; NULL when nobody does."
        ),
        sa.Column(
            "lease_until",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When its builder counts as gone; NULL when nobody builds it.",
        ),
        sa.Column(
            "token",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Fencing token, raised by every claim; a builder with an older one is refused.",
        ),
        sa.Column(
            "attempts",
            sa.Integer(),
            server_default="0",
            autoincrement=False,
            nullable=False,
            comment="How often it was claimed since it was queued.",
        ),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=False, comment="When it was last queued."),
        sa.Column(
            "finished_at", sa.DateTime(timezone=True), nullable=True, comment="When it was last built or failed; NULL until then."
        ),
        sa.CheckConstraint("(state = 'building') = (claimed_by IS NOT NULL)", name=op.f("ck_build_building_is_claimed")),
        sa.CheckConstraint("(state = 'building') = (lease_until IS NOT NULL)", name=op.f("ck_build_building_has_lease")),
        sa.CheckConstraint("(state = 'built') = (artifact_path IS NOT NULL)", name=op.f("ck_build_built_has_artifact")),
        sa.CheckConstraint("state IN ('queued', 'building', 'built', 'failed')", name=op.f("ck_build_state")),
        sa.ForeignKeyConstraint(["subject_id"], ["subject.id"], name=op.f("fk_build_subject_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_build")),
        sa.UniqueConstraint("digest", name=op.f("uq_build_digest")),
        comment="A subject at one Revision, made with one toolchain and one dependency set.",
    )
    op.create_index("ix_build_queued", "build", ["queued_at"], unique=False, postgresql_where=sa.text("state = 'queued'"))
    op.create_index(op.f("ix_build_subject_id_revision"), "build", ["subject_id", "revision"], unique=False)
    op.create_table(
        "environment",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("hash", sa.Text(), nullable=False, comment="The natural key: sha256 over host, device, hardware and software."),
        sa.Column("device_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The device it describes."),
        sa.Column(
            "hardware_hash",
            sa.Text(),
            nullable=False,
            comment="Equal for Runs whose numbers may be compared: hardware identity and clock policy.",
        ),
        sa.Column(
            "hardware",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="CPU model, cores, memory, GPU model.",
        ),
        sa.Column("clock_policy", sa.Text(), nullable=False, comment="Governor and turbo, or locked GPU clocks, or unknown."),
        sa.Column(
            "software",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Driver, kernel, libc, torch, triton, the engine's dependencies.",
        ),
        sa.Column(
            "epoch", sa.Text(), nullable=False, comment="sha256 over `software`: a new epoch is judged, and named as a suspect."
        ),
        sa.ForeignKeyConstraint(["device_id"], ["device.id"], name=op.f("fk_environment_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_environment")),
        sa.UniqueConstraint("hash", name=op.f("uq_environment_hash")),
        comment="Machine, device, clock policy, driver and library versions of Runs.",
    )
    op.create_table(
        "finding",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column(
            "occasion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The occasion in which it was seen."
        ),
        sa.Column("stage", sa.Text(), nullable=False, comment="The stage that saw it."),
        sa.Column("subject", sa.Text(), nullable=False, comment="What it is about: a subject's name, or empty."),
        sa.Column("sentence", sa.Text(), nullable=False, comment="What was seen, what was expected, what to do."),
        sa.Column("log_tail", sa.Text(), server_default="", nullable=False, comment="The last lines of the log that shows it."),
        sa.Column(
            "key",
            sa.Text(),
            nullable=False,
            comment="sha256 over stage, subject and sentence, so that the same finding stands once.",
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, comment="When it was first seen."),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_finding_occasion_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_finding")),
        sa.UniqueConstraint("occasion_id", "key", name=op.f("uq_finding_occasion_id_key")),
        comment="Something that went wrong and belongs to no Run or Build.",
    )
    op.create_table(
        "revision",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("subject_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="Whose Revision it is."),
        sa.Column(
            "branch",
            sa.Text(),
            nullable=False,
            comment="The branch on which `ordinal` counts; a commit on two branches has two rows.",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="The full commit hash, the version, or the content hash."),
        sa.Column(
            "ordinal",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Its place on the branch, counted from the oldest; Series are ordered by it.",
        ),
        sa.Column(
            "committed_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When it was committed or released; NULL where the source does not tell.",
        ),
        sa.Column(
            "title",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The first line of the commit message, or of the release.",
        ),
        sa.Column("parent", sa.Text(), nullable=True, comment="Name of the first parent; NULL for the oldest."),
        sa.ForeignKeyConstraint(["subject_id"], ["subject.id"], name=op.f("fk_revision_subject_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revision")),
        sa.UniqueConstraint("subject_id", "branch", "name", name=op.f("uq_revision_subject_id_branch_name")),
        comment="A commit of a subject's source, a released version, or the hash of a file's content.",
    )
    op.create_index(op.f("ix_revision_subject_id_branch_ordinal"), "revision", ["subject_id", "branch", "ordinal"], unique=False)
    op.create_table(
        "workload",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column(
            "identity",
            sa.Text(),
            nullable=False,
            comment="The natural key: sha256 over suite, name, class, parameters, seed and data.",
        ),
        sa.Column("suite_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The suite it belongs to."),
        sa.Column("name", sa.Text(), nullable=False, comment="Its name inside the suite."),
        sa.Column("class", sa.Text(), nullable=False, comment="Kind of load; numbers of two classes are never averaged."),
        sa.Column(
            "parameters",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="What it does, in full.",
        ),
        sa.Column("seed", sa.BigInteger(), nullable=False, comment="Seed of everything random in it."),
        sa.Column(
            "data_hash",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="sha256 over its data files; empty where it reads none.",
        ),
        sa.Column("time_limit_s", sa.Double(), nullable=False, comment="A measuring child that has not ended by then is killed."),
        sa.Column("question", sa.Text(), server_default="", nullable=False, comment="What it is measured for."),
        sa.CheckConstraint(
            "class IN ('chat', 'agentic', 'long_context', 'multimodal', 'batch', 'kernel', 'accuracy')",
            name=op.f("ck_workload_class"),
        ),
        sa.ForeignKeyConstraint(["suite_id"], ["suite.id"], name=op.f("fk_workload_suite_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workload")),
        sa.UniqueConstraint("identity", name=op.f("uq_workload_identity")),
        comment="One reproducible load.",
    )
    op.create_table(
        "occasion_build",
        sa.Column(
            "occasion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The occasion that needs the Build."
        ),
        sa.Column("build_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Build."),
        sa.Column(
            "revision_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The Revision as this occasion sees it: on its branch, at its ordinal.",
        ),
        sa.Column(
            "cached",
            sa.Boolean(),
            server_default="false",
            nullable=False,
            comment="Whether the Build was there already and nothing was compiled for this occasion.",
        ),
        sa.Column(
            "seconds", sa.Double(), nullable=True, comment="How long building (or finding) it took; NULL until it is known."
        ),
        sa.Column(
            "state",
            sa.Text(),
            server_default="queued",
            nullable=False,
            comment="What this occasion got: queued, building, built or failed.",
        ),
        sa.ForeignKeyConstraint(["build_id"], ["build.id"], name=op.f("fk_occasion_build_build_id")),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_occasion_build_occasion_id")),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name=op.f("fk_occasion_build_revision_id")),
        sa.PrimaryKeyConstraint("occasion_id", "build_id", name=op.f("pk_occasion_build")),
        comment="What an occasion built, or found already built.",
    )
    op.create_index(op.f("ix_occasion_build_build_id"), "occasion_build", ["build_id"], unique=False)
    op.create_table(
        "regression",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="The number in the Regression's address on the site.",
        ),
        sa.Column("subject_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="Whose Regression it is."),
        sa.Column(
            "state",
            sa.Text(),
            nullable=False,
            comment="suspect, detected, confirmed, owned, fixed, accepted, noise, duplicate or verified.",
        ),
        sa.Column(
            "title", sa.Text(), nullable=False, comment="One sentence: what became worse, by how much, since which Revision."
        ),
        sa.Column("build_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The first Build at the new level."),
        sa.Column(
            "occasion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The occasion after which it was opened."
        ),
        sa.Column("owner", sa.Text(), server_default="", nullable=False, comment="Who answers it; empty until somebody does."),
        sa.Column(
            "duplicate_of",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The Regression that it repeats; NULL unless it is a duplicate.",
        ),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False, comment="When it was opened."),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False, comment="When its state last changed."),
        sa.CheckConstraint(
            "(state = 'duplicate') = (duplicate_of IS NOT NULL)", name=op.f("ck_regression_duplicate_says_of_what")
        ),
        sa.CheckConstraint(
            "state IN ('suspect', 'detected', 'confirmed', 'owned', 'fixed', 'accepted', 'noise', 'duplicate', 'verified')",
            name=op.f("ck_regression_state"),
        ),
        sa.CheckConstraint("duplicate_of <> id", name=op.f("ck_regression_no_duplicate_of_itself")),
        sa.ForeignKeyConstraint(["build_id"], ["build.id"], name=op.f("fk_regression_build_id")),
        sa.ForeignKeyConstraint(["duplicate_of"], ["regression.id"], name=op.f("fk_regression_duplicate_of")),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_regression_occasion_id")),
        sa.ForeignKeyConstraint(["subject_id"], ["subject.id"], name=op.f("fk_regression_subject_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_regression")),
        comment="A Change for the worse that someone must answer.",
    )
    op.create_index(op.f("ix_regression_state_opened_at"), "regression", ["state", "opened_at"], unique=False)
    op.create_index(op.f("ix_regression_subject_id_build_id"), "regression", ["subject_id", "build_id"], unique=False)
    op.create_table(
        "run",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column(
            "key",
            sa.Text(),
            nullable=False,
            comment="The natural key: sha256 over Build, Workload, Model, device class, occasion, arm and block.",
        ),
        sa.Column("occasion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="Why it is made."),
        sa.Column("build_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Build that is measured."),
        sa.Column("workload_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The load it is put under."),
        sa.Column(
            "model_id", sa.BigInteger(), autoincrement=False, nullable=True, comment="The Model that is served; NULL for kernels."
        ),
        sa.Column(
            "quantisation", sa.Text(), server_default="", nullable=False, comment="Quantisation of the Model; empty for kernels."
        ),
        sa.Column(
            "parallelism", sa.Text(), server_default="", nullable=False, comment="Parallelism of the Model; empty for kernels."
        ),
        sa.Column("device_class", sa.Text(), nullable=False, comment="The class of device it must be measured on."),
        sa.Column(
            "arm", sa.Text(), server_default="only", nullable=False, comment="only, or which side of a comparison: base or head."
        ),
        sa.Column(
            "block",
            sa.Integer(),
            server_default="0",
            autoincrement=False,
            nullable=False,
            comment="Place in the ABBA order of a comparison, from 0.",
        ),
        sa.Column("state", sa.Text(), server_default="queued", nullable=False, comment="queued, claimed, done, failed or void."),
        sa.Column(
            "failure", sa.Text(), nullable=True, comment="Why it has no Samples that count; NULL unless it failed or is void."
        ),
        sa.Column(
            "reason",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="One sentence on a failure or a void; empty otherwise.",
        ),
        sa.Column(
            "log_tail",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The last lines of the engine's or the child's log after a failure.",
        ),
        sa.Column(
            "attempts", sa.Integer(), server_default="0", autoincrement=False, nullable=False, comment="How often it was claimed."
        ),
        sa.Column(
            "token",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Fencing token, raised by every claim; a worker with an older one is refused.",
        ),
        sa.Column(
            "claimed_by", sa.Text(), nullable=True, comment="Who measures it now: host:pid:starttime; NULL when nobody does."
        ),
        sa.Column(
            "lease_until",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When its worker counts as gone; NULL when nobody measures it.",
        ),
        sa.Column(
            "not_before",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="It is not claimed again before then; NULL when it may be at once.",
        ),
        sa.Column(
            "device_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The device it was measured on; NULL until then.",
        ),
        sa.Column(
            "environment_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The Environment it was measured in; NULL until then.",
        ),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=False, comment="When it was planned."),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True, comment="When measuring began; NULL if it never did."),
        sa.Column(
            "finished_at", sa.DateTime(timezone=True), nullable=True, comment="When it was done, failed or void; NULL until then."
        ),
        sa.Column("harness_version", sa.Text(), server_default="", nullable=False, comment="Version of perfd that measured it."),
        sa.Column(
            "definitions_version",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Version of the definitions of its Metrics.",
        ),
        sa.Column(
            "results_digest",
            sa.Text(),
            nullable=True,
            comment="sha256 of the results that were stored; NULL until then. The same results twice change nothing.",
        ),
        sa.Column(
            "extra",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="What a reader may want and no table holds: offered load, client calibration, token counts.",
        ),
        sa.CheckConstraint("(state = 'claimed') = (claimed_by IS NOT NULL)", name=op.f("ck_run_claimed_by_someone")),
        sa.CheckConstraint("(state = 'claimed') = (lease_until IS NOT NULL)", name=op.f("ck_run_claimed_has_lease")),
        sa.CheckConstraint("(state IN ('failed', 'void')) = (failure IS NOT NULL)", name=op.f("ck_run_failed_says_why")),
        sa.CheckConstraint("(state IN ('queued', 'claimed')) = (finished_at IS NULL)", name=op.f("ck_run_finished_has_time")),
        sa.CheckConstraint("arm IN ('only', 'base', 'head')", name=op.f("ck_run_arm")),
        sa.CheckConstraint(
            "failure IN ('build', 'not_ready', 'died', 'timeout', 'nonsense', 'device', 'harness', 'lost', 'missing')",
            name=op.f("ck_run_failure"),
        ),
        sa.CheckConstraint("state <> 'done' OR environment_id IS NOT NULL", name=op.f("ck_run_done_has_environment")),
        sa.CheckConstraint("state IN ('queued', 'claimed', 'done', 'failed', 'void')", name=op.f("ck_run_state")),
        sa.ForeignKeyConstraint(["build_id"], ["build.id"], name=op.f("fk_run_build_id")),
        sa.ForeignKeyConstraint(["device_id"], ["device.id"], name=op.f("fk_run_device_id")),
        sa.ForeignKeyConstraint(["environment_id"], ["environment.id"], name=op.f("fk_run_environment_id")),
        sa.ForeignKeyConstraint(["model_id"], ["model.id"], name=op.f("fk_run_model_id")),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_run_occasion_id")),
        sa.ForeignKeyConstraint(["workload_id"], ["workload.id"], name=op.f("fk_run_workload_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint("key", name=op.f("uq_run_key")),
        comment="One Workload on one Build on one device, once.",
    )
    op.create_index(op.f("ix_run_build_id"), "run", ["build_id"], unique=False)
    op.create_index("ix_run_claimed", "run", ["lease_until"], unique=False, postgresql_where=sa.text("state = 'claimed'"))
    op.create_index(op.f("ix_run_occasion_id_state"), "run", ["occasion_id", "state"], unique=False)
    op.create_index(
        "ix_run_queued", "run", ["device_class", "queued_at", "id"], unique=False, postgresql_where=sa.text("state = 'queued'")
    )
    op.create_table(
        "series",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="The number in the Series' address on the site.",
        ),
        sa.Column("fingerprint", sa.Text(), nullable=False, comment="The natural key: sha256 over all the parts below."),
        sa.Column("subject_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Engine or Kernel."),
        sa.Column("branch", sa.Text(), nullable=False, comment="The tracked branch; nothing else enters the Series."),
        sa.Column("workload_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The load."),
        sa.Column("metric_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="What is measured."),
        sa.Column("model", sa.Text(), server_default="", nullable=False, comment="Name of the Model; empty for kernels."),
        sa.Column("quantisation", sa.Text(), server_default="", nullable=False, comment="Quantisation of the Model."),
        sa.Column("parallelism", sa.Text(), server_default="", nullable=False, comment="Parallelism of the Model."),
        sa.Column("device_class", sa.Text(), nullable=False, comment="The class of device; hosts of one class share a Series."),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, comment="When its first Point was stored."),
        sa.ForeignKeyConstraint(["metric_id"], ["metric.id"], name=op.f("fk_series_metric_id")),
        sa.ForeignKeyConstraint(["subject_id"], ["subject.id"], name=op.f("fk_series_subject_id")),
        sa.ForeignKeyConstraint(["workload_id"], ["workload.id"], name=op.f("fk_series_workload_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series")),
        sa.UniqueConstraint("fingerprint", name=op.f("uq_series_fingerprint")),
        comment="The Points of one subject, branch, Workload, Metric, Model, quantisation, parallelism and device class.",
    )
    op.create_index(op.f("ix_series_metric_id"), "series", ["metric_id"], unique=False)
    op.create_index(op.f("ix_series_subject_id"), "series", ["subject_id"], unique=False)
    op.create_index(op.f("ix_series_workload_id"), "series", ["workload_id"], unique=False)
    op.create_table(
        "change",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="The Change's name: it stays while the Change's place moves by a few Points.",
        ),
        sa.Column("series_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Series that changed."),
        sa.Column("build_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The first Build at the new level."),
        sa.Column(
            "run_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The first Run at the new level: its Point is the place of the Change.",
        ),
        sa.Column("kind", sa.Text(), nullable=False, comment="step, drift, variance, mode or transient."),
        sa.Column(
            "status", sa.Text(), nullable=False, comment="suspect (may be a spike) or detected (the Series itself shows it)."
        ),
        sa.Column("before", sa.Double(), nullable=False, comment="The level before it, in the Metric's unit."),
        sa.Column("after", sa.Double(), nullable=False, comment="The level after it, in the Metric's unit."),
        sa.Column("effect", sa.Double(), nullable=False, comment="after / before - 1; the difference where before is zero."),
        sa.Column("low", sa.Double(), nullable=True, comment="Lower end of the effect's interval."),
        sa.Column("high", sa.Double(), nullable=True, comment="Upper end of the effect's interval."),
        sa.Column("q", sa.Double(), nullable=True, comment="False-discovery-adjusted p."),
        sa.Column(
            "found_in",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The occasion after which it was first seen.",
        ),
        sa.Column(
            "seen_in",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The last occasion after which it was still seen.",
        ),
        sa.Column(
            "detected_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When it first had the status detected; NULL while it is a suspect.",
        ),
        sa.Column(
            "gone_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When the judge stopped seeing it; NULL while it stands.",
        ),
        sa.Column(
            "worse",
            sa.Boolean(),
            server_default="false",
            nullable=False,
            comment="Whether it is for the worse, by the Metric's direction.",
        ),
        sa.CheckConstraint("kind IN ('step', 'drift', 'variance', 'mode', 'transient')", name=op.f("ck_change_kind")),
        sa.CheckConstraint("status <> 'detected' OR detected_at IS NOT NULL", name=op.f("ck_change_detected_has_time")),
        sa.CheckConstraint("status IN ('suspect', 'detected')", name=op.f("ck_change_status")),
        sa.ForeignKeyConstraint(["build_id"], ["build.id"], name=op.f("fk_change_build_id")),
        sa.ForeignKeyConstraint(["found_in"], ["occasion.id"], name=op.f("fk_change_found_in")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_change_run_id")),
        sa.ForeignKeyConstraint(["seen_in"], ["occasion.id"], name=op.f("fk_change_seen_in")),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_change_series_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_change")),
        comment="A step (or drift, …) in a Series; it belongs to the first Build at the new level.",
    )
    op.create_index(op.f("ix_change_series_id"), "change", ["series_id"], unique=False)
    op.create_index(
        "uq_change_series_id_run_id",
        "change",
        ["series_id", "run_id"],
        unique=True,
        postgresql_where=sa.text("gone_at IS NULL"),
    )
    op.create_table(
        "device_state",
        sa.Column(
            "run_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Run during which it was looked at."
        ),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False, comment="Which look it was, from 0."),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, comment="When it was looked at."),
        sa.Column(
            "facts",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Clocks, temperature, load, neighbours; units stand in the names.",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_device_state_run_id")),
        sa.PrimaryKeyConstraint("run_id", "place", name=op.f("pk_device_state")),
        comment="What clocks, temperatures and neighbours did during a Run.",
    )
    op.create_table(
        "point",
        sa.Column("series_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Series it belongs to."),
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Run whose Samples it reduces."),
        sa.Column("build_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Build that was measured."),
        sa.Column(
            "revision_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Revision on the Series' branch."
        ),
        sa.Column(
            "occasion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The occasion it was measured for."
        ),
        sa.Column(
            "device_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The device: host effects can be modelled without splitting the Series.",
        ),
        sa.Column(
            "ordinal",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="The Revision's place on the branch, copied so that one index orders a Series.",
        ),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False, comment="When its Run began."),
        sa.Column("value", sa.Double(), nullable=False, comment="The median, or the mean where the Metric says so."),
        sa.Column(
            "low", sa.Double(), nullable=True, comment="Lower end of its 95 % interval; NULL with too few Samples to give one."
        ),
        sa.Column(
            "high", sa.Double(), nullable=True, comment="Upper end of its 95 % interval; NULL with too few Samples to give one."
        ),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False, comment="How many Samples it reduces."),
        sa.Column(
            "hardware_hash",
            sa.Text(),
            nullable=False,
            comment="Points with different hardware or clock policy are not comparable.",
        ),
        sa.Column(
            "epoch",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Hash of driver, library and engine dependency versions.",
        ),
        sa.CheckConstraint("(low IS NULL) = (high IS NULL)", name=op.f("ck_point_interval_has_two_ends")),
        sa.CheckConstraint("low <= high", name=op.f("ck_point_interval_is_ordered")),
        sa.CheckConstraint("n > 0", name=op.f("ck_point_has_samples")),
        sa.ForeignKeyConstraint(["build_id"], ["build.id"], name=op.f("fk_point_build_id")),
        sa.ForeignKeyConstraint(["device_id"], ["device.id"], name=op.f("fk_point_device_id")),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_point_occasion_id")),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name=op.f("fk_point_revision_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_point_run_id")),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_point_series_id")),
        sa.PrimaryKeyConstraint("series_id", "run_id", name=op.f("pk_point")),
        comment="A Run's Samples of one Metric, reduced; written with the Run's results, and what every page reads.",
    )
    op.create_index("ix_point_latest", "point", ["series_id", "measured_at"], unique=False)
    op.create_index(op.f("ix_point_occasion_id"), "point", ["occasion_id"], unique=False)
    op.create_index("ix_point_order", "point", ["series_id", "ordinal", "measured_at", "run_id"], unique=False)
    op.create_index(op.f("ix_point_run_id"), "point", ["run_id"], unique=False)
    op.create_table(
        "regression_event",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("regression_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Regression."),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, comment="When it happened."),
        sa.Column("actor", sa.Text(), nullable=False, comment="The person, or the named rule, that did it."),
        sa.Column("from_state", sa.Text(), nullable=True, comment="The state before; NULL for the opening."),
        sa.Column("to_state", sa.Text(), nullable=False, comment="The state after."),
        sa.Column("reason", sa.Text(), nullable=False, comment="Why, in a sentence."),
        sa.CheckConstraint(
            "from_state IN ('suspect', 'detected', 'confirmed', 'owned', 'fixed', 'accepted', 'noise', 'duplicate', 'verified')",
            name=op.f("ck_regression_event_from_state"),
        ),
        sa.CheckConstraint(
            "to_state IN ('suspect', 'detected', 'confirmed', 'owned', 'fixed', 'accepted', 'noise', 'duplicate', 'verified')",
            name=op.f("ck_regression_event_to_state"),
        ),
        sa.ForeignKeyConstraint(["regression_id"], ["regression.id"], name=op.f("fk_regression_event_regression_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_regression_event")),
        comment="Every state change of a Regression, with actor and reason; rows are only ever added.",
    )
    op.create_index(op.f("ix_regression_event_regression_id_at"), "regression_event", ["regression_id", "at"], unique=False)
    op.create_table(
        "sample",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Run that measured it."),
        sa.Column("metric_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="What was measured."),
        sa.Column(
            "place",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Which Sample of this Metric it is, in the order measured, from 0.",
        ),
        sa.Column(
            "measured_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When its Run began: the month decides the partition.",
        ),
        sa.Column("value", sa.Double(), nullable=False, comment="The measured number, in the Metric's unit."),
        sa.ForeignKeyConstraint(["metric_id"], ["metric.id"], name=op.f("fk_sample_metric_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_sample_run_id")),
        sa.PrimaryKeyConstraint("run_id", "metric_id", "place", "measured_at", name=op.f("pk_sample")),
        comment="One measured number; raw, never changed, partitioned by month.",
        postgresql_partition_by="RANGE (measured_at)",
    )
    op.create_table(
        "verdict",
        sa.Column("series_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Series that was judged."),
        sa.Column(
            "occasion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The occasion after which it was judged."
        ),
        sa.Column("outcome", sa.Text(), nullable=False, comment="better, worse, same, unsure or not comparable."),
        sa.Column("reason", sa.Text(), nullable=False, comment="One sentence; for unsure it says what is missing."),
        sa.Column("detector", sa.Text(), nullable=False, comment="Name and version of the rule that decided."),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False, comment="Points (or pairs) that it rests on."),
        sa.Column("effect", sa.Double(), nullable=True, comment="Ratio minus one; NULL when there is nothing to compare with."),
        sa.Column("low", sa.Double(), nullable=True, comment="Lower end of the effect's interval."),
        sa.Column("high", sa.Double(), nullable=True, comment="Upper end of the effect's interval."),
        sa.Column(
            "bar", sa.Double(), nullable=True, comment="The relative effect beyond which it would have been called a change."
        ),
        sa.Column("q", sa.Double(), nullable=True, comment="False-discovery-adjusted p."),
        sa.Column("noise", sa.Double(), nullable=True, comment="Night-to-night relative standard deviation."),
        sa.Column(
            "mde",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Nights after a change to the smallest relative effect found with 90 % power.",
        ),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=False, comment="When it was decided."),
        sa.CheckConstraint("outcome IN ('better', 'worse', 'same', 'unsure', 'not comparable')", name=op.f("ck_verdict_outcome")),
        sa.CheckConstraint(
            "outcome NOT IN ('better', 'worse') OR effect IS NOT NULL", name=op.f("ck_verdict_decided_has_effect")
        ),
        sa.CheckConstraint("(low IS NULL) = (high IS NULL)", name=op.f("ck_verdict_interval_has_two_ends")),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_verdict_occasion_id")),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_verdict_series_id")),
        sa.PrimaryKeyConstraint("series_id", "occasion_id", name=op.f("pk_verdict")),
        comment="What the judge said of one Series after one occasion.",
    )
    op.create_index(op.f("ix_verdict_occasion_id"), "verdict", ["occasion_id"], unique=False)
    op.create_table(
        "regression_member",
        sa.Column("regression_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Regression."),
        sa.Column("change_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="A Change that it is made of."),
        sa.ForeignKeyConstraint(["change_id"], ["change.id"], name=op.f("fk_regression_member_change_id")),
        sa.ForeignKeyConstraint(["regression_id"], ["regression.id"], name=op.f("fk_regression_member_regression_id")),
        sa.PrimaryKeyConstraint("regression_id", "change_id", name=op.f("pk_regression_member")),
        sa.UniqueConstraint("change_id", name=op.f("uq_regression_member_change_id")),
        comment="The Changes that make up a Regression; a Change belongs to one Regression at most.",
    )
