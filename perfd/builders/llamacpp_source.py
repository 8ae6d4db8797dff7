"""Recipe `llamacpp-source`: llama.cpp compiled here, from its git repository or from the sdist of llama-cpp-python.

Cold it takes minutes, with a warm ccache seconds: the compiler cache lies in the state folder and knows files by content.
"""

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from perfd.builders import checkout, toolchain
from perfd.builders.locks import held
from perfd.builders.pip import download
from perfd.builders.process import BuildError, Workshop
from perfd.builders.recipe import Ingredients
from perfd.builders.theirs import unpack
from perfd.builders.tools import tool, tool_version
from perfd.builders.words import Progress
from perfd.domain.subject import SourceKind, brief
from perfd.errors import BadInputError

CACHE_SIZE = "2G"
INSIDE_SDIST = Path("vendor/llama.cpp")
_DEFINE = re.compile(r"-D[A-Za-z0-9_]+(?::[A-Z]+)?=.*")
FLAGS = (
    "-DCMAKE_BUILD_TYPE=Release",
    # One binary that can be moved, instead of one beside six libraries.
    "-DBUILD_SHARED_LIBS=OFF",
    # The machine that builds need not be the one that measures.
    "-DGGML_NATIVE=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    # The default fetches a web page from a model hub while it configures.
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    # Whether the host has OpenSSL must not change the Build; perfd speaks plain HTTP over loopback.
    "-DLLAMA_OPENSSL=OFF",
    # We set the launchers below ourselves; llama.cpp's own search for ccache would set them twice.
    "-DGGML_CCACHE=OFF",
)


class LlamaCppSource:
    """llama-server from source."""

    name = "llamacpp-source"
    options: frozenset[str] = frozenset({"cmake_flags", "targets", "jobs"})

    def files(self, options: Mapping[str, str]) -> tuple[Path, ...]:
        """None."""
        del options
        return ()

    def toolchain(self, ingredients: Ingredients) -> Mapping[str, str]:
        """Compilers and CMake; ninja and ccache change how long it takes and not what comes out."""
        del ingredients
        found = dict(toolchain.versions("cc", "c++", "cmake", "platform"))
        return found | {"cmake": tool_version("cmake", found["cmake"])}

    def dependencies(self, ingredients: Ingredients) -> Mapping[str, str]:
        """The sdist where the sources come from one; llama.cpp brings all else along."""
        source = ingredients.source
        return {source.location: ingredients.revision} if source.kind is SourceKind.INDEX else {}

    def make(self, ingredients: Ingredients, into: Path, workshop: Workshop, progress: Progress) -> None:
        """`into` holds bin/llama-server and llama.cpp's licence."""
        # One folder for every Build, since llama.cpp's unity build writes absolute paths into the text that is compiled: in a
        # folder of another name, the ten largest of 192 compilations would miss the cache.
        work = ingredients.state / "work" / self.name
        with held(work.with_suffix(".lock"), lambda: progress("another source build is running; waiting for it")):
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            try:
                _compile(ingredients, work, into, workshop, progress)
            finally:
                shutil.rmtree(work, ignore_errors=True)


def _compile(ingredients: Ingredients, work: Path, into: Path, workshop: Workshop, progress: Progress) -> None:
    sources = _sources(ingredients, work, progress)
    targets = shlex.split(ingredients.options.get("targets", "llama-server"))
    environment = _environment(ingredients.state, work)
    ccache, cmake, ninja = (tool(name, ingredients.state, workshop, progress) for name in ("ccache", "cmake", "ninja"))
    progress(f"configuring {ingredients.subject} {brief(ingredients.revision)}")
    workshop.run([ccache, "--zero-stats"], work, environment)
    workshop.run([cmake, *_configure(sources, work, ingredients, ccache, ninja)], work, environment)
    jobs = ingredients.options.get("jobs", str(len(os.sched_getaffinity(0))))
    progress(f"compiling {ingredients.subject} with {jobs} jobs: minutes the first time, seconds with a warm cache")
    workshop.run([cmake, "--build", work / "build", "--parallel", jobs, "--target", *targets], work, environment)
    workshop.run([ccache, "--show-stats"], work, environment)
    _collect(work, sources, targets, into)
    workshop.run([into / "bin" / targets[0], "--version"], into)


def _sources(ingredients: Ingredients, work: Path, progress: Progress) -> Path:
    """The folder with llama.cpp's CMakeLists.txt."""
    source = ingredients.source
    into = work / "source"
    progress(f"fetching the sources of {ingredients.subject} {brief(ingredients.revision)}")
    if source.kind is SourceKind.GIT:
        checkout.check_out(source, ingredients.revision, into, ingredients.state)
        return _root(into, ingredients)
    if source.kind is not SourceKind.INDEX:
        raise BadInputError('recipe "llamacpp-source" needs a source of kind "git" or "index"')
    kept = ingredients.state / "sources" / f"{source.location}-{ingredients.revision}.tar.gz"
    if not kept.exists():
        file = download(source.location, ingredients.revision, work / "download", source=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        # Renamed from beside: a reader sees all of it or nothing.
        beside = kept.with_name(f"{kept.name}.{os.getpid()}")
        shutil.move(file, beside)
        beside.replace(kept)
    _unpack(kept, into)
    return _root(into, ingredients)


def _root(folder: Path, ingredients: Ingredients) -> Path:
    for place in (folder, folder / INSIDE_SDIST):
        if (place / "tools" / "server" / "CMakeLists.txt").exists():
            return place
    raise BuildError(
        f"{ingredients.source.location} at {brief(ingredients.revision)} holds no llama.cpp with a tools/server folder"
    )


def _unpack(archive: Path, into: Path) -> None:
    """`into` holds what lies in the archive's one top folder."""
    try:
        unpack(archive, into, strip=1)
    except BadInputError as error:
        archive.unlink()
        raise BuildError(f"{archive.name} is damaged ({error}) and was removed: build again, and it is fetched again") from None


def _configure(sources: Path, work: Path, ingredients: Ingredients, ccache: Path, ninja: Path) -> list[str | Path]:
    more = shlex.split(ingredients.options.get("cmake_flags", ""))
    wrong = [flag for flag in more if not _DEFINE.fullmatch(flag)]
    if wrong:
        raise BadInputError(f'recipe_options.cmake_flags holds "{wrong[0]}"; each must look like -DGGML_CUDA=ON')
    git = ingredients.source.kind is SourceKind.GIT
    commit = brief(ingredients.revision) if git else f"{ingredients.source.location}-{ingredients.revision}"
    return [
        *("-S", sources, "-B", work / "build", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"),
        *FLAGS,
        f"-DCMAKE_C_COMPILER_LAUNCHER={ccache}",
        f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}",
        f"-DLLAMA_BUILD_COMMIT={commit}",
        "-DLLAMA_BUILD_NUMBER=0",
        *more,
    ]


def _environment(state: Path, base: Path) -> dict[str, str]:
    """Where the cache is. Paths below `base` are hashed as relative ones, so that a state folder that was moved stays warm."""
    return {
        "CCACHE_DIR": str(state / "ccache"),
        "CCACHE_MAXSIZE": CACHE_SIZE,
        "CCACHE_BASEDIR": str(base),
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_COMPILERCHECK": "content",
        "CCACHE_CONFIGPATH": os.devnull,
        # What is set in this shell must not change a Build whose name does not tell it.
        "CC": "cc",
        "CXX": "c++",
        "CFLAGS": "",
        "CXXFLAGS": "",
        "LDFLAGS": "",
        # llama.cpp asks git for its version; above an unpacked sdist there may be another repository, such as perfd's own.
        "GIT_CEILING_DIRECTORIES": str(base),
    }


def _collect(work: Path, sources: Path, targets: list[str], into: Path) -> None:
    (into / "bin").mkdir()
    for target in targets:
        made = work / "build" / "bin" / target
        if not made.exists():
            raise BuildError(f"the build ended well, yet there is no bin/{target}: is it a target that makes a program?")
        shutil.copy2(made, into / "bin" / target)
    shutil.copy2(sources / "LICENSE", into / "LICENSE")
