from pathlib import Path

from click.testing import CliRunner

from perfd.cli import main


def told(folder: Path, values: list[float]) -> str:
    file = folder / "values.csv"
    file.write_text("time,value\n" + "".join(f"{night},{value}\n" for night, value in enumerate(values)), encoding="utf-8")
    return CliRunner().invoke(main, ["detect", str(file), "--online"], env={"COLUMNS": "200"}).output


def test_from_a_level_of_zero_the_table_tells_differences_and_no_shares(tmp_path: Path) -> None:
    output = told(tmp_path, [0.0] * 6 + [3.0] * 4)

    assert "[+3, +3]" in output
    assert "300" not in output


def test_from_any_other_level_it_tells_shares(tmp_path: Path) -> None:
    assert "[+200.00%, +200.00%]" in told(tmp_path, [1.0] * 6 + [3.0] * 4)


def test_one_value_is_one_point(tmp_path: Path) -> None:
    assert "value: 1 point;" in told(tmp_path, [1.0])
