"""The one command that measures a Run again, with everything that makes it this Run named beside it."""

import shlex
from dataclasses import dataclass
from typing import Any

from perfd.domain.codec import to_json
from perfd.domain.subject import SubjectKind
from perfd.store.records import RunPage


@dataclass(frozen=True)
class Recipe:
    """How a Run is measured again."""

    command: str
    """"" for a Run that was imported."""
    sentence: str
    """What the command does, or why there is none."""
    made_of: dict[str, Any]
    """Everything that the numbers depend on and perfd knows, as JSON."""


def reproduce(page: RunPage) -> tuple[str, str]:
    """The command, and what it does; an imported Run has no command, and the sentence says why."""
    found = recipe(page)
    return found.command, found.sentence


def recipe(page: RunPage) -> Recipe:
    """The command with revision, flags, seed, data hash and device class of the Run."""
    row, workload = page.run, page.workload
    named = (
        f"Workload {workload.identity[:12]}, seed {workload.seed}, data {workload.data_hash[:12] or 'none'}, {row.device_class}"
    )
    if row.occasion.startswith("import:"):
        return Recipe("", "This Run was measured elsewhere and imported, so perfd cannot measure it again.", _made_of(page))
    if row.subject_kind is SubjectKind.KERNEL:
        command = shlex.join(["perfd", "kernels", "--op", row.subject])
        return Recipe(command, f"Compiles and checks the Kernel as it is in kernels/ now ({named}).", _made_of(page))
    words = ["perfd", "compare", row.revision, row.revision, "--engine", row.subject, "--workload", row.workload]
    sentence = f"Builds the Revision again where it is gone, and measures it in interleaved blocks ({named})."
    return Recipe(shlex.join(words), sentence, _made_of(page))


def _made_of(page: RunPage) -> dict[str, Any]:
    row, workload, spec = page.run, page.workload, page.spec
    return {
        "run": row.key,
        "subject": row.subject,
        "revision": row.revision,
        "build": spec.digest,
        "recipe": spec.recipe,
        "recipe_hash": spec.recipe_hash,
        "toolchain": to_json(spec.toolchain),
        "dependencies": to_json(spec.dependencies),
        "suite": workload.suite,
        "workload": workload.name,
        "workload_identity": workload.identity,
        "parameters": to_json(workload.parameters),
        "seed": workload.seed,
        "data_hash": workload.data_hash,
        "model": row.model,
        "quantisation": row.quantisation,
        "parallelism": row.parallelism,
        "device_class": row.device_class,
        "hardware_hash": page.environment.hardware_hash if page.environment else None,
        "clock_policy": page.environment.clock_policy if page.environment else None,
        "software": to_json(page.environment.software) if page.environment else None,
        "harness_version": page.harness_version,
        "definitions_version": page.definitions_version,
    }
