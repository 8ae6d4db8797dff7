"""Know people."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The new tables are there; yesterday's code still runs."""
    op.create_table(
        "access_token",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="The number that it is revoked by."),
        sa.Column("digest", sa.Text(), nullable=False, comment="sha256 of the secret, which itself is kept nowhere."),
        sa.Column("label", sa.Text(), nullable=False, comment="What it is for, in the words of who made it."),
        sa.Column("role", sa.Text(), nullable=False, comment="What it may do: viewer, runner, triager, maintainer or admin."),
        sa.Column(
            "engines",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="[]",
            nullable=False,
            comment="Names of Engines and Kernels that it is held to, as a JSON list; empty: all.",
        ),
        sa.Column(
            "devices",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="[]",
            nullable=False,
            comment="Names of devices that it is held to, as a JSON list; empty: all.",
        ),
        sa.Column("created_by", sa.Text(), nullable=False, comment="Who made it."),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, comment="When it was made."),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False, comment="From when on it opens nothing."),
        sa.Column(
            "last_used_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When it was last shown, to the minute; NULL until then.",
        ),
        sa.Column(
            "last_used_from",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The address that it was last shown from; empty until then.",
        ),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True, comment="When it was taken back; NULL until then."),
        sa.CheckConstraint("role IN ('viewer', 'runner', 'triager', 'maintainer', 'admin')", name=op.f("ck_access_token_role")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_token")),
        sa.UniqueConstraint("digest", name=op.f("uq_access_token_digest")),
        comment="A token for programs; only its hash is kept.",
    )
    op.create_table(
        "web_session",
        sa.Column(
            "id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="The number that its owner ends it by."
        ),
        sa.Column("digest", sa.Text(), nullable=False, comment="sha256 of the cookie, which itself is kept nowhere."),
        sa.Column(
            "person",
            sa.Text(),
            nullable=False,
            comment="Whose it is: github:LOGIN in small letters. Their role is looked up in perfd.toml each time.",
        ),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False, comment="When they logged in."),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False, comment="When it was last used, to the minute."),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False, comment="When it ends, however much it is used."),
        sa.Column("address", sa.Text(), nullable=False, comment="The address that they logged in from."),
        sa.Column("browser", sa.Text(), server_default="", nullable=False, comment="What the browser called itself, cut."),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True, comment="When they logged out; NULL until then."),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_web_session")),
        sa.UniqueConstraint("digest", name=op.f("uq_web_session_digest")),
        comment="A browser that is logged in.",
    )
    op.create_index(op.f("ix_web_session_person"), "web_session", ["person"], unique=False)
    op.create_table(
        "token_job",
        sa.Column(
            "name", sa.Text(), nullable=False, comment="The name of a comparison, or the key of results that were handed in."
        ),
        sa.Column("token_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The token that came with it first."),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, comment="When that was."),
        sa.ForeignKeyConstraint(["token_id"], ["access_token.id"], name=op.f("fk_token_job_token_id")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_token_job")),
        comment="What a machine's token asked for or handed in: no other machine's token goes on with it.",
    )
    op.create_table(
        "audit_event",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, comment="When it was asked."),
        sa.Column(
            "actor", sa.Text(), nullable=False, comment="Who asked: github:alice, token:3:ci, local; empty for somebody unknown."
        ),
        sa.Column(
            "way", sa.Text(), nullable=False, comment="How they were known: nobody, loopback, token, session, proxy, or cli."
        ),
        sa.Column(
            "address", sa.Text(), server_default="", nullable=False, comment="Where they asked from; empty on the command line."
        ),
        sa.Column(
            "deed", sa.Text(), nullable=False, comment="What they asked for: method and path, or a sentence. Never a secret."
        ),
        sa.Column(
            "allowed",
            sa.Boolean(),
            server_default="false",
            nullable=False,
            comment="Whether they were let; it is written before the deed is done.",
        ),
        sa.Column("why", sa.Text(), server_default="", nullable=False, comment="Why not; empty where they were."),
        sa.CheckConstraint("allowed = (why = '')", name=op.f("ck_audit_event_says_why")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_event")),
        comment="Who did what on the site, when, and from where.",
    )
    op.create_index(op.f("ix_audit_event_at"), "audit_event", ["at"], unique=False)
