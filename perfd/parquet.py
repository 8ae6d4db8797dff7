"""Tables as Parquet. The only file that knows pyarrow, which comes with `perfd[parquet]` and is not needed otherwise."""

import importlib
import io
from types import ModuleType

from perfd.domain.table import Kind, Table
from perfd.errors import BadInputError


def parquet(table: Table) -> bytes:
    """The table as a Parquet file; raises BadInputError where pyarrow is not installed."""
    pa, writer = _library("pyarrow"), _library("pyarrow.parquet")
    types = {Kind.TEXT: pa.string(), Kind.NUMBER: pa.float64(), Kind.WHOLE: pa.int64(), Kind.TIME: pa.timestamp("us", tz="UTC")}
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    schema = pa.schema([(name, types[kind]) for name, kind in table.columns.items()])
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
    out = io.BytesIO()
    writer.write_table(pa.Table.from_arrays(arrays, schema=schema), out, compression="zstd")
    return out.getvalue()


def _library(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise BadInputError(
            "Parquet needs the package pyarrow, which is not installed: pip install 'perfd[parquet]', or take csv or json"
        ) from None
