"""Which Workloads a change can affect, by the paths that it touches. Pure; 3,000 files take milliseconds.

What no area of the configuration knows may affect everything: a forgotten pattern costs minutes, never a missed slowdown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from perfd.domain.area import Area
from perfd.domain.suite import Workload

DOCUMENTATION = ("*.md", "*.rst", "*.adoc", "/docs/", "/doc/", "LICENSE*", "CITATION.cff", "CODEOWNERS", ".mailmap")
"""What people read and no engine does, unless the configuration says otherwise. Not *.txt: CMakeLists and requirements are."""


@dataclass(frozen=True)
class Affected:
    """What is to be measured for a change, and the sentence that says why."""

    everything: bool
    suites: frozenset[str]
    workloads: frozenset[str]
    why: str

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to measure."""
        return not (self.everything or self.suites or self.workloads)

    def covers(self, workload: Workload) -> bool:
        """Whether the Workload is to be measured."""
        return self.everything or workload.suite in self.suites or workload.name in self.workloads


def affected(
    paths: Sequence[str], areas: Sequence[Area], documentation: Sequence[str] = DOCUMENTATION, *, complete: bool = True
) -> Affected:
    """What a change of these paths can affect; `complete` is false where the forge listed only some of them."""
    if not complete:
        return _everything(f"only {len(paths)} of the changed files are known")
    if not paths:
        return _nothing("the change touches no file")
    ignored = GitIgnoreSpec.from_lines(documentation)
    code = [path for path in paths if not ignored.match_file(path)]
    if not code:
        return _nothing(f"only documentation is changed ({_counted(len(paths))})")
    known = [(area, GitIgnoreSpec.from_lines(area.paths)) for area in areas]
    touched = [[area for area, spec in known if spec.match_file(path)] for path in code]
    stray = next((path for path, found in zip(code, touched, strict=True) if not found), None)
    if stray is not None:
        return _everything(
            f"{_short(stray)} is in no area of the configuration" if areas else f"{_counted(len(code))} may affect anything"
        )
    return _of_areas({area for found in touched for area in found}, len(code))


def _of_areas(areas: Iterable[Area], files: int) -> Affected:
    found = tuple(areas)
    suites = frozenset(name for area in found for name in area.suites)
    workloads = frozenset(name for area in found for name in area.workloads)
    if not suites and not workloads:
        return _nothing(f"nothing that is measured can be affected ({_counted(files)})")
    return Affected(
        everything=False, suites=suites, workloads=workloads, why=f"{_counted(files)} in areas that affect these only"
    )


def _everything(why: str) -> Affected:
    return Affected(everything=True, suites=frozenset(), workloads=frozenset(), why=f"everything, since {why}")


def _nothing(why: str) -> Affected:
    return Affected(everything=False, suites=frozenset(), workloads=frozenset(), why=why)


def _counted(files: int) -> str:
    return f"{files:,} file{'' if files == 1 else 's'}"


def _short(path: str) -> str:
    return path if len(path) <= 80 else f"{path[:79]}…"
