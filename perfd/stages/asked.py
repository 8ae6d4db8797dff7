"""A comparison that a pipeline asked for: planned, or ended at once with the reason why it cannot be."""

from perfd.domain.occasion import Finding, Occasion, OccasionState
from perfd.domain.pull import ComparisonAsked
from perfd.domain.run import OccasionKind
from perfd.errors import PerfdError
from perfd.stages.aside import Aside, open_aside
from perfd.stages.context import Context
from perfd.stages.subjects import by_name


def handle_asked(context: Context, event: ComparisonAsked) -> str:
    """The comparison stands there under the name that was promised; what became of it, in a sentence."""
    occasion = Occasion(OccasionKind.COMPARE, event.at, event.label)
    try:
        subject = by_name(context.config, event.engine)
        aside = Aside(subject, event.base, event.head, event.label, "pull", event.suites, event.at)
        if open_aside(context, aside) is None:
            return _refused(context, occasion, event, f"nothing is measured on {event.engine}")
    except PerfdError as error:
        return _refused(context, occasion, event, error.message)
    return f"{occasion.name} was asked for and is planned"


def _refused(context: Context, occasion: Occasion, event: ComparisonAsked, why: str) -> str:
    context.store.occasions.open(occasion, context.now(), OccasionState.JUDGED)
    context.store.occasions.note(occasion, Finding("compare", event.engine, why), context.now())
    return f"{occasion.name} was asked for and cannot be measured: {why}"
