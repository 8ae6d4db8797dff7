"""add_rms_norm: the residual addition and the RMS norm that open every block of a transformer, in one pass.

    sum = x + residual                                     (T, H)
    y   = sum / sqrt(mean(sum², over H) + eps) · (offset + weight)

offset 1 is the Gemma style that MiniMax-M3 uses (a weight of zeros changes nothing); offset 0 is the Llama style.
The norm sees the unrounded sum in float32; only what leaves the kernel is rounded to the input's dtype.

It does about 5 operations for 4 elements moved, so memory bandwidth is the floor: x and residual in, sum and y out.
The same fusion: vLLM `fused_add_rms_norm`, FlashInfer `gemma_fused_add_rmsnorm`, Liger `fused_add_rms_norm`.
"""

import torch
import triton
import triton.language as tl

EPS = 1e-6

INTERPRETED = triton.knobs.runtime.interpret
# A program holds this many elements. The interpreter pays for each program, a GPU for each register.
TILE = 1 << 20 if INTERPRETED else 1 << 13


@triton.jit
def add_rms_norm_kernel(
    x,  # [T, H]
    residual,  # [T, H]
    weight,  # [H]
    y,  # [T, H]
    total,  # [T, H]
    T,
    H,
    eps,
    offset,
    ROWS: tl.constexpr,
    BLOCK_H: tl.constexpr,
) -> None:
    """Write ROWS rows of y and of the sum; BLOCK_H ≥ H, so that a row is read once and stays in registers."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK_H)
    inside = (row < T)[:, None] & (column < H)[None, :]
    # T · H passes 2³¹ at 350,000 tokens of H 6144.
    place = row.to(tl.int64)[:, None] * H + column[None, :]

    s = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    s += tl.load(residual + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(total + place, s, mask=inside)

    scale = tl.rsqrt(tl.sum(s * s, axis=1) / H + eps)
    w = tl.load(weight + column, mask=column < H, other=0.0).to(tl.float32)
    tl.store(y + place, s * scale[:, None] * (offset + w)[None, :], mask=inside)


def run(
    x: torch.Tensor,  # [T, H]
    residual: torch.Tensor,  # [T, H]
    weight: torch.Tensor,  # [H]
    *,
    eps: float = EPS,
    offset: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The pair (y, sum), in the dtypes of x and of residual. The inputs are contiguous; T may be 0."""
    T, H = x.shape
    y, total = torch.empty_like(x), torch.empty_like(residual)
    block = triton.next_power_of_2(H)
    rows = max(1, TILE // block)
    if T > 0:
        add_rms_norm_kernel[(triton.cdiv(T, rows),)](x, residual, weight, y, total, T, H, eps, offset, rows, block, num_warps=8)
    return y, total


def reference(
    x: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    *,
    eps: float = EPS,
    offset: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The formula, in float64."""
    total = x.double() + residual.double()
    scale = torch.rsqrt(total.square().mean(dim=-1, keepdim=True) + eps)
    return total * scale * (offset + weight.double()), total


def inputs(draw, *, T: int, H: int) -> tuple[torch.Tensor, ...]:
    """Fresh x, residual and weight; `draw(T, H)` is a tensor of that shape in the dtype and distribution under test."""
    return draw(T, H), draw(T, H), draw(H)


def cost(*, T: int, H: int, itemsize: int = 2) -> tuple[int, int]:
    """FLOPs, and the bytes that must move: x, residual, sum and y once, the weight once."""
    return 5 * T * H, itemsize * (4 * T * H + H)


# What is compiled ahead of time: MiniMax-M3's hidden size in bfloat16, as `run` would launch it.
COMPILED = (
    {
        "kernel": add_rms_norm_kernel,
        "signature": {
            "x": "*bf16",
            "residual": "*bf16",
            "weight": "*bf16",
            "y": "*bf16",
            "total": "*bf16",
            "T": "i32",
            "H": "i32",
            "eps": "fp32",
            "offset": "fp32",
        },
        "constexprs": {"ROWS": 1, "BLOCK_H": 8192},
        "divisible": ("x", "residual", "weight", "y", "total", "H"),
        "options": {"num_warps": 8},
    },
)
