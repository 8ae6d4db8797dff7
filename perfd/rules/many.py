"""A judgement of one Series, held to all Series of its night."""

from dataclasses import replace

from perfd.domain.verdict import Change, ChangeStatus, Judgement, Outcome


def held_to_all(judgement: Judgement, controlled: Change) -> Judgement:
    """The judgement with tonight's Change as it stands among all Series; one that waits leaves the Verdict unsure."""
    changes = tuple(controlled if change.index == controlled.index else change for change in judgement.changes)
    verdict = replace(judgement.verdict, q=controlled.q)
    if controlled.status is ChangeStatus.SUSPECT and verdict.outcome in {Outcome.WORSE, Outcome.BETTER}:
        waits = f"{verdict.reason}; among all Series of the night q is {controlled.q:.2g}, and another night must show it"
        verdict = replace(verdict, outcome=Outcome.UNSURE, reason=waits)
    return Judgement(verdict, changes)
