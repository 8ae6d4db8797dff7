"""`run_file`: a candidate and its inputs go in, bounded bytes come out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from perfd.bench.cage.plan import TRIAL
from perfd.bench.cage.run import INPUTS, Ended, run_file
from perfd.errors import BadInputError

pytestmark = pytest.mark.usefixtures("cages_are_here")
LIMITS = replace(TRIAL, wall_s=60.0)


@pytest.fixture
def candidate(tmp_path: Path) -> Path:
    return tmp_path / "candidate.py"


def test_arrays_go_in_and_come_out(candidate: Path, tmp_path: Path) -> None:
    given = np.arange(6.0).reshape(2, 3)
    np.save(tmp_path / "secret-name.npy", given)
    candidate.write_text(
        "import io, sys\nimport numpy as np\nout = io.BytesIO()\nnp.save(out, np.load('/inputs/given.npy') * int(sys.argv[1]))\n"
        "sys.stdout.buffer.write(out.getvalue())\nprint('done', file=sys.stderr)\n"
    )
    ran = run_file(candidate, {"given.npy": tmp_path / "secret-name.npy"}, ["3"], limits=LIMITS)
    (tmp_path / "answer.npy").write_bytes(ran.output)

    assert (Ended.WELL, 0, "", "done\n") == (ran.ended, ran.code, ran.over, ran.errors)
    assert (np.load(tmp_path / "answer.npy", allow_pickle=False) == given * 3).all()


def test_what_stands_on_standard_input_is_read(candidate: Path) -> None:
    candidate.write_text("import sys\nprint(len(sys.stdin.buffer.read()))")

    assert b"1000000\n" == run_file(candidate, limits=LIMITS, stdin=bytes(1_000_000)).output


def test_a_candidate_has_the_packages_but_neither_perfd_nor_its_sources(candidate: Path) -> None:
    candidate.write_text(
        f"import os, sys\nprint(sorted(os.listdir({INPUTS!r})), sys.argv, os.getcwd())\n"
        "try:\n    import perfd\nexcept ImportError:\n    print('no perfd')\n"
        "try:\n    open('/inputs/candidate.py', 'a')\nexcept OSError as error:\n    print(error.strerror)\n"
    )
    ran = run_file(candidate, limits=LIMITS)

    seen, perfd, refused = ran.output.decode().splitlines()
    assert ("['candidate.py'] ['/inputs/candidate.py'] /cage", "no perfd") == (seen, perfd)
    assert refused in {"Read-only file system", "Permission denied"}


def test_output_beyond_its_limit_is_cut_and_told(candidate: Path) -> None:
    candidate.write_text("import sys\nwhile True:\n    sys.stdout.buffer.write(bytes(65536))")
    ran = run_file(candidate, limits=replace(LIMITS, output_bytes=100_000))

    assert (Ended.GREEDILY, None, "100,000 bytes of output") == (ran.ended, ran.code, ran.over)
    assert 100_000 == len(ran.output)


def test_a_file_that_is_not_there_has_run_nothing(candidate: Path) -> None:
    with pytest.raises(BadInputError, match=r"candidate\.py: cannot be read \(No such file or directory\)"):
        run_file(candidate, limits=LIMITS)


def test_a_file_that_the_cages_user_may_not_read_is_told_beforehand(candidate: Path) -> None:
    candidate.touch(0o600)
    with pytest.raises(
        BadInputError, match=r"candidate\.py: only its owner may read it, and a cage has another user: chmod a\+r"
    ):
        run_file(candidate, limits=LIMITS)
