"""Pull requests: what the forge told us, the jobs of answering, and what was posted."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Table, UniqueConstraint
from sqlalchemy import text as sql

from perfd.domain.pull import JobState
from perfd.store.tables.columns import METADATA, document, identity, large, moment, one_of, reference, text, truth, whole

OPEN_JOB = "state IN ('waiting', 'queued', 'running')"

forge_delivery = Table(
    "forge_delivery",
    METADATA,
    identity(),
    text("forge", "Which forge sent it: github."),
    text("delivery", "The forge's name for it; not signed, so that a replay may carry another one."),
    text("digest", "sha256 of the signed body: what a replay cannot change."),
    text("event", "What sort of event it is, by the name of the domain's word."),
    document("content", "The event, as JSON; the body itself is not kept."),
    moment("received_at", "When it came in."),
    whole("attempts", "How often handling was tried.", default=0),
    moment("next_at", "It is not tried before then."),
    moment("handled_at", "When it was handled; NULL until then.", null=True),
    text("outcome", "What came of it, in a sentence; why the last try failed while it is not handled.", default=""),
    UniqueConstraint("forge", "delivery"),
    UniqueConstraint("forge", "digest"),
    Index("ix_forge_delivery_due", "next_at", postgresql_where=sql("handled_at IS NULL")),
    comment="A webhook that was verified, remembered for ever: the same one is refused.",
)

forge_repository = Table(
    "forge_repository",
    METADATA,
    identity(),
    text("forge", "Which forge it lies at: github."),
    large("number", "The forge's own number of it, which a renaming keeps."),
    text("name", "owner/name, as it was last seen."),
    Column("installation", BigInteger, nullable=True, comment="The App's installation there; NULL where none is known."),
    text("default_branch", "Its default branch; empty until it was told.", default=""),
    truth("archived", "Whether it is archived: nothing can be posted there."),
    moment("seen_at", "When an event last told of it."),
    UniqueConstraint("forge", "number"),
    Index(None, "forge", "name"),
    comment="A repository that the forge told us of.",
)

pull_request = Table(
    "pull_request",
    METADATA,
    identity(),
    reference("repository_id", "forge_repository", "The repository that it would be merged into."),
    whole("number", "Its number there."),
    text("title", "Its title, as written by its author: never markup."),
    text("author", "Login of its author."),
    text("head", "The commit that would be merged."),
    text("head_branch", "The branch that holds it."),
    text("head_repository", "owner/name of where that branch lies; empty when it was deleted.", default=""),
    text("base", "The tip of the base branch, as the forge last told it."),
    text("base_branch", "The branch that it would be merged into."),
    truth("is_open", "Whether it is open.", default="true"),
    truth("is_draft", "Whether it is a draft."),
    moment("updated_at", "The forge's own time of the last change that was seen: an older event changes nothing."),
    UniqueConstraint("repository_id", "number"),
    comment="A pull request, as it was last seen.",
)

pull_job = Table(
    "pull_job",
    METADATA,
    identity("The number that a check is told apart by."),
    reference("pull_request_id", "pull_request", "The pull request."),
    text("head", "The commit that is measured; an approval counts for this one only."),
    moment("head_at", "When the pull request had this head first, by the forge's clock."),
    whole("attempt", "Counted from 1 for each head: a head may be asked again."),
    text("state", "waiting, queued, running, done, failed, superseded or expired."),
    text("reason", "Why it is in that state, in a sentence.", default=""),
    document("asked", "Who asked, and for what, as JSON."),
    text("merge_base", "The commit that it is compared with; empty until that was asked of the forge.", default=""),
    text("approved_by", "Login of who let this head's code run; NULL where nobody had to, or nobody did yet.", null=True),
    moment("approved_at", "When that was.", null=True),
    reference("delivery_id", "forge_delivery", "The webhook that asked for it; NULL where none did.", null=True),
    reference("occasion_id", "occasion", "The comparison that measures it; NULL until there is one.", null=True),
    document("facts", "What the answer tells besides: files, place in the queue, the base's age; as JSON.", default="{}"),
    document("verdict", "What it came to, as JSON; NULL until it is done.", default=None, null=True),
    moment("opened_at", "When it was opened."),
    moment("moved_at", "When its state last changed."),
    moment("deadline_at", "When it is ended, whatever became of it."),
    moment("ended_at", "When it ended; NULL until then.", null=True),
    one_of("state", JobState),
    CheckConstraint(f"({OPEN_JOB}) = (ended_at IS NULL)", name="ended"),
    CheckConstraint("(approved_by IS NULL) = (approved_at IS NULL)", name="approved"),
    UniqueConstraint("pull_request_id", "head", "attempt"),
    UniqueConstraint("delivery_id"),
    Index("uq_pull_job_open", "pull_request_id", unique=True, postgresql_where=sql(OPEN_JOB)),
    Index(None, "occasion_id"),
    comment="The answering of one head of a pull request; at most one that is open a pull request.",
)

forge_post = Table(
    "forge_post",
    METADATA,
    identity(),
    text("key", "What it is told apart by: comment:owner/name#12:1, check:owner/name@sha:7.", unique=True),
    text("kind", "comment or check."),
    text("marker", "The hidden mark by which it is found again at the forge: 128 random bits."),
    document("wanted", "What should stand there, as JSON."),
    whole("version", "Counts up whenever something else should stand there."),
    whole("posted_version", "The version that stands at the forge; 0 until one does.", default=0),
    Column("forge_number", BigInteger, nullable=True, comment="The forge's own number of it; NULL until that is known."),
    text("url", "Where people see it; empty until that is known.", default=""),
    text("trouble", "Why it could not be posted; empty where it could.", default=""),
    moment("wanted_at", "When it was last wanted otherwise."),
    moment("posted_at", "When it was last posted; NULL until then.", null=True),
    moment("deadline_at", "When an unfinished check is ended by itself; NULL for what is finished.", null=True),
    CheckConstraint("kind IN ('comment', 'check')", name="kind"),
    CheckConstraint("version >= 1 AND posted_version BETWEEN 0 AND version", name="version"),
    Index("ix_forge_post_deadline", "deadline_at", postgresql_where=sql("deadline_at IS NOT NULL")),
    comment="A comment or a check of perfd at the forge: what should stand there, and what does.",
)
