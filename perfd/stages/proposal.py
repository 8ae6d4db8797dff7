"""What is said at the end of a bisection, and the patch that takes its commit back; a person applies it, perfd never does."""

from typing import Any

from perfd import builders
from perfd.domain.bisect import BisectEnd
from perfd.domain.subject import SourceKind, brief
from perfd.errors import PerfdError
from perfd.rules.bisect import Ended
from perfd.rules.suspects import epoch_difference
from perfd.stages.context import Context
from perfd.stages.subjects import by_name
from perfd.store.records import BisectRow

NAMED = 6
"""Commits of a range that are named."""


def story(row: BisectRow, ended: Ended) -> str:
    """How the bisection ended, in a sentence or two."""
    good, bad = (row.path[place] for place in (ended.good, ended.bad))
    begin = f"bisect {row.id} of {row.subject}:"
    if ended.end is BisectEnd.COMMIT:
        return f"{begin} commit {brief(bad.revision)} {bad.title}".rstrip() + f" did it. {_sentence(ended.reason)}"
    if ended.end is BisectEnd.DEPENDENCIES:
        what = f"no commit did it: {brief(bad.revision)} differs from itself by what it was built with"
        return f"{begin} {what}. {_sentence(ended.reason)}"
    if ended.end is BisectEnd.NOT_REPRODUCED:
        return f"{begin} not reproduced. {_sentence(ended.reason)}"
    count = ended.bad - ended.good
    names = f"{brief(good.revision)} (good) and {brief(bad.revision)} (bad)"
    return (
        f"{begin} one of the {count} after {names.replace(' and ', ' up to ')}; not narrowed further. {_sentence(ended.reason)}"
    )


def account(row: BisectRow) -> dict[str, Any]:
    """A bisection as reports tell it: how it ended, or how far it has come."""
    if row.ended is None:
        sentence = f"bisect {row.id} of {row.subject}: {len(row.path)} places, {len(row.steps)} steps so far; it goes on"
        return {"bisect": row.id, "regression": row.regression, "outcome": None, "sentence": sentence}
    ended = Ended(row.ended.end, row.ended.good, row.ended.bad, row.ended.reason)
    return {"bisect": row.id, "regression": row.regression, "outcome": ended.end.value, "sentence": story(row, ended)}


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}".rstrip(".") + "."


def propose(context: Context, row: BisectRow, ended: Ended) -> tuple[str, str]:
    """The patch's file ("" where there is none), and what a person can do."""
    if ended.end is BisectEnd.COMMIT:
        try:
            return _revert(context, row, ended)
        except PerfdError as error:
            return "", f"No patch could be made: {error.message}"
    if ended.end is BisectEnd.DEPENDENCIES:
        return "", _what_changed(context, row, ended)
    if ended.end is BisectEnd.RANGE:
        names = [brief(place.revision) for place in row.path[ended.good + 1 : ended.bad + 1]]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return "", f"Look at {', '.join(names[:NAMED])}{more}; a larger budget may narrow it."
    return "", "Nothing is to be taken back."


def _revert(context: Context, row: BisectRow, ended: Ended) -> tuple[str, str]:
    subject, commit = by_name(context.config, row.subject), row.path[ended.bad].revision
    if subject.source.kind is not SourceKind.GIT:
        return "", f"Go back to {row.path[ended.good].revision}, the release before it."
    patch = context.config.state.absolute() / "bisect" / str(row.id) / f"revert-{commit[:12]}.patch"
    made = builders.revert(subject.source, commit, context.config.state, patch)
    onto = f"{subject.source.branch} ({made.onto[:12]})"
    if made.conflicts:
        return (
            "",
            f"Reverting {commit[:12]} on {onto} conflicts in {', '.join(made.conflicts[:NAMED])}: it has to be done by hand.",
        )
    if made.patch is None:
        return "", f"Nothing of {commit[:12]} is left on {onto}: it was taken back already."
    return str(made.patch), f"To take {commit[:12]} back on {onto}: git apply --index {made.patch}"


def _what_changed(context: Context, row: BisectRow, ended: Ended) -> str:
    """What the two Builds of one commit were made with, where both are known."""
    pages = [context.store.builds.planned(digest) for digest in _digests(context, row, ended)]
    specs = [page.spec for page in pages if page is not None]
    if len(specs) < 2:
        return "Compare what the two builds were made with on their pages."
    before, after = ({**spec.toolchain, **spec.dependencies, "recipe": spec.recipe_hash[:12]} for spec in specs)
    return f"What changed: {epoch_difference(before, after) or 'nothing that is named'}."


def _digests(context: Context, row: BisectRow, ended: Ended) -> list[str]:
    """The digests of the Builds at the two places, from the comparison that told them apart."""
    told = next(step for step in reversed(row.steps) if (step.base, step.head) == (ended.good, ended.bad))
    runs = context.store.pages.blocks(told.occasion)
    return [next(one.run.build for one in runs if one.run.arm == arm) for arm in ("base", "head")]
