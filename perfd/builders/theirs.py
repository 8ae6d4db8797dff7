"""Files that nobody vouches for: a folder that a caged step wrote, and archives. They are looked at before they are used."""

import bz2
import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from perfd.errors import BadInputError

MOST_BYTES = 16 << 30
MOST_FILES = 400_000
PIECE = 1 << 20
COMPRESSED: Mapping[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
"""How a compressed file begins, and who opens it."""
DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError)
SPECIAL_BITS = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX


def check_tree(folder: Path) -> None:
    """In the folder are files, folders, and links that stay inside of it, all of them this user's. Raises BadInputError.

    Nothing may run in the folder meanwhile.
    """
    root = Path(os.path.realpath(folder))
    for path in (root, *_below(root)):
        if os.geteuid() == 0:  # a cage's user owned what it was given
            os.chown(path, 0, os.getegid(), follow_symlinks=False)
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            _check_link(path, root)
        elif not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise BadInputError(f"{path.relative_to(root)} is neither a file nor a folder: what was built is not used")
        elif mode & SPECIAL_BITS:
            path.chmod(stat.S_IMODE(mode) & ~SPECIAL_BITS)


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        yield from (Path(folder, name) for name in (*folders, *names))


def _check_link(path: Path, root: Path) -> None:
    target = Path(os.path.realpath(path))
    if target != root and root not in target.parents:
        raise BadInputError(
            f"{path.relative_to(root)} is a link to {os.readlink(path)}, which leads out of its folder: "  # noqa: PTH115 - as written
            "what was built is not used"
        )


@dataclass(frozen=True)
class Member:
    """One entry of an archive."""

    name: str
    size: int
    is_folder: bool
    is_file: bool
    link: str | None
    executable: bool


def unpack(archive: Path, into: Path, *, strip: int = 0, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES) -> None:
    """`into` holds what the archive does (tar, compressed or not, zip, wheel), without its first `strip` folders.

    Sizes are counted as bytes come out, whatever the archive says of itself. Raises BadInputError for a path or a link that leads
    out, a device, a file twice, too much, or a damaged archive; what was written until then stays.
    """
    into.mkdir(parents=True, exist_ok=True)
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, _Room(archive.name, into, strip, most_bytes, most_files))
        else:
            _unpack_tar(archive, _Room(archive.name, into, strip, most_bytes, most_files))
    except DAMAGED as error:
        raise BadInputError(f"{archive.name} is damaged or no archive that perfd reads ({error})") from None
    except OSError as error:
        if error.errno is not None:  # the disk's word, not the archive's: bz2 tells of a damaged stream without a number
            raise
        raise BadInputError(f"{archive.name} is damaged or no archive that perfd reads ({error})") from None


def _unpack_zip(archive: Path, room: "_Room") -> None:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            mode = info.external_attr >> 16
            is_link = stat.S_ISLNK(mode)
            link = (
                opened.read(info).decode("utf-8", "replace")
                if is_link and info.file_size < os.pathconf("/", "PC_PATH_MAX")
                else None
            )
            is_file = not is_link and not info.is_dir()
            member = Member(info.filename, info.file_size, info.is_dir(), is_file, link, bool(mode & 0o100))
            if (place := room.place(member)) is not None:
                with opened.open(info) as source:
                    room.write(place, source, executable=member.executable)
    room.tie()


def _unpack_tar(archive: Path, room: "_Room") -> None:
    # A stream: a bomb is stopped where it goes off. tarfile's own decompression takes a file that breaks off for one that ends.
    with _decompressed(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as opened:
        for info in opened:
            link = info.linkname if info.issym() else None
            member = Member(info.name, info.size, info.isdir(), info.isreg(), link, bool(info.mode & 0o100))
            if (place := room.place(member)) is not None:
                source = opened.extractfile(info)
                if source is not None:
                    room.write(place, source, executable=member.executable)
        while piece := stream.read(PIECE):  # to the end, where the check sum stands
            room.spend(len(piece), archive.name)
    room.tie()


def _decompressed(archive: Path) -> IO[bytes]:
    """The bytes of the tar file; a stream that breaks off, or whose sum is wrong, raises when it is read."""
    with archive.open("rb") as file:
        magic = file.read(6)
    for start, opened in COMPRESSED.items():
        if magic.startswith(start):
            return cast("IO[bytes]", opened(archive, "rb"))
    return archive.open("rb")


class _Room:
    """Where an archive's entries go, and how much is left for them."""

    def __init__(self, archive: str, into: Path, strip: int, most_bytes: int, most_files: int) -> None:
        self._archive = archive
        self._into = into
        self._strip = strip
        self._bytes_left = most_bytes
        self._files_left = most_files
        self._links: list[tuple[Path, str]] = []

    def place(self, member: Member) -> Path | None:
        """Where the bytes of this entry go; absent where it has none."""
        self._files_left -= 1
        if self._files_left < 0:
            raise self._refused(member.name, "is one file too many")
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or "\0" in member.name or "\\" in member.name:
            raise self._refused(member.name, "leads out of the archive's folder")
        parts = name.parts[self._strip :]
        if not parts:
            return None
        place = self._into.joinpath(*parts)
        if member.is_folder:
            place.mkdir(parents=True, exist_ok=True)
            return None
        if member.link is not None:
            self._links.append((place, member.link))
            return None
        if not member.is_file:
            raise self._refused(member.name, "is neither a file, a folder nor a link")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def write(self, place: Path, source: IO[bytes], *, executable: bool) -> None:
        """The file is there."""
        try:
            handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o755 if executable else 0o644)
        except FileExistsError:
            raise self._refused(place.name, "stands in it twice") from None
        with os.fdopen(handle, "wb") as file:
            while piece := source.read(PIECE):
                self.spend(len(piece), place.name)
                file.write(piece)

    def spend(self, count: int, name: str) -> None:
        """So many bytes came out."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise self._refused(name, "unpacks to more than is taken: the archive may be a bomb")

    def tie(self) -> None:
        """Links come last, so that no entry is written through one; each stays inside."""
        root = Path(os.path.realpath(self._into))
        for place, target in self._links:
            end = Path(os.path.realpath(place.parent / target))
            if Path(target).is_absolute() or root not in (end, *end.parents):
                raise self._refused(
                    str(place.relative_to(self._into)), f"is a link to {target[:200]}, which leads out of its folder"
                )
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                place.symlink_to(target)
            except FileExistsError:
                raise self._refused(place.name, "stands in it twice") from None

    def _refused(self, name: str, why: str) -> BadInputError:
        return BadInputError(f"{self._archive} is not unpacked: {name[:200]!r} {why}")
