"""People on the site: tokens, sessions, what belongs to a machine's token, saved views, and the audit log."""

from sqlalchemy import CheckConstraint, Column, Index, Table, Text, UniqueConstraint

from perfd.domain.account import Role
from perfd.store.tables.columns import METADATA, document, identity, moment, one_of, reference, text, truth

access_token = Table(
    "access_token",
    METADATA,
    identity("The number that it is revoked by."),
    text("digest", "sha256 of the secret, which itself is kept nowhere.", unique=True),
    text("label", "What it is for, in the words of who made it."),
    text("role", "What it may do: viewer, runner, triager, maintainer or admin."),
    document("engines", "Names of Engines and Kernels that it is held to, as a JSON list; empty: all.", default="[]"),
    document("devices", "Names of devices that it is held to, as a JSON list; empty: all.", default="[]"),
    text("created_by", "Who made it."),
    moment("created_at", "When it was made."),
    moment("expires_at", "From when on it opens nothing."),
    moment("last_used_at", "When it was last shown, to the minute; NULL until then.", null=True),
    text("last_used_from", "The address that it was last shown from; empty until then.", default=""),
    moment("revoked_at", "When it was taken back; NULL until then.", null=True),
    one_of("role", Role),
    comment="A token for programs; only its hash is kept.",
)

web_session = Table(
    "web_session",
    METADATA,
    identity("The number that its owner ends it by."),
    text("digest", "sha256 of the cookie, which itself is kept nowhere.", unique=True),
    text("person", "Whose it is: github:LOGIN in small letters. Their role is looked up in perfd.toml each time."),
    moment("began_at", "When they logged in."),
    moment("seen_at", "When it was last used, to the minute."),
    moment("expires_at", "When it ends, however much it is used."),
    text("address", "The address that they logged in from."),
    text("browser", "What the browser called itself, cut.", default=""),
    moment("ended_at", "When they logged out; NULL until then.", null=True),
    Index(None, "person"),
    comment="A browser that is logged in.",
)

token_job = Table(
    "token_job",
    METADATA,
    Column("name", Text, primary_key=True, comment="The name of a comparison, or the key of results that were handed in."),
    reference("token_id", "access_token", "The token that came with it first."),
    moment("at", "When that was."),
    comment="What a machine's token asked for or handed in: no other machine's token goes on with it.",
)

saved_view = Table(
    "saved_view",
    METADATA,
    identity("The number that it is forgotten by; never given out again."),
    text("name", "What its owner calls it."),
    text("address", "Path and query of the page that it stands for."),
    text("owner", "Who saved it: github:alice, token:3:ci, local."),
    moment("at", "When that was."),
    UniqueConstraint("owner", "name"),
    comment="A name for the address of a page, for everybody; rows are written and removed, never changed.",
)

audit_event = Table(
    "audit_event",
    METADATA,
    identity(),
    moment("at", "When it was asked."),
    text("actor", "Who asked: github:alice, token:3:ci, local; empty for somebody unknown."),
    text("way", "How they were known: nobody, loopback, token, session, proxy, or cli."),
    text("address", "Where they asked from; empty on the command line.", default=""),
    text("deed", "What they asked for: method and path, or a sentence. Never a secret."),
    truth("allowed", "Whether they were let; it is written before the deed is done."),
    text("why", "Why not; empty where they were.", default=""),
    CheckConstraint("allowed = (why = '')", name="says_why"),
    Index(None, "at"),
    comment="Who did what on the site, when, and from where.",
)
