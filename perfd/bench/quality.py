"""Quality Workloads by their `kind`: log-likelihood, greedy agreement, numerics against a reference, and tasks with answers."""

from perfd.bench import accuracy, numerics, tasks
from perfd.bench.ask import Asker
from perfd.bench.dialects import dialect
from perfd.bench.engine import Server
from perfd.bench.measured import Measured
from perfd.domain.job import Job
from perfd.errors import BadInputError


def measure(job: Job, server: Server) -> Measured:
    """Samples of the Metrics that the Workload's `kind` gives; raises EngineError for an engine that cannot be judged."""
    kind = job.workload.parameters.get("kind")
    if kind == "task":
        return tasks.measure(job, server)
    if kind != "numerics":
        return accuracy.measure(job, server)
    if job.launch is None or job.data is None:
        raise BadInputError("a numerics Workload needs an engine's launch stanza and the folder with the suites' data")
    asker = Asker(server.port)
    try:
        return numerics.measure(job, job.data, dialect(job.launch.dialect), asker)
    finally:
        asker.close()
