"""Workloads and Models, read back as they were planned."""

from sqlalchemy import Connection, select

from perfd.domain.model import Model
from perfd.domain.suite import Workload, WorkloadClass
from perfd.store import tables


def read_workload(connection: Connection, workload_id: int) -> Workload:
    """The Workload as it was planned."""
    W, suite = tables.workload.c, tables.suite.c  # noqa: N806  # columns
    asked = select(tables.workload, suite.name.label("suite_name")).join(tables.suite).where(W.id == workload_id)
    row = connection.execute(asked).one()._mapping  # noqa: SLF001  # SQLAlchemy's public name for it
    return Workload(
        suite=row["suite_name"],
        name=row["name"],
        workload_class=WorkloadClass(row["class"]),
        parameters=row["parameters"],
        seed=row["seed"],
        data_hash=row["data_hash"],
        time_limit_s=row["time_limit_s"],
        question=row["question"],
    )


def read_model(connection: Connection, model_id: int) -> Model:
    """The Model as it was planned."""
    M = tables.model.c  # noqa: N806  # columns
    row = connection.execute(select(tables.model).where(M.id == model_id)).one()
    return Model(
        row.name,
        row.package,
        row.version,
        row.file,
        row.sha256,
        row.quantisation,
        row.licence,
        row.parallelism,
        row.shape,
    )
