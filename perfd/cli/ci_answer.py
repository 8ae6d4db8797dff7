"""What `perfd ci` says, and where: standard output, the job's summary, and a comment where a token is at hand."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from perfd.cli.group import FINE, REGRESSION, UNSURE
from perfd.cli.tell import Teller
from perfd.domain.answer import Answer
from perfd.domain.forge import Comment, Conclusion, ForgeError, Trouble
from perfd.domain.verdict import Outcome
from perfd.errors import BadInputError
from perfd.forge import github_with_token
from perfd.forge.actions import PipelineFacts, head_of, token_of
from perfd.forge.comment import comment_of, sentence
from perfd.forge.notes import nothing
from perfd.rules.conclusion import Said, conclude
from perfd.stages.context import utc_now
from perfd.stages.spot import Found

EXIT = {Conclusion.SUCCESS: FINE, Conclusion.FAILURE: REGRESSION, Conclusion.NEUTRAL: UNSURE, Conclusion.ACTION_REQUIRED: UNSURE}
READ_ONLY = (
    "the token may not comment here, as in every workflow of a fork: see docs/github_actions.yml for the two-workflow split"
)


@dataclass(frozen=True)
class Reply:
    """What is said."""

    conclusion: Conclusion
    title: str
    body: str
    """Markdown."""
    answer: Answer | None
    """Absent where there was nothing to measure."""

    @property
    def exit_code(self) -> int:
        """As docs/design.md has it; a loss that no gate speaks of is told, and fails nothing."""
        only_told = self.answer is not None and self.answer.verdict.outcome is Outcome.WORSE and not self.answer.unmeasured
        return FINE if only_told and self.conclusion is Conclusion.NEUTRAL else EXIT[self.conclusion]


def reply_of(found: Found) -> Reply:
    """The reply to what was found."""
    if found.answer is None:
        note = nothing(found.affected.why)
        return Reply(Conclusion.SUCCESS, note.title, f"### {note.title}\n\n{note.summary}", None)
    return _reply(found.answer)


def _reply(answer: Answer) -> Reply:
    lines = [Said(row.verdict.outcome, row.gates) for row in answer.counting]
    conclusion = conclude(answer.verdict.outcome, lines, len(answer.unmeasured))
    return Reply(conclusion, sentence(answer), comment_of(answer), answer)


def reply_of_artefact(answer: Answer, pull: int, facts: PipelineFacts, head: str) -> Reply:
    """The reply for an answer that a workflow of a fork left; raises BadInputError where it speaks of another pull request.

    Whoever wrote the file chose its number: GitHub is asked whether that pull request has the head that the workflow ran for.
    """
    ran = head or facts.head
    if not ran:
        raise BadInputError("--from belongs into a workflow that `workflow_run` starts; elsewhere give the commit with --head")
    if answer.head != ran:
        raise BadInputError(f"the answer is for {answer.head[:12]}, and the workflow ran for {ran[:12]}: it is not commented")
    if facts.pull not in {None, pull}:
        raise BadInputError(f"the answer is for pull request {pull}, and --pull says {facts.pull}: it is not commented")
    token = token_of(os.environ, facts, utc_now)
    if token is not None and head_of(facts, facts.repository, pull, token, utc_now) != ran:
        raise BadInputError(f"pull request {pull} of {facts.repository} has another head than {ran[:12]}: it is not commented")
    return _reply(answer)


def deliver(reply: Reply, facts: PipelineFacts, tell: Teller) -> str:
    """The job's summary and, with a token, one comment hold the reply; the comment's address, empty where there is none.

    That there is nothing to measure needs no comment.
    """
    summary = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(f"{reply.body}\n")
    if facts.pull is None or not facts.repository or reply.answer is None:
        return ""
    # No memory outlives the pipeline: a verdict that is worse has a comment of its own, which is edited while it stays so.
    worse = reply.answer.verdict.outcome is Outcome.WORSE
    comment = Comment(facts.repository, facts.pull, "worse" if worse else "1", reply.body)
    marker = sha256(f"perfd ci {comment.key}".encode()).hexdigest()[:32]
    try:
        token = token_of(os.environ, facts, utc_now)
        return github_with_token(facts.api, token, utc_now).put_comment(comment, marker).url if token else ""
    except ForgeError as error:
        hint = f"; {READ_ONLY}" if error.trouble is Trouble.FORBIDDEN else ""
        tell.say("ci", f"not commented: {error.message}{hint}")
        return ""
