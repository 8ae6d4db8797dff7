"""Every format by its name, and which one a file has."""

from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType

from perfd.domain.arrival import Arrival
from perfd.errors import BadInputError
from perfd.importers import (
    aiperf,
    asv,
    bmf,
    data_js,
    go_text,
    google_benchmark,
    guidellm,
    hyperfine,
    llama_bench,
    lm_eval,
    own,
    pytest_benchmark,
    sglang,
    vllm,
)
from perfd.importers.given import Given
from perfd.importers.source import Source

AUTO = "auto"
Read = Callable[[Source, Given], tuple[Arrival, ...]]
MODULES: tuple[ModuleType, ...] = (
    own,
    data_js,
    pytest_benchmark,
    guidellm,
    google_benchmark,
    vllm,
    sglang,
    aiperf,
    llama_bench,
    hyperfine,
    lm_eval,
    bmf,
    go_text,
)
"""In the order in which a file is asked whether it is one: the most telling first."""
FORMATS: Mapping[str, Read] = MappingProxyType({one.NAME: one.read for one in (*MODULES, asv)})


def read(name: str, source: Source, given: Given) -> tuple[Arrival, ...]:
    """The Runs in a file; raises BadInputError with the file, the place and the reason, and then nothing was read."""
    try:
        return FORMATS[found(source) if name == AUTO else name](source, given)
    except BadInputError as error:
        raise BadInputError(f"{source.name}: {error.message}") from None


def found(source: Source) -> str:
    """The name of the file's format; raises BadInputError where it has none that is known."""
    if source.inside:
        return str(asv.NAME)
    text = source.text()
    for one in MODULES:
        if one.sniff(text):
            return str(one.NAME)
    raise BadInputError(f"none of the formats that perfd reads ({', '.join(FORMATS)}); name one of them if it is one")
