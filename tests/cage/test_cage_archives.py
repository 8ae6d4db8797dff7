"""Archives that nobody vouches for: nothing is written outside, nothing is larger than it may be, and no link leads out."""

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from perfd.builders.theirs import unpack
from perfd.errors import BadInputError

Maker = Callable[[Path, str], Path]
EVIL = ("../escaped", "a/../../escaped", "/tmp/escaped", "..\\escaped", "a/..", "./../escaped")  # noqa: S108 - what is attacked


def tarred(folder: Path, name: str) -> Path:
    path = folder / "a.tar.gz"
    with tarfile.open(path, "w:gz") as made:
        entry = tarfile.TarInfo(name)
        entry.size = 4
        made.addfile(entry, io.BytesIO(b"evil"))
    return path


def zipped(folder: Path, name: str, suffix: str = ".zip") -> Path:
    path = folder / f"a-1-py3-none-any{suffix}"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(zipfile.ZipInfo(name), b"evil")
    return path


def wheel(folder: Path, name: str) -> Path:
    return zipped(folder, name, ".whl")


@pytest.mark.parametrize("name", EVIL)
@pytest.mark.parametrize("make", [tarred, zipped, wheel])
def test_no_path_leads_out(tmp_path: Path, make: Maker, name: str) -> None:
    into = tmp_path / "deep" / "into"
    with pytest.raises(BadInputError, match="leads out of the archive's folder"):
        unpack(make(tmp_path, name), into)

    assert [] == [path for path in tmp_path.rglob("*") if path.name.endswith("escaped")]


def tar_of(path: Path, *entries: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w") as made:
        for entry in entries:
            made.addfile(entry, io.BytesIO(b"evil"[: entry.size]))
    return path


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, 4 if kind == tarfile.REGTYPE else 0
    return made


@pytest.mark.parametrize("target", ["/etc", "../..", "inside/../../..", "/"])
def test_no_link_leads_out_nor_is_written_through(tmp_path: Path, target: str) -> None:
    archive = tar_of(tmp_path / "a.tar", entry("door", tarfile.SYMTYPE, target), entry("door/escaped"))
    with pytest.raises(BadInputError, match=r"leads out of its folder|stands in it twice"):
        unpack(archive, tmp_path / "into")

    assert not (tmp_path / "escaped").exists()
    assert not (tmp_path / "into" / "door").is_symlink()


def test_a_link_in_a_zip_is_held_to_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    link = zipfile.ZipInfo("door")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(link, "/etc")
    with pytest.raises(BadInputError, match="'door' is a link to /etc, which leads out of its folder"):
        unpack(path, tmp_path / "into")


def test_two_links_that_lead_out_only_together_are_refused(tmp_path: Path) -> None:
    first, second = entry("a/b/up", tarfile.SYMTYPE, "../.."), entry("a/out", tarfile.SYMTYPE, "b/up/..")
    with pytest.raises(BadInputError, match="leads out of its folder"):
        unpack(tar_of(tmp_path / "a.tar", first, second), tmp_path / "into")


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.LNKTYPE])
def test_devices_pipes_and_hard_links_are_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(BadInputError, match="is neither a file, a folder nor a link"):
        unpack(tar_of(tmp_path / "a.tar", entry("device", kind, "/etc/passwd")), tmp_path / "into")


def test_a_zip_bomb_is_stopped_where_it_goes_off(tmp_path: Path) -> None:
    """100 MB of zeros in 100 kB; what the archive says of its size is not asked."""
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("zeros", bytes(100 << 20))
    with pytest.raises(BadInputError, match="the archive may be a bomb"):
        unpack(path, tmp_path / "into", most_bytes=10 << 20)

    assert path.stat().st_size < 200_000
    assert (tmp_path / "into" / "zeros").stat().st_size <= 10 << 20


def test_a_tar_bomb_is_stopped_too(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tar.gz"
    with tarfile.open(path, "w:gz") as made:
        info = tarfile.TarInfo("zeros")
        info.size = 100 << 20
        made.addfile(info, io.BytesIO(bytes(info.size)))
    with pytest.raises(BadInputError, match="the archive may be a bomb"):
        unpack(path, tmp_path / "into", most_bytes=10 << 20)


def test_many_small_files_are_too_many(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="is one file too many"):
        unpack(tar_of(tmp_path / "a.tar", *(entry(str(n)) for n in range(11))), tmp_path / "into", most_files=10)


def test_a_file_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="stands in it twice"):
        unpack(tar_of(tmp_path / "a.tar", entry("same"), entry("same")), tmp_path / "into")


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 no zip", b"\x1f\x8b no gzip", b"x" * 2000], ids=["empty", "zip", "gzip", "other"]
)
def test_what_is_no_archive_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=r"a\.zip is damaged or no archive that perfd reads"):
        unpack(path, tmp_path / "into")


def test_an_honest_archive_comes_out_whole(tmp_path: Path) -> None:
    source = tmp_path / "tiny-1.0"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (source / "deep" / "run.sh").chmod(0o755)
    (source / "link").symlink_to("deep/run.sh")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as made:
        made.add(source, "tiny-1.0")
    into = tmp_path / "into"
    unpack(tmp_path / "a.tar.gz", into, strip=1)

    assert ["deep", "link"] == sorted(path.name for path in into.iterdir())
    assert "#!/bin/sh\n" == (into / "link").read_text()
    assert 0o755 == (into / "deep" / "run.sh").stat().st_mode & 0o777


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_an_archive_that_breaks_off_anywhere_is_damaged_and_never_a_smaller_one(tmp_path: Path, kind: str) -> None:
    whole = tmp_path / f"whole.tar.{kind}"
    with tarfile.open(whole, f"w:{kind}") as tar:  # type: ignore[call-overload]
        for number in range(20):
            (tmp_path / "one").write_bytes(bytes([number]) * 700)
            tar.add(tmp_path / "one", f"top/{number}")
    data = whole.read_bytes()

    for kept in range(len(data) // 4, len(data), 7):
        broken = tmp_path / f"broken.tar.{kind}"
        broken.write_bytes(data[:kept])
        with pytest.raises(BadInputError, match="damaged"):
            unpack(broken, tmp_path / f"into {kept}")

    unpack(whole, tmp_path / "all")
    assert 20 == len(list((tmp_path / "all" / "top").iterdir()))
