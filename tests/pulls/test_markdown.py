import pytest
from answers import EVIL
from hypothesis import given
from hypothesis import strategies as st
from rendered import shown, troubles

from perfd.forge.markdown import LONGEST_NAME, escaped, fenced, plain, table

NASTY = st.lists(
    st.sampled_from([*"\\`*_[]()#+-!~$@<>|&=:.'\" \n\t1aw/", "\u202e", "\u200b", "<!--", "-->", "http://", "GH-"])
).map("".join)


@pytest.mark.parametrize(
    "text",
    [
        EVIL,
        "- item",
        "1. item",
        "# heading",
        "=====",
        "---",
        "> quote",
        "_under_ __score__",
        "a | b \\| c \\\\| d",
        "&#64;everyone &lt;script&gt;",
        "[x]: https://evil.example",
        "https://evil.example/@everyone",
        "o/r#12",
        "<https://evil.example>",
    ],
)
def test_text_from_outside_is_only_text(text: str) -> None:
    seen = shown(escaped(text, 1000))

    assert ["p"] == seen.tags
    assert [] == seen.links
    assert [] == list(troubles(seen))


@given(NASTY)
def test_no_text_whatever_becomes_markup(text: str) -> None:
    seen = shown(f"Before {escaped(text)} after")

    assert (["p"], [], []) == (seen.tags, seen.links, list(troubles(seen)))


@given(NASTY)
def test_no_text_whatever_leaves_its_cell(text: str) -> None:
    seen = shown(table(("a", "b"), [(escaped(text), "last")]))

    assert ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"] == seen.tags
    assert "last" == seen.texts[-2].strip() or "last" in "".join(seen.texts)


@given(st.lists(st.sampled_from(["`", "~", "\n", "<!--", "@a", " ", "\r", "\x1b[1m", "</details>"])).map("".join))
def test_no_line_ends_its_block_of_code(text: str) -> None:
    seen = shown(fenced(text))

    assert ["pre", "code"] == seen.tags
    assert "" == "".join(seen.texts).strip()


def test_a_log_cannot_imitate_the_hidden_marker() -> None:
    assert "<!--" not in fenced("<!-- perfd:comment:o/r#1:1 -->")


@pytest.mark.parametrize("line", ["::add-mask::a", "  ::stop-commands::x", "a ##[error]b", "\x1b[0m::error::c"])
def test_a_log_gives_a_runner_no_orders(line: str) -> None:
    shown = fenced(line).split("\n")[1]

    assert not shown.lstrip().startswith("::")
    assert "##[" not in shown


def test_colours_of_a_terminal_are_dropped_from_logs() -> None:
    assert "```\nred\n```" == fenced("\x1b[1;31mred\x1b[0m")


def test_what_turns_words_around_is_shown_as_a_mark() -> None:
    assert "a\ufffdb" == plain("a\u202eb")


def test_ordinary_names_stay_readable() -> None:
    assert "itl_s of llama.cpp (v1.2-rc1), 5 % + 2!" == escaped("itl_s of llama.cpp (v1.2-rc1), 5 % + 2!")
    assert "Übersicht 性能 🚀 👩‍💻" == escaped("Übersicht 性能 🚀 👩‍💻")


def test_a_name_of_a_hundred_thousand_characters_is_cut() -> None:
    assert LONGEST_NAME == len(plain("x" * 100_000))
    assert len(plain("e" + "\u0301" * 10_000)) < 10


def test_half_a_character_can_be_sent() -> None:
    assert b"a\xef\xbf\xbdb" == escaped("a\ud800b").encode()
