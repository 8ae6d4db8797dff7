import hashlib
import re
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
SUMS = sorted((WEB / "static" / "vendor").glob("*/SHA256SUMS"))


@pytest.mark.parametrize("sums", SUMS, ids=lambda path: path.parent.name)
def test_vendored_files_are_what_was_published(sums: Path) -> None:
    told = dict(reversed(line.split()) for line in sums.read_text().splitlines())

    assert told == {name: hashlib.sha256((sums.parent / name).read_bytes()).hexdigest() for name in told}
    assert "LICENSE" in told


def test_everything_vendored_is_accounted_for() -> None:
    folders = [path for path in (WEB / "static" / "vendor").iterdir() if path.is_dir()]

    assert folders
    for folder in folders:
        named = set((folder / "SHA256SUMS").read_text().split()[1::2])
        assert {path.name for path in folder.iterdir()} == named | {"SHA256SUMS", "SOURCE.md"}


def test_no_page_loads_anything_from_elsewhere() -> None:
    for path in [*(WEB / "templates").glob("*.html"), *(WEB / "static").glob("*.*")]:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(https?:)?//[a-z]", text.replace("://", "//") if "http" in text else ""), path


def test_no_template_has_inline_script_or_style_or_unescaped_text() -> None:
    for path in (WEB / "templates").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|\|\s*safe|autoescape false", text), path
        for tag in re.findall(r"<script[^>]*>", text):
            assert "src=" in tag or 'type="application/json"' in tag, path


def test_a_page_weighs_at_most_150_kb_without_its_data() -> None:
    files = [path for path in (WEB / "static").rglob("*") if path.suffix in {".css", ".js", ".svg"}]

    assert sum(path.stat().st_size for path in files) <= 150_000
