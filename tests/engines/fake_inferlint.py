"""Answers `inferlint report --json …` on a script: what FAKE_INFERLINT holds, after checking that every named file is there."""

import os
import sys
from pathlib import Path

arguments = sys.argv[1:]
files = [arguments[at + 1] for at, flag in enumerate(arguments) if flag in {"--before", "--after", "--series", "--boot-log"}]
missing = [name for name in files if not Path(name).exists()]
if arguments[:2] != ["report", "--json"] or missing or len(files) < 3:
    sys.exit(f"asked wrongly: {arguments}")
sys.stdout.write(os.environ["FAKE_INFERLINT"])
sys.exit(1)
