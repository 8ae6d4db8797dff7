"""The list of Series: which ones in which order, and how each stands."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from perfd.domain.suite import WorkloadClass
from perfd.site.choosing import Choice
from perfd.site.rows import CLASS_WORDS
from perfd.site.site import Site
from perfd.store.pages import Version
from perfd.store.records import SeriesLine, SeriesOrder


@dataclass(frozen=True)
class Listed:
    """One page of the list of Series, and how many there are on all pages."""

    lines: tuple[SeriesLine, ...]
    total: int
    quiet: Mapping[WorkloadClass, int]
    """Of these, by class: those that were left out because nothing moved."""


def order_of(site: Site, chosen: Choice, version: Version) -> SeriesOrder:
    """The Series that were asked for, as they stand at that version of all, or later.

    All of them are put in order once for everybody, until others have Points.
    """

    def make() -> SeriesOrder:
        return site.store.pages.series_order(chosen.series, tuple(CLASS_WORDS))

    return site.memory.fact(("order", version.members), make) if chosen == Choice() else make()


def listed(site: Site, chosen: Choice, version: Version, offset: int, limit: int) -> Listed:
    """One page of the Series that were asked for; of all of them, unmoved counts of Kernels are counted and not listed."""
    order = order_of(site, chosen, version)
    shown, quiet = order.ids, {}
    if chosen == Choice() and WorkloadClass.KERNEL in order.counts:
        shown = shown[~np.isin(shown, site.store.pages.unmoved())]
        quiet = {WorkloadClass.KERNEL: len(order.ids) - len(shown)}
    return Listed(site.store.pages.series_lines(shown[offset : offset + limit].tolist()), len(order.ids), quiet)
