"""What the numerics Workload sees of real changes to llama.cpp that need no other weights; Markdown on stdout.

    python tests/benchmarks/numerics.py --artifact BUILD --weights FILE [--only TEXT]

BUILD is the folder of the released Build (recipe `released`, package xllamacpp). Each line starts the engine anew with one
setting changed and holds it against suites/data/numerics_reference.json. The table of docs/accuracy.md is made by it.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from perfd.bench.accuracy import read_json
from perfd.bench.ask import Asker
from perfd.bench.dialects import LlamaCpp, Scored, candidates, scored_from
from perfd.bench.engine import launched
from perfd.bench.numerics import ALPHA, look, told
from perfd.bench.numerics_data import NumericsReference, reference_of
from perfd.bench.reference import sha256_of
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.subject import Launch
from perfd.domain.suite import Workload, WorkloadClass

DATA = Path(__file__).parents[2] / "suites" / "data"
LAUNCHER = """
import sys
sys.path.insert(0, {artifact!r})
import xllamacpp, xllamacpp_server
plain = xllamacpp_server.parameters
def changed(asked):
    params = plain(asked)
    T, F = xllamacpp.ggml_type, xllamacpp.llama_flash_attn_type
    {change}
    return params
xllamacpp_server.parameters = changed
sys.exit(xllamacpp_server.main())
"""
KEYS = "params.cache_type_k = T.GGML_TYPE_{0}"
BOTH = "params.cache_type_k = params.cache_type_v = T.GGML_TYPE_{0}"
CHANGES = {
    "nothing (A/A)": "pass",
    "nothing, once more": "pass",
    "two threads": "params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2",
    "micro-batches of 32": "params.n_batch = params.n_ubatch = 32",
    "flash attention off": "params.flash_attn_type = F.LLAMA_FLASH_ATTN_TYPE_DISABLED",
    "no repacked weights (other kernels)": "params.no_extra_bufts = True",
    "KV cache in f32": BOTH.format("F32"),
    "KV cache in bf16": BOTH.format("BF16"),
    "KV cache in q8_0": BOTH.format("Q8_0"),
    "keys in q4_0": KEYS.format("Q4_0"),
    "KV cache in q4_0": BOTH.format("Q4_0"),
}
HEAD = (
    "| changed | KL, nats a position [95 %] | over the null | p | log-likelihood lost, nats [99 %] | answer |\n"
    "|---|---|---|---|---|---|\n"
)
PREFILL = "prefill instead of decode, same Build"


class FromNothing(LlamaCpp):
    """Every position is computed by prefill, without what decoding left in the cache."""

    def _score_one(self, asker: Asker, before: list[int], token: int, top_k: int) -> Scored:
        body = {"prompt": before, "n_predict": 1, "n_probs": top_k, "temperature": 0, "cache_prompt": False, "id_slot": 0}
        return scored_from(token, candidates(asker.post("/completion", body)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--artifact", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    reference = reference_of(read_json(DATA / "numerics_reference.json"), sha256_of(given.weights))
    sys.stdout.write(HEAD)
    for name, change in {**CHANGES, PREFILL: "pass"}.items():
        if given.only in name:
            speaks = FromNothing() if name == PREFILL else LlamaCpp()
            sys.stdout.write(line(name, measured(given, reference, change, speaks)) + "\n")
            sys.stdout.flush()


def measured(given: argparse.Namespace, reference: NumericsReference, change: str, speaks: LlamaCpp) -> Any:
    """One started engine against the reference."""
    with tempfile.TemporaryDirectory() as folder:
        launcher = Path(folder, "launcher.py")
        launcher.write_text(LAUNCHER.format(artifact=str(given.artifact.absolute()), change=change))
        options = ("--model", "{weights}", "--port", "{port}", "--threads", "{threads}", "--ctx-size", "16384", "--parallel", "8")
        launch = Launch(("{python}", str(launcher), *options), "llamacpp", ready_timeout_s=60.0)
        workload = Workload("", "numerics", WorkloadClass.ACCURACY, {}, 0, "")
        paths = {"artifact": given.artifact.absolute(), "work": Path(folder), "weights": given.weights.absolute()}
        names = {"subject": "llamacpp", "revision": "", "build": "", "occasion": "", "run": ""}
        job = Job(**names, **paths, workload=workload, device=Device("", "cpu", ""), threads=1, launch=launch)
        with launched(job) as server:
            return told(look(DATA / "fixed_texts.json", reference, speaks, Asker(server.port, 300.0)), reference)


def line(name: str, found: Any) -> str:
    """One row of the table."""
    kl, null, lost = found["kl_nats"], found["against_null"], found["nll_difference_nats"]
    low, high = kl["interval_95"]
    sure = lost["interval_99"]
    worse = "worse" if sure[0] > 0.0 else "better" if sure[1] < 0.0 else "likelihood unsure"
    answer = f"moved, {worse}" if null["moved"] else "build noise"
    cells = (
        f"{kl['mean']:.2g} [{max(0.0, low):.2g}, {high:.2g}]",
        f"{null['ratio']:,.3g}",
        f"{null['p']:.1g}" if null["p"] > ALPHA / 100 else "< 0.0001",
        f"{lost['mean']:+.5f} [{sure[0]:+.5f}, {sure[1]:+.5f}]",
        answer,
    )
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
