"""The one command that measures a Run again, with everything that makes it this Run named beside it."""

import shlex

from perfd.domain.subject import SubjectKind
from perfd.store.records import RunPage


def reproduce(page: RunPage) -> tuple[str, str]:
    """The command, and what it does; an imported Run has no command, and the sentence says why."""
    row, workload = page.run, page.workload
    named = (
        f"Workload {workload.identity[:12]}, seed {workload.seed}, data {workload.data_hash[:12] or 'none'}, {row.device_class}"
    )
    if row.occasion.startswith("import:"):
        return "", "This Run was measured elsewhere and imported, so perfd cannot measure it again."
    if row.subject_kind is SubjectKind.KERNEL:
        command = shlex.join(["perfd", "kernels", "--op", row.subject])
        return command, f"Compiles and checks the Kernel as it is in kernels/ now ({named})."
    words = ["perfd", "compare", row.revision, row.revision, "--engine", row.subject, "--workload", row.workload]
    return shlex.join(words), f"Builds the Revision again where it is gone, and measures it in interleaved blocks ({named})."
