"""Writes the golden comments again: `python tests/pulls/write_golden.py`; the diff shows what a reader will see."""

from pathlib import Path

from answers import ORDINARY, hostile

from perfd.forge.comment import comment_of

GOLDEN = Path(__file__).with_name("golden")
COMMENTS = {"ordinary.md": ORDINARY, "hostile.md": hostile()}

if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, answer in COMMENTS.items():
        (GOLDEN / name).write_text(comment_of(answer), encoding="utf-8")
