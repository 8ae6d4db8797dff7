"""Suspects beside a commit: what two Environments differ in, as a person would say it."""

from collections.abc import Mapping

MOST = 4


def epoch_difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Each thing that changed with its versions, "torch 2.12.0 → 2.13.0, …"; "" where nothing did."""
    names = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    told = [f"{name} {before.get(name, 'absent')} → {after.get(name, 'absent')}" for name in names[:MOST]]
    return ", ".join(told) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
