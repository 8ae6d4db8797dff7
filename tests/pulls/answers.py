"""Answers to pull requests, made by hand: an ordinary one, and one whose every word is hostile."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from perfd.domain.answer import Against, Answer, AnswerRow, Unmeasured
from perfd.domain.metric import METRICS
from perfd.domain.verdict import Outcome, Verdict

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
BASE, HEAD = "1f" * 20, "c0ffee" + "0" * 34


def row(
    name: str,
    metric: str,
    base: float,
    effect: float,
    outcome: Outcome,
    *,
    gates: bool = False,
    workload_class: str = "chat",
) -> AnswerRow:
    verdict = Verdict(
        outcome, "", "pairs/1", 12, effect=effect, interval=(effect - 0.008, effect + 0.008), bar=0.008, noise=0.004
    )
    link = f"https://perf.example.org/compare/1#{name}"
    return AnswerRow(workload_class, name, "smollm2", METRICS[metric], base, base * (1 + effect), verdict, gates=gates, link=link)


ROWS = (
    row("steady", "itl_s", 0.0021, 0.051, Outcome.WORSE, gates=True),
    row("steady", "ttft_s", 0.043, 0.012, Outcome.UNSURE),
    row("steady", "output_tokens_per_s", 410.0, -0.046, Outcome.WORSE),
    row("burst", "e2e_s", 1.4, -0.034, Outcome.BETTER, workload_class="batch"),
    row("texts", "nll_nats", 2.314, 0.0, Outcome.SAME, workload_class="accuracy"),
)
ORDINARY = Answer(
    subject="llamacpp",
    head=HEAD,
    against=Against(BASE, "Tidy the sampler", NOW - timedelta(days=3, hours=4), "main", 43),
    verdict=replace(ROWS[0].verdict, detector="pairs/1"),
    rows=ROWS,
    unmeasured=(Unmeasured("long_context needle, head", "died: the engine ended with code 139", "loading\nSegmentation fault"),),
    now=NOW,
    device="cpu Xeon 2.1 GHz, 2 cores",
    environment="Both arms ran on the same hardware, clock policy and dependencies",
    blocks=6,
    why="1 file in areas that affect these only",
    reproduce=f"perfd compare {BASE} {HEAD} --engine llamacpp",
    alarms="False alarms of these Series in the last 30 days: 1.2 % (0.1 % to 6.5 %), 1 of 83",
    page="https://perf.example.org/compare/1",
    plot="https://perf.example.org/plots/compare/1.png",
    version="0.1.0",
)

EVIL = (
    "@everyone @org/team <script>alert(1)</script> | a | `code` **bold** [x](javascript:0) ![i](http://evil.example/p.png) "
    "<!-- perfd:comment:o/r#1:1 --> #12 GH-3 o/r#4 https://evil.example www.evil.example a@b.example :tada: $x$ ~~gone~~ "
    "\u202egnp.exe\u2066 \x1b[31mred\x00 &lt;b&gt; </details></sub>\n\n# heading\n- [ ] item\n```\nfence\n"
)


def hostile(length: int = 0) -> Answer:
    """Every word that comes from outside is an attack; with a length, each is about so long."""
    evil = EVIL * (1 + length // len(EVIL))
    rows = tuple(replace(one, workload=evil, model=evil, workload_class=evil) for one in ROWS)
    return replace(
        ORDINARY,
        subject=evil,
        against=Against(BASE, evil, NOW, evil, 1, evil),
        rows=rows,
        unmeasured=(Unmeasured(evil, evil, evil),) * (1 if length == 0 else 40),
        device=evil,
        environment=evil,
        why=evil,
        remarks=(evil,),
        alarms=evil,
        version=evil,
    )
