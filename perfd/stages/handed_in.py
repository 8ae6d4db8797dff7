"""What a long Run hands in, told and stored while it goes on; at its end, whether it was progress."""

from contextlib import suppress
from pathlib import Path

from perfd.bench import longrun
from perfd.domain.occasion import Finding
from perfd.domain.submission import Submission, mean
from perfd.rules.gaming import Course, course, sentence
from perfd.stages.context import Context
from perfd.store.records import ClaimedRun
from perfd.store.trouble import DATABASE_GONE


class HandedIn:
    """The submissions of one try of a Run; of a Run of another class there are none."""

    def __init__(self, context: Context, claimed: ClaimedRun, work: Path) -> None:
        self._context, self._claimed, self._work = context, claimed, work
        self._known: list[Submission] = []

    def look(self) -> None:
        """Everything that was scored until now is stored and told; what the database cannot take now, it takes the next time."""
        new = longrun.read_new(self._work, len(self._known))
        if not new:
            return
        with suppress(*DATABASE_GONE):
            self._context.store.submissions.add(self._claimed, new)
            self._known.extend(new)
            for one in new:
                self._context.tell.say("measure", f"{self._claimed.workload.name}: {_said(one)}")

    def conclude(self) -> None:
        """A Run that was gamed is a finding of its occasion; every long Run is told in one sentence."""
        self.look()
        if not self._known:
            return
        told = f"{self._claimed.workload.name}: {sentence(self._known)}"
        self._context.tell.say("measure", told)
        if course(self._known) is Course.GAMING:
            finding = Finding("measure", self._claimed.spec.subject, told)
            self._context.store.occasions.note(self._claimed.occasion, finding, self._context.now())


def _said(one: Submission) -> str:
    if one.reason:
        return f"{one.name} after {one.elapsed_s:.0f} s: not scored, {one.reason}"
    scores = f"{mean(one.validation):.4g} on the validation set, {mean(one.held_out):.4g} on the held-out set"
    return f"{one.name} after {one.elapsed_s:.0f} s: {one.metric} {scores}"
