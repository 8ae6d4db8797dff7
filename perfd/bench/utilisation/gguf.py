"""The head of a GGUF file: metadata and the tensors' sizes, without reading a single weight.

Source: the GGUF specification of ggml (docs/gguf.md), versions 2 and 3, little-endian.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from perfd.domain.identity import Json
from perfd.errors import BadInputError

MAGIC = b"GGUF"
VERSIONS = frozenset({2, 3})
ALIGNMENT = 32
MOST_ENTRIES = 1_000_000
MOST_TEXT = 16 * 1024 * 1024
KEPT_ARRAY = 4096
"""Longer arrays (vocabularies) are kept as their length only."""
STRING, ARRAY = 8, 9
_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}


@dataclass(frozen=True)
class GgufHead:
    """What a GGUF file says of itself."""

    metadata: Mapping[str, Json]
    """Scalars, texts and short arrays by key; a long array is `{"length": n}`."""
    tensor_bytes: Mapping[str, int]
    """Size of each tensor in the file, quantised as it is there, by name."""

    @property
    def architecture(self) -> str:
        """The prefix of the model's keys: llama, minimax-m3 …."""
        return str(self.metadata.get("general.architecture", ""))

    def number(self, key: str) -> int | None:
        """The whole number under `{architecture}.{key}`; of a list (one a layer) the largest; absent where there is none."""
        value = self.metadata.get(f"{self.architecture}.{key}")
        if isinstance(value, list):
            value = max((one for one in value if isinstance(one, int)), default=None)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_gguf(path: Path) -> GgufHead:
    """The head of the file; raises BadInputError for what is no GGUF file of a version that is known here."""
    try:
        with path.open("rb") as file:
            return _Reader(file, path).head(path.stat().st_size)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror})") from None


class _Reader:
    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path

    def head(self, file_bytes: int) -> GgufHead:
        if self._take(4) != MAGIC:
            raise BadInputError(f"{self._path}: no GGUF file (its first bytes are not GGUF)")
        version = self._number("<I")
        if version not in VERSIONS:
            raise BadInputError(f"{self._path}: GGUF version {version}, and versions 2 and 3 are read (little-endian)")
        tensors, entries = self._count("tensors"), self._count("metadata entries")
        metadata = dict(self._entry() for _ in range(entries))
        offsets = dict(self._tensor() for _ in range(tensors))
        alignment = metadata.get("general.alignment", ALIGNMENT)
        start = -(-self._file.tell() // alignment) * alignment
        return GgufHead(metadata, sizes(offsets, file_bytes - start))

    def _entry(self) -> tuple[str, Json]:
        key = self._text()
        return key, self._value(self._number("<I"))

    def _tensor(self) -> tuple[str, int]:
        name, dimensions = self._text(), self._number("<I")
        self._take(8 * dimensions + 4)  # its shape and type: the bytes between two offsets say all that is wanted
        return name, self._number("<Q")

    def _value(self, kind: int) -> Json:
        if kind == STRING:
            return self._text()
        if kind == ARRAY:
            return self._array()
        if kind not in _SCALARS:
            raise BadInputError(f"{self._path}: metadata of an unknown type {kind}; is the file damaged?")
        return self._number(_SCALARS[kind])

    def _array(self) -> Json:
        kind, length = self._number("<I"), self._count("array items")
        if length <= KEPT_ARRAY:
            return [self._value(kind) for _ in range(length)]
        if kind in _SCALARS:
            self._file.seek(length * struct.calcsize(_SCALARS[kind]), 1)
        else:
            for _ in range(length):
                self._value(kind)
        return {"length": length}

    def _text(self) -> str:
        length = self._number("<Q")
        if length > MOST_TEXT:
            raise BadInputError(f"{self._path}: a text of {length:,} bytes in the head; is the file damaged?")
        return self._take(length).decode("utf-8", errors="replace")

    def _count(self, what: str) -> int:
        count = self._number("<Q")
        if count > MOST_ENTRIES:
            raise BadInputError(f"{self._path}: {count:,} {what} in the head; is the file damaged?")
        return int(count)

    def _number(self, form: str) -> int:
        number: int = struct.unpack(form, self._take(struct.calcsize(form)))[0]
        return number

    def _take(self, count: int) -> bytes:
        data = self._file.read(count)
        if len(data) != count:
            raise BadInputError(f"{self._path}: ends within its head; is it a part of a file?")
        return data


def sizes(offsets: Mapping[str, int], data_bytes: int) -> dict[str, int]:
    """Each tensor's bytes: up to the next one's offset, so that padding counts with the tensor before it."""
    ordered = sorted(offsets.items(), key=lambda item: item[1])
    ends = [offset for _, offset in ordered[1:]] + [data_bytes]
    return {name: end - offset for (name, offset), end in zip(ordered, ends, strict=True)}
