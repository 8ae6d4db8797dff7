"""An op: one file of kernels/ (or of a Build's snapshot of it), loaded by path.

The file holds `run(*inputs)`, `reference(*inputs)` in float64, `inputs(draw, **axes)`, `cost(**axes) -> (flops, bytes)`, and
`COMPILED`, which says what is compiled ahead of time. kernels/README.md is the contract in one page.
"""

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from perfd.bench.kernels.finding import KernelError
from perfd.domain.run import FailureKind
from perfd.errors import BadInputError

NEEDED = ("run", "reference", "inputs", "cost", "COMPILED")


@dataclass(frozen=True)
class Compiled:
    """One kernel as it is compiled ahead of time: what a launch would tell Triton, written down."""

    kernel: Any
    """The function under `@triton.jit`."""
    signature: Mapping[str, str]
    """Argument → type, constants excluded: "*bf16", "i32", "fp32"."""
    constexprs: Mapping[str, int | bool | str]
    """Constant → value."""
    divisible: tuple[str, ...]
    """Arguments that a launch finds divisible by 16; without this, loads are not vectorised as in a real launch."""
    options: Mapping[str, int]
    """num_warps, num_stages."""

    @property
    def name(self) -> str:
        """The kernel's function name."""
        return str(self.kernel.__name__)


@dataclass(frozen=True)
class Op:
    """A loaded op."""

    name: str
    run: Callable[..., Any]
    """*inputs → one tensor or a tuple of tensors."""
    reference: Callable[..., Any]
    """*inputs → the same in float64."""
    inputs: Callable[..., tuple[Any, ...]]
    """A Draw and axes → fresh inputs."""
    cost: Callable[..., tuple[int, int]]
    """Axes → FLOPs and bytes that must move."""
    compiled: tuple[Compiled, ...]


def names(folder: Path) -> tuple[str, ...]:
    """The ops of a folder, in alphabetical order: one a file."""
    return tuple(sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")))


def load(folder: Path, name: str) -> Op:
    """The op in `folder`/`name`.py; raises BadInputError without such a file, KernelError when it does not hold an op."""
    path = folder / f"{name}.py"
    if not path.is_file():
        raise BadInputError(f"{path}: there is no such kernel; {folder} has {', '.join(names(folder)) or 'none'}")
    module = _execute(path)
    missing = [part for part in NEEDED if not hasattr(module, part)]
    if missing:
        sentence = f"{path.name} has no {' and no '.join(missing)}; kernels/README.md says what an op's file holds"
        raise KernelError(FailureKind.BUILD, sentence)
    compiled = tuple(Compiled(**declared) for declared in module.COMPILED)
    return Op(name, module.run, module.reference, module.inputs, module.cost, compiled)


def _execute(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"perfd_op_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BadInputError(f"{path}: is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Helpers lie beside the op in the Build's folder. They must not be found elsewhere: that would be another Build's code.
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # an op's code may raise anything, and that is a finding about the op
        raise KernelError(FailureKind.BUILD, f"{path.name} cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module
