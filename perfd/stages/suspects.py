"""What changed beside the commit: driver, libraries and dependencies are suspects like it."""

from perfd.domain.past import Past
from perfd.rules.suspects import epoch_difference
from perfd.stages.context import Context


def what_changed(context: Context, points: Past, place: int) -> str:
    """What the software of the Point at `place` has that the one before had not; "" where their epoch is the same."""
    if place == 0 or points.epochs[place - 1] == points.epochs[place]:
        return ""
    pages = [context.store.pages.run_page(points.runs[index]) for index in (place - 1, place)]
    before, after = ({} if page is None or page.environment is None else page.environment.software for page in pages)
    return epoch_difference(before, after)
