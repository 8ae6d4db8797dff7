from dataclasses import replace

import pytest
from answers import EVIL, ORDINARY, ROWS, hostile, row
from rendered import shown, troubles
from write_golden import COMMENTS, GOLDEN

from perfd.domain.answer import Answer, Unmeasured
from perfd.domain.forge import LONGEST_COMMENT
from perfd.domain.verdict import Outcome
from perfd.forge.comment import comment_of, details_of, sentence, summary_of
from perfd.forge.rows import MOST_ROWS, leading
from perfd.rules.commands import commands_in

TAGS = {
    *("h3", "ul", "li", "p", "strong", "em", "a", "img", "code", "pre", "sub", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
"""All that a comment of perfd's is made of."""
SITE = "https://perf.example.org/"


@pytest.mark.parametrize("name", COMMENTS)
def test_a_comment_reads_as_it_always_did(name: str) -> None:
    assert (GOLDEN / name).read_text(encoding="utf-8") == comment_of(COMMENTS[name])


@pytest.mark.parametrize("answer", [ORDINARY, hostile(), hostile(100_000)], ids=["ordinary", "hostile", "huge"])
def test_a_comment_holds_nothing_but_its_own_markup(answer: Answer) -> None:
    seen = shown(comment_of(answer))

    assert set() == set(seen.tags) - TAGS
    assert [] == [link for link in seen.links if not link.startswith(SITE)]
    assert [] == list(troubles(seen))
    assert ([], []) == (seen.open_tags, seen.comments)


@pytest.mark.parametrize("answer", [hostile(), hostile(100_000)])
def test_a_check_holds_nothing_but_its_own_markup(answer: Answer) -> None:
    seen = shown(f"{summary_of(answer)}\n\n{details_of(answer, 60_000)}")

    assert set() == set(seen.tags) - TAGS
    assert ([], []) == (list(troubles(seen)), seen.open_tags)
    assert len(sentence(answer)) < 300


def test_perfds_own_comment_runs_no_command_even_when_it_is_quoted_badly() -> None:
    body = comment_of(ORDINARY)

    assert () == commands_in(body)
    assert () == commands_in("\n".join(f"> {line}" for line in body.splitlines()))


def test_the_verdict_counts_what_was_not_measured() -> None:
    assert (
        "This change makes llamacpp worse: 2 worse, 1 better, 1 same, 1 unsure of 5 metrics; 1 workload was not measured"
        == sentence(ORDINARY)
    )


def test_an_answer_without_numbers_says_so() -> None:
    empty = replace(ORDINARY, rows=(), unmeasured=(Unmeasured("steady", "the build failed", "ld: no such file"),) * 2)

    assert "Nothing could be measured of llamacpp: 2 workloads were not measured" == sentence(empty)
    assert "ld: no such file" in comment_of(empty)


def test_parts_stand_in_their_order() -> None:
    body = comment_of(ORDINARY)
    parts = [
        *("### This change makes", "- Base `1f1f", "3 days old, 43 commits behind main", "same hardware", "2 arms", "| class |"),
        *("![How", "Improvements: 1", "Everything: 5", "Not measured: 1", "Segmentation fault", "Measure it again"),
        *("perfd compare", "Commands", "False alarms", "detector pairs/1", "perfd 0.1.0"),
    ]

    assert sorted(map(body.index, parts)) == list(map(body.index, parts))


def test_a_table_has_ten_rows_the_worst_first_and_quality_among_them() -> None:
    many = tuple(row(f"w{n}", "itl_s", 0.002, 0.02 + n / 100, Outcome.WORSE) for n in range(12))
    found = leading([*ROWS, *many])

    assert MOST_ROWS == len(found)
    assert ("steady", True) == (found[0].workload, found[0].gates)
    assert "nll_nats" == found[-1].metric.name
    assert "7 more rows below." in comment_of(replace(ORDINARY, rows=(*ROWS, *many)))


def test_what_is_too_long_loses_its_folded_parts_and_says_so() -> None:
    many = tuple(row(f"workload {n}", "itl_s", 0.002, -0.05, Outcome.BETTER) for n in range(2000))
    body = comment_of(replace(ORDINARY, rows=(*ROWS, *many)))

    assert len(body) <= LONGEST_COMMENT
    assert "Left out for their length: everything, improvements; [the page of the comparison]" in body
    assert "Segmentation fault" in body
    assert "| chat | steady (smollm2) | itl_s |" in body


@pytest.mark.parametrize("length", [10_000, 300_000])
def test_no_comment_is_too_long(length: int) -> None:
    assert len(comment_of(hostile(length))) <= LONGEST_COMMENT


def test_a_base_that_a_person_asked_for_is_said_to_be_that() -> None:
    asked = replace(ORDINARY.against, asked="v1.2", behind=0)

    body = comment_of(replace(ORDINARY, against=asked))

    assert "(asked for as v1.2, 3 days old, the tip of main, measured now, beside head)" in body


def test_a_plain_difference_keeps_its_unit_where_the_base_is_zero() -> None:
    failed = row("steady", "failed_requests", 0.0, 3.0, Outcome.WORSE)

    assert "+3\N{NO-BREAK SPACE}requests" in comment_of(replace(ORDINARY, rows=(failed,)))


def test_the_hostile_words_are_still_there_to_be_read() -> None:
    texts = " ".join(shown(comment_of(hostile())).texts).replace("\u200b", "")

    assert "@everyone @org/team <script>alert(1)</script> | a | `code` **bold**" in texts
    assert "\u202e" in EVIL
    assert "\u202e" not in texts
