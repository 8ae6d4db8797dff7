"""What a compiler makes of a kernel, counted without a GPU: registers, spills, shared memory, instructions.

Counts are compared, never hashes: of two compilations from nothing the counts agree, and some cubins differ in bytes.
"""

import re
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompiledKernel
from triton.compiler.errors import CompilationError
from triton.runtime.errors import OutOfResources, PTXASError

from perfd.bench.kernels import op
from perfd.bench.kernels.finding import Finding, KernelError
from perfd.bench.kernels.op import Compiled
from perfd.domain.job import Job
from perfd.domain.run import FailureKind
from perfd.errors import PerfdError

INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(?:@!?U?P[T0-9]+\s+)?(?P<opcode>[A-Z][A-Z0-9_]*)", re.MULTILINE)
RESOURCES = re.compile(r"REG:(?P<registers>\d+) STACK:(?P<stack>\d+) SHARED:(?P<shared>\d+)")
TOOL_TIMEOUT_S = 60


@dataclass(frozen=True)
class Counts:
    """What one kernel costs on one architecture."""

    kernel: str
    registers: int
    spills: int
    """Loads and stores of local memory (LDL, STL)."""
    stack_bytes: int
    shared_memory_bytes: int
    """Static and dynamic, of one block."""
    instructions: int
    tensor_core_instructions: int
    """HMMA, HGMMA, UTCHMMA and their kin; none where a matrix product fell back to ordinary arithmetic."""
    compile_s: float


def measure(job: Job) -> Finding:
    """Each kernel of the op, compiled for the Workload's architecture and counted."""
    arch = str(job.workload.parameters["arch"])
    loaded = op.load(job.artifact, str(job.workload.parameters["op"]))
    counts = [count(one, arch, Path(tempfile.mkdtemp(prefix=f"{one.name}-", dir=job.work))) for one in loaded.compiled]
    return Finding(hardware(job), samples(counts), {"kernels": [asdict(one) for one in counts]})


def hardware(job: Job) -> dict[str, str]:
    """The architecture compiled for; the machine that compiles makes no difference to a count."""
    return {"target": str(job.workload.parameters["arch"])}


def samples(counts: list[Counts]) -> dict[str, tuple[float, ...]]:
    """One launch of the op runs all of its kernels: their work adds up, the resources of a block do not."""
    return {
        "registers": (max(one.registers for one in counts),),
        "shared_memory_bytes": (max(one.shared_memory_bytes for one in counts),),
        "spills": (sum(one.spills for one in counts),),
        "instructions": (sum(one.instructions for one in counts),),
        "compile_s": (sum(one.compile_s for one in counts),),
    }


def count(compiled: Compiled, arch: str, cache: Path) -> Counts:
    """Compile for `arch` ("sm_90") with `cache`, an empty folder, as Triton's cache, and count what came out.

    Raises KernelError when it does not compile.
    """
    cubin = cache / "kernel.cubin"
    started = time.perf_counter()
    made = compile_for(compiled, arch, cache)
    compile_s = time.perf_counter() - started
    cubin.write_bytes(made.asm["cubin"])
    resources = RESOURCES.search(_tool("cuobjdump", "-res-usage", cubin))
    if resources is None:
        raise PerfdError(
            f"cuobjdump names no registers for {compiled.name} on {arch}; this Triton's cuobjdump writes another form"
        )
    opcodes = executed(_tool("nvdisasm", "-c", cubin))
    return Counts(
        kernel=compiled.name,
        registers=int(resources["registers"]),
        spills=sum(opcode in {"LDL", "STL"} for opcode in opcodes),
        stack_bytes=int(resources["stack"]),
        shared_memory_bytes=int(resources["shared"]) + made.metadata.shared,
        instructions=len(opcodes),
        tensor_core_instructions=sum(opcode.endswith("MMA") for opcode in opcodes),
        compile_s=compile_s,
    )


def compile_for(compiled: Compiled, arch: str, cache: Path) -> CompiledKernel:
    """The kernel as Triton compiles it for `arch`, from nothing when `cache` is empty."""
    names = compiled.kernel.arg_names
    source = ASTSource(
        fn=compiled.kernel,
        signature={name: compiled.signature.get(name, "constexpr") for name in names},
        constexprs=dict(compiled.constexprs),
        attrs={(names.index(name),): [["tt.divisibility", 16]] for name in compiled.divisible},
    )
    # Triton 3.10 turns the fusion of multiply and add off by default, which would look like a change of the kernel.
    options = {"enable_fp_fusion": True, **compiled.options}
    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = str(cache)
        try:
            return triton.compile(source, target=GPUTarget("cuda", int(arch.removeprefix("sm_")), 32), options=options)
        except (CompilationError, PTXASError, OutOfResources) as error:
            raise KernelError(FailureKind.BUILD, f"{compiled.name} does not compile for {arch}: {error}") from error


def executed(disassembly: str) -> list[str]:
    """The opcodes in order, without the NOPs that pad the end of the code."""
    opcodes = [match["opcode"] for match in INSTRUCTION.finditer(disassembly)]
    while opcodes and opcodes[-1] == "NOP":
        opcodes.pop()
    return opcodes


def _tool(name: str, option: str, cubin: Path) -> str:
    path = getattr(triton.knobs.nvidia, name).path
    done = subprocess.run([path, option, cubin], capture_output=True, text=True, check=False, timeout=TOOL_TIMEOUT_S)
    if done.returncode != 0:
        raise PerfdError(f"{name} could not read the compiled kernel: {done.stderr.strip()}")
    return done.stdout
