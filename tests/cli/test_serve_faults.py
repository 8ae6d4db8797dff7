"""What happens to the service when one of its threads meets a fault of perfd's own, and not merely trouble."""

from pathlib import Path

import pytest

from perfd.cli.serve import _fire, _in_background
from perfd.cli.tell import Silent
from perfd.config import load_config
from perfd.errors import PerfdError
from perfd.stages.context import Context
from perfd.store import Store, make_engine


@pytest.fixture
def context(store: Store, tmp_path: Path) -> Context:
    return Context(load_config(None, {"PERFD_STATE": str(tmp_path)}), store, Silent(), "here:1:1")


def test_a_fault_in_the_background_ends_the_service_and_is_raised(context: Context) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a fault")

    with pytest.raises(ZeroDivisionError, match="a fault"), _in_background("worker", broken, context):
        assert context.over.wait(10.0)


def test_trouble_in_the_background_is_told_and_tried_again(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perfd.cli.serve.LOOK_S", 0.01)
    times: list[int] = []

    def troubled() -> None:
        times.append(1)
        if len(times) < 3:
            raise PerfdError("the index does not answer", permanent=False)
        context.over.set()

    with _in_background("worker", troubled, context):
        assert context.over.wait(10.0)

    assert 3 == len(times)


def test_a_clock_that_fires_without_a_database_tells_so_and_goes_on(tmp_path: Path) -> None:
    lines: list[str] = []

    class Listening(Silent):
        def say(self, stage: str, sentence: str) -> None:
            lines.append(f"{stage} {sentence}")

    gone = Store(make_engine(f"postgresql+psycopg:///perfd?host={tmp_path}"))
    _fire(Context(load_config(None, {"PERFD_STATE": str(tmp_path)}), gone, Listening(), "here:1:1"))

    assert [True] == [line.startswith("clock the database does not answer (") for line in lines]
