"""Answer pull requests."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The new tables are there; yesterday's code still runs."""
    op.create_table(
        "forge_delivery",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("forge", sa.Text(), nullable=False, comment="Which forge sent it: github."),
        sa.Column(
            "delivery",
            sa.Text(),
            nullable=False,
            comment="The forge's name for it; not signed, so that a replay may carry another one.",
        ),
        sa.Column("digest", sa.Text(), nullable=False, comment="sha256 of the signed body: what a replay cannot change."),
        sa.Column("event", sa.Text(), nullable=False, comment="What sort of event it is, by the name of the domain's word."),
        sa.Column(
            "content",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="The event, as JSON; the body itself is not kept.",
        ),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False, comment="When it came in."),
        sa.Column(
            "attempts",
            sa.Integer(),
            server_default="0",
            autoincrement=False,
            nullable=False,
            comment="How often handling was tried.",
        ),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False, comment="It is not tried before then."),
        sa.Column("handled_at", sa.DateTime(timezone=True), nullable=True, comment="When it was handled; NULL until then."),
        sa.Column(
            "outcome",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="What came of it, in a sentence; why the last try failed while it is not handled.",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forge_delivery")),
        sa.UniqueConstraint("forge", "delivery", name=op.f("uq_forge_delivery_forge_delivery")),
        sa.UniqueConstraint("forge", "digest", name=op.f("uq_forge_delivery_forge_digest")),
        comment="A webhook that was verified, remembered for ever: the same one is refused.",
    )
    op.create_index(
        "ix_forge_delivery_due", "forge_delivery", ["next_at"], unique=False, postgresql_where=sa.text("handled_at IS NULL")
    )
    op.create_table(
        "forge_post",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column(
            "key", sa.Text(), nullable=False, comment="What it is told apart by: comment:owner/name#12:1, check:owner/name@sha:7."
        ),
        sa.Column("kind", sa.Text(), nullable=False, comment="comment or check."),
        sa.Column(
            "marker",
            sa.Text(),
            nullable=False,
            comment="The hidden mark by which it is found again at the forge: 128 random bits.",
        ),
        sa.Column(
            "wanted",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="What should stand there, as JSON.",
        ),
        sa.Column(
            "version",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Counts up whenever something else should stand there.",
        ),
        sa.Column(
            "posted_version",
            sa.Integer(),
            server_default="0",
            autoincrement=False,
            nullable=False,
            comment="The version that stands at the forge; 0 until one does.",
        ),
        sa.Column(
            "forge_number", sa.BigInteger(), nullable=True, comment="The forge's own number of it; NULL until that is known."
        ),
        sa.Column("url", sa.Text(), server_default="", nullable=False, comment="Where people see it; empty until that is known."),
        sa.Column(
            "trouble", sa.Text(), server_default="", nullable=False, comment="Why it could not be posted; empty where it could."
        ),
        sa.Column("wanted_at", sa.DateTime(timezone=True), nullable=False, comment="When it was last wanted otherwise."),
        sa.Column("posted_at", sa.DateTime(timezone=True), nullable=True, comment="When it was last posted; NULL until then."),
        sa.Column(
            "deadline_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When an unfinished check is ended by itself; NULL for what is finished.",
        ),
        sa.CheckConstraint("kind IN ('comment', 'check')", name=op.f("ck_forge_post_kind")),
        sa.CheckConstraint("version >= 1 AND posted_version BETWEEN 0 AND version", name=op.f("ck_forge_post_version")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forge_post")),
        sa.UniqueConstraint("key", name=op.f("uq_forge_post_key")),
        comment="A comment or a check of perfd at the forge: what should stand there, and what does.",
    )
    op.create_index(
        "ix_forge_post_deadline", "forge_post", ["deadline_at"], unique=False, postgresql_where=sa.text("deadline_at IS NOT NULL")
    )
    op.create_table(
        "forge_repository",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("forge", sa.Text(), nullable=False, comment="Which forge it lies at: github."),
        sa.Column("number", sa.BigInteger(), nullable=False, comment="The forge's own number of it, which a renaming keeps."),
        sa.Column("name", sa.Text(), nullable=False, comment="owner/name, as it was last seen."),
        sa.Column(
            "installation", sa.BigInteger(), nullable=True, comment="The App's installation there; NULL where none is known."
        ),
        sa.Column(
            "default_branch", sa.Text(), server_default="", nullable=False, comment="Its default branch; empty until it was told."
        ),
        sa.Column(
            "archived",
            sa.Boolean(),
            server_default="false",
            nullable=False,
            comment="Whether it is archived: nothing can be posted there.",
        ),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False, comment="When an event last told of it."),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forge_repository")),
        sa.UniqueConstraint("forge", "number", name=op.f("uq_forge_repository_forge_number")),
        comment="A repository that the forge told us of.",
    )
    op.create_index(op.f("ix_forge_repository_forge_name"), "forge_repository", ["forge", "name"], unique=False)
    op.create_table(
        "pull_request",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column(
            "repository_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The repository that it would be merged into.",
        ),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False, comment="Its number there."),
        sa.Column("title", sa.Text(), nullable=False, comment="Its title, as written by its author: never markup."),
        sa.Column("author", sa.Text(), nullable=False, comment="Login of its author."),
        sa.Column("head", sa.Text(), nullable=False, comment="The commit that would be merged."),
        sa.Column("head_branch", sa.Text(), nullable=False, comment="The branch that holds it."),
        sa.Column(
            "head_repository",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="owner/name of where that branch lies; empty when it was deleted.",
        ),
        sa.Column("base", sa.Text(), nullable=False, comment="The tip of the base branch, as the forge last told it."),
        sa.Column("base_branch", sa.Text(), nullable=False, comment="The branch that it would be merged into."),
        sa.Column("is_open", sa.Boolean(), server_default="true", nullable=False, comment="Whether it is open."),
        sa.Column("is_draft", sa.Boolean(), server_default="false", nullable=False, comment="Whether it is a draft."),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="The forge's own time of the last change that was seen: an older event changes nothing.",
        ),
        sa.ForeignKeyConstraint(["repository_id"], ["forge_repository.id"], name=op.f("fk_pull_request_repository_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pull_request")),
        sa.UniqueConstraint("repository_id", "number", name=op.f("uq_pull_request_repository_id_number")),
        comment="A pull request, as it was last seen.",
    )
    op.create_table(
        "pull_job",
        sa.Column(
            "id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="The number that a check is told apart by."
        ),
        sa.Column("pull_request_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The pull request."),
        sa.Column(
            "head", sa.Text(), nullable=False, comment="The commit that is measured; an approval counts for this one only."
        ),
        sa.Column(
            "head_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When the pull request had this head first, by the forge's clock.",
        ),
        sa.Column(
            "attempt",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Counted from 1 for each head: a head may be asked again.",
        ),
        sa.Column("state", sa.Text(), nullable=False, comment="waiting, queued, running, done, failed, superseded or expired."),
        sa.Column("reason", sa.Text(), server_default="", nullable=False, comment="Why it is in that state, in a sentence."),
        sa.Column(
            "asked",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Who asked, and for what, as JSON.",
        ),
        sa.Column(
            "merge_base",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The commit that it is compared with; empty until that was asked of the forge.",
        ),
        sa.Column(
            "approved_by",
            sa.Text(),
            nullable=True,
            comment="Login of who let this head's code run; NULL where nobody had to, or nobody did yet.",
        ),
        sa.Column("approved_at", sa.DateTime(timezone=True), nullable=True, comment="When that was."),
        sa.Column(
            "delivery_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The webhook that asked for it; NULL where none did.",
        ),
        sa.Column(
            "occasion_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The comparison that measures it; NULL until there is one.",
        ),
        sa.Column(
            "facts",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="What the answer tells besides: files, place in the queue, the base's age; as JSON.",
        ),
        sa.Column(
            "verdict",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
            comment="What it came to, as JSON; NULL until it is done.",
        ),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False, comment="When it was opened."),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False, comment="When its state last changed."),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=False, comment="When it is ended, whatever became of it."),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True, comment="When it ended; NULL until then."),
        sa.CheckConstraint("(state IN ('waiting', 'queued', 'running')) = (ended_at IS NULL)", name=op.f("ck_pull_job_ended")),
        sa.CheckConstraint(
            "state IN ('waiting', 'queued', 'running', 'done', 'failed', 'superseded', 'expired')", name=op.f("ck_pull_job_state")
        ),
        sa.CheckConstraint("(approved_by IS NULL) = (approved_at IS NULL)", name=op.f("ck_pull_job_approved")),
        sa.ForeignKeyConstraint(["delivery_id"], ["forge_delivery.id"], name=op.f("fk_pull_job_delivery_id")),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_pull_job_occasion_id")),
        sa.ForeignKeyConstraint(["pull_request_id"], ["pull_request.id"], name=op.f("fk_pull_job_pull_request_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pull_job")),
        sa.UniqueConstraint("delivery_id", name=op.f("uq_pull_job_delivery_id")),
        sa.UniqueConstraint("pull_request_id", "head", "attempt", name=op.f("uq_pull_job_pull_request_id_head_attempt")),
        comment="The answering of one head of a pull request; at most one that is open a pull request.",
    )
    op.create_index(op.f("ix_pull_job_occasion_id"), "pull_job", ["occasion_id"], unique=False)
    op.create_index(
        "uq_pull_job_open",
        "pull_job",
        ["pull_request_id"],
        unique=True,
        postgresql_where=sa.text("state IN ('waiting', 'queued', 'running')"),
    )
