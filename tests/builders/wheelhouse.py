"""A package index in a folder: tiny wheels and sdists, written here, that pip takes as real ones."""

import zipfile
from collections.abc import Mapping
from pathlib import Path


def add_wheel(
    house: Path, name: str, version: str, files: Mapping[str, str | bytes], *, needs: tuple[str, ...] = (), command: str = ""
) -> Path:
    """The wheel; `command` is an entry point such as "tiny = tiny:main"."""
    house.mkdir(parents=True, exist_ok=True)
    path = house / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(
        f"Requires-Dist: {need}\n" for need in needs
    )
    own: dict[str, str | bytes] = {
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: perfd\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if command:
        own[f"{info}/entry_points.txt"] = f"[console_scripts]\n{command}\n"
    everything = {**files, **own}
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in everything.items():
            archive.writestr(member, content)
        archive.writestr(f"{info}/RECORD", "".join(f"{member},,\n" for member in [*everything, f"{info}/RECORD"]))
    return path
