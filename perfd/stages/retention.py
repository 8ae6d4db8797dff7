"""retention: once a night is reported, the raw Samples of months that are too old go; what that was is told."""

from dataclasses import dataclass

from perfd.config import Config
from perfd.domain.occasion import OccasionState
from perfd.domain.run import OccasionKind
from perfd.stages.context import Context
from perfd.store import pruning


@dataclass
class Retention:
    """The clock's own; two of them do the same twice, which changes nothing."""

    context: Context
    night: str = ""
    """The last night after which was looked."""

    def __call__(self) -> bool:
        """Old months have gone since the last night was reported; False where that had been seen to before.

        It waits for a night's end so that no Run is disturbed. Raises PerfdError where somebody reads a month for too long: that
        goes after the next night.
        """
        months = self.context.config.schedule.keep_samples_months
        night = self.context.store.occasions.last(OccasionKind.NIGHT, OccasionState.REPORTED)
        if months == 0 or night is None or night.name == self.night:
            return False
        self.night = night.name
        before = pruning.first_kept(self.context.now(), months)
        for one in pruning.prune(self.context.store.engine, before, pinned(self.context.config)):
            self.context.tell.say("retention", f"{sentence(one)} (schedule.keep_samples_months is {months})")
        return True


def pinned(config: Config) -> list[pruning.Pinned]:
    """The releases that budgets hold a night against: their Samples stay."""
    return [(one.engine, one.revision) for one in config.budgets]


def sentence(one: pruning.OldMonth, verb: str = "gone") -> str:
    """What went of a month, as a person reads it."""
    kept = f"; {one.needed:,} stay, which something open needs" if one.needed else f" with {one.size_bytes / 1e6:,.1f} MB"
    return f"{one.month}: {one.samples:,} Samples {verb}{kept}"
