"""watch: the newest Revisions of every subject of a due occasion are known."""

from perfd import builders
from perfd.domain.occasion import Finding, Occasion, OccasionState
from perfd.domain.subject import Revision, brief
from perfd.errors import PerfdError
from perfd.stages.context import Context
from perfd.stages.subjects import Chosen, chosen


def watch(context: Context) -> bool:
    """One due occasion is watched; a source that does not answer is a finding, and what was known of it serves."""
    occasion = context.store.occasions.in_state(OccasionState.DUE)
    if occasion is None:
        return False
    for subject in chosen(context.config, occasion):
        _look(context, occasion, subject)
    context.store.occasions.move(occasion, OccasionState.DUE, OccasionState.WATCHED, context.now())
    return True


def _look(context: Context, occasion: Occasion, subject: Chosen) -> None:
    try:
        look_up(context, subject)
    except PerfdError as error:
        context.store.occasions.note(occasion, Finding("watch", subject.name, error.message), context.now())
        context.tell.say("watch", f"{subject.name}: {error.message}")


def look_up(context: Context, subject: Chosen) -> tuple[Revision, ...]:
    """The Revisions of the subject, oldest first, also in the store; raises PerfdError where its source does not answer."""
    revisions = builders.revisions(subject.source, context.config.state, lambda sentence: context.tell.say("watch", sentence))
    new = context.store.subjects.record(subject.name, subject.kind, subject.source.branch, revisions)
    newest = revisions[-1]
    title = f" {newest.title}" if newest.title else ""
    context.tell.say("watch", f"{subject.name}: {new} new of {len(revisions)} revisions, newest {brief(newest.name)}{title}")
    return revisions
