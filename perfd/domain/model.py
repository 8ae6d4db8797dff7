"""A Model: weights, by name and hash; its quantisation is part of what is measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """Weights that an Engine serves."""

    name: str
    package: str
    """The Python package that carries the weights, or "" where `file` is a path on this machine."""
    version: str
    file: str
    """The file's name inside the package, or a path."""
    sha256: str
    """Hash of the weights; a file with another hash is refused."""
    quantisation: str
    licence: str
    parallelism: str = "1"
    """How the weights are spread over devices: "1", "tp2", "pp2tp4" …"""
    shape: str = ""
    """A file like config.json with the announced shapes; a Launch's rehearsals write random weights from it. In the Model of a
    rehearsal `file` is empty, and `sha256` is that of the shapes and of how the weights follow from them."""

    @property
    def is_announced(self) -> bool:
        """Whether nothing but its shapes is known yet."""
        return not self.file
