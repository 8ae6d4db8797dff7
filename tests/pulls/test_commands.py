import pytest

from perfd.domain.command import USAGE, Acknowledge, Bisect, Command, CompareWith, Help, Rerun, RunSuites
from perfd.rules.commands import MOST, commands_in


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/perfd run", RunSuites()),
        ("/perfd run latency  tasks latency", RunSuites(("latency", "tasks"))),
        ("/perfd compare v1.2/rc+1", CompareWith("v1.2/rc+1")),
        ("/perfd rerun ", Rerun()),
        ("/perfd ack #12 a faster sampler costs 2 %", Acknowledge(12, "a faster sampler costs 2 %")),
        ("/perfd bisect", Bisect()),
        ("/perfd help", Help()),
        ("/perfd", Help()),
        ("   /perfd\trun", RunSuites()),
    ],
)
def test_every_command_is_read(line: str, expected: Command) -> None:
    assert (expected,) == commands_in(f"Thanks!\r\n{line}\r\nand more words")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/perfd rnu", "“rnu”"),
        ("/perfd run ../../etc", "“../../etc” cannot be the name of a suite"),
        ("/perfd compare", "wants one commit"),
        ("/perfd compare --upload-pack=evil", "--upload-pack=evil"),
        ("/perfd compare a..b", "wants one commit"),
        ("/perfd compare main other", "wants one commit"),
        ("/perfd ack 12", "a reason"),
        ("/perfd ack twelve it is fine", "the number of a regression"),
        ("/perfd rerun now", "takes nothing after it"),
        ("/perfd " + "x" * 100_000, "x…”"),
        ("/perfd 測定", "“測定”"),
    ],
)
def test_what_is_no_command_is_answered_with_help_that_says_why(line: str, why: str) -> None:
    (found,) = commands_in(line)

    assert isinstance(found, Help)
    assert why in found.why
    assert len(found.why) < 120


@pytest.mark.parametrize(
    "body",
    [
        "```\n/perfd run\n```",
        "```\n/perfd run",
        "````md\n```\n/perfd run\n```\n````",
        "~~~\n```\n/perfd run\n~~~",
        "    /perfd run",
        "\t/perfd run",
        "> /perfd run",
        "> Ada wrote\n/perfd run",
        "<!-- /perfd run -->",
        "<!--\n/perfd run\n-->",
        "please say `/perfd run`",
        "see /perfd run",
        "/perfdrun",
        "/perfd-run",
        "",
    ],
)
def test_code_quotes_comments_and_passing_mentions_run_nothing(body: str) -> None:
    assert () == commands_in(body)


@pytest.mark.parametrize(
    "body", ["```\nx\n```\n/perfd run", "> quoted\n\n/perfd run", "<!-- x -->\n/perfd run", "``` a`b\n/perfd run"]
)
def test_what_follows_code_quotes_and_comments_counts_again(body: str) -> None:
    assert (RunSuites(),) == commands_in(body)


def test_commands_keep_their_order_and_stand_once() -> None:
    assert (Help(), RunSuites()) == commands_in("/perfd help\n/perfd run\n/perfd help")


def test_a_page_full_of_commands_is_cut() -> None:
    assert MOST == len(commands_in("\n".join(f"/perfd run suite{n}" for n in range(1000))))


def test_every_command_that_is_explained_is_read() -> None:
    examples = [usage.replace("[suite…]", "").replace("REF", "main").replace(" N reason", " 1 why").strip() for usage, _ in USAGE]

    found = commands_in("\n".join(examples))

    assert [RunSuites, CompareWith, Rerun, Acknowledge, Bisect, Help] == [type(one) for one in found]
    assert Help() == found[-1]
