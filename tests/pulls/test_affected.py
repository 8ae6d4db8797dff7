import time

import pytest

from perfd.domain.area import Area, Gate
from perfd.domain.suite import Workload, WorkloadClass
from perfd.rules.affected import affected

ATTENTION = Area(("src/attention/", "*.cu"), suites=("latency",))
SAMPLER = Area(("**/sampl*",), workloads=("tasks_gsm8k",))
TOOLING = Area(("/ci/", ".github/"))
AREAS = (ATTENTION, SAMPLER, TOOLING)


def workload(suite: str, name: str) -> Workload:
    return Workload(suite, name, WorkloadClass.CHAT, {}, 0, "")


@pytest.mark.parametrize(
    "paths",
    [["README.md"], ["docs/a/deep/page.html", "src/README.rst"], ["LICENSE"], ["Übersicht der Änderungen.md", "docs/日本語.png"]],
)
def test_documentation_alone_measures_nothing(paths: list[str]) -> None:
    found = affected(paths, AREAS)

    assert found.nothing
    assert "only documentation is changed" in found.why


@pytest.mark.parametrize("path", ["CMakeLists.txt", "requirements.txt", "src/docs/loader.py", "mdx.py", "docs.py"])
def test_what_only_looks_like_documentation_is_measured(path: str) -> None:
    assert affected([path], ()).everything


def test_a_change_in_an_area_measures_only_what_it_can_affect() -> None:
    found = affected(["src/attention/paged.cc", "src/sampling.py", "README.md"], AREAS)

    assert not found.everything
    assert found.covers(workload("latency", "chat"))
    assert found.covers(workload("tasks", "tasks_gsm8k"))
    assert not found.covers(workload("throughput", "batch"))


def test_one_file_in_no_area_measures_everything_and_is_named() -> None:
    found = affected(["src/attention/paged.cc", "src/new place/läufer.cc"], AREAS)

    assert found.everything
    assert "src/new place/läufer.cc is in no area" in found.why


def test_an_area_that_affects_nothing_is_green() -> None:
    found = affected(["ci/run", ".github/workflows/build.yml"], AREAS)

    assert found.nothing


def test_an_empty_change_measures_nothing() -> None:
    assert "no file" in affected([], AREAS).why


def test_a_list_that_is_not_whole_measures_everything() -> None:
    assert affected(["README.md"] * 3000, AREAS, complete=False).everything


def test_three_thousand_files_are_told_apart_in_a_moment() -> None:
    began = time.perf_counter()

    found = affected([f"src/attention/part{n}/läufer {n}.cc" for n in range(3000)], AREAS)

    assert (False, frozenset({"latency"})) == (found.everything, found.suites)
    assert time.perf_counter() - began < 1.0


@pytest.mark.parametrize(
    ("gate", "holds"),
    [
        (Gate(), True),
        (Gate(workload="steady"), True),
        (Gate(workload_class="chat", metric="itl_s"), True),
        (Gate(workload="steady", metric="ttft_s"), False),
        (Gate(workload_class="batch"), False),
    ],
)
def test_a_gate_holds_where_every_part_fits(gate: Gate, *, holds: bool) -> None:
    assert holds == gate.holds("steady", "chat", "itl_s")
