"""What is found by reading all Points of one Series: once for its page, its chart, and what each Point of the chart is.

It is remembered under the version of the Series, so that whoever asks after the next write has it found anew.
"""

from perfd.site.site import Site
from perfd.store.pages import Chosen, Extent, Version, Window


def extent(site: Site, series_id: int, version: Version) -> Extent:
    """How many Points the Series has, and between which values they lie. `version` is that of this Series alone."""
    return site.memory.fact(("extent", series_id, version), lambda: site.store.pages.extent(series_id))


def chosen(site: Site, series_id: int, version: Version, window: Window) -> Chosen | None:
    """Which Points a chart of this window gives; absent where it gives all."""
    total = extent(site, series_id, version).total
    if window.many(total) <= window.most:
        return None
    return site.memory.fact(("chosen", series_id, version, window), lambda: site.store.pages.choose(series_id, window, total))


def chosen_of_long(site: Site, series_id: int, version: Version, window: Window) -> Chosen | None:
    """The same of a Series whose page has just been made, or whose Points were told; absent, too, where nobody has counted yet.

    Most Series are short: counting one first would take as long as to give all its Points.
    """
    return chosen(site, series_id, version, window) if site.memory.knows(("extent", series_id, version)) else None
