from pathlib import Path

import pytest

from perfd.config import load_config
from perfd.domain.budget import Budget
from perfd.errors import BadInputError


def written(folder: Path, text: str) -> Path:
    path = folder / "perfd.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_aa_and_confirming_are_on_and_can_be_switched_off(tmp_path: Path) -> None:
    default = load_config(written(tmp_path, ""), {}).schedule
    off = load_config(written(tmp_path, "[schedule]\naa = false\nconfirm_minutes = 0\n"), {}).schedule

    assert (True, 20.0) == (default.aa, default.confirm_minutes)
    assert (False, 0.0) == (off.aa, off.confirm_minutes)


def test_a_budget_pins_a_release(tmp_path: Path) -> None:
    name = load_config(written(tmp_path, ""), {}).engines[0].name
    text = f'[[budgets]]\nengine = "{name}"\nrevision = "v1.2"\nshare = 0.03\nmetric = "itl_s"\nclass = "chat"\n'

    assert (Budget(name, "v1.2", 0.03, "itl_s", "chat"),) == load_config(written(tmp_path, text), {}).budgets


def test_every_mistake_in_a_budget_is_told_with_its_line(tmp_path: Path) -> None:
    text = '[[budgets]]\nengine = "nobody"\nshare = -1\nmetric = "itl"\nclass = "chatty"\n'

    with pytest.raises(BadInputError) as error:
        load_config(written(tmp_path, text), {})
    told = str(error.value)
    assert 'needs "revision"' in told
    for line, word in ((2, "nobody"), (3, "share"), (4, "itl_s"), (5, "chat")):
        assert any(one.split(":")[1] == str(line) and word in one for one in told.splitlines()), (line, told)
