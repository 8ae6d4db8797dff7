"""paged_decode: attention of one new token a request over its keys and values, which lie in pages (grouped-query heads).

    out[b, h] = softmax(q[b, h] · k[b, :, g]ᵀ · d^-0.5) · v[b, :, g]     g = h // (Hq / Hk), over the lens[b] tokens of b

Token n of request b lies in page `table[b, n // page]`, place `n % page`. Table entries behind the last token may hold
anything; a request of length 0 gives zeros.

Each cached element is read once and used Hq/Hk times, so reading the cache is the floor. One program a request and KV head
would leave most of a GPU idle at small batches: the sequence is split, each split keeps a running softmax in base 2
(the maximum, the sum of weights and the weighted values), and `merge_kernel` joins the splits by their log-sum-exp.
The algorithm: Flash-Decoding (Dao et al., 2023); online softmax: Milakov and Gimelshein, 2018.
"""

import math

import torch
import triton
import triton.language as tl

LOG2_E = math.log2(math.e)

INTERPRETED = triton.knobs.runtime.interpret
# A block of keys; with its values it takes 32 KiB of shared memory, so that four programs fit on a multiprocessor.
BLOCK_BYTES = 1 << 14
# Programs on each multiprocessor: enough to even out ragged lengths, few enough for merging to cost next to nothing.
WAVES = 4


@triton.jit
def split_kernel(
    q,  # [B, Hq, d]
    k_pages,  # [pages, page, Hk, d]
    v_pages,  # [pages, page, Hk, d]
    table,  # [B, pages a request] int32
    lens,  # [B] int32
    part,  # [B, Hq, splits, d] float32: the weighted mean of each split's values
    lse,  # [B, Hq, splits] float32: log2 of each split's sum of weights; -inf for an empty split
    scale,  # d^-0.5 · log2(e)
    page,
    table_width,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    BLOCK_G: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_N: tl.constexpr,
    PRECISION: tl.constexpr,
    INTERPRETED: tl.constexpr,
) -> None:
    """One split of one request, for all query heads that share a KV head: grid (B, Hk, splits)."""
    b, g, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    Hk, splits = tl.num_programs(1), tl.num_programs(2)

    # --- which tokens: equal shares of this request's own length, in whole blocks
    length = tl.load(lens + b)
    share = tl.cdiv(tl.cdiv(length, splits), BLOCK_N) * BLOCK_N
    first = split * share
    last = tl.minimum(first + share, length)

    # --- the queries of the group stay in registers
    head = tl.arange(0, BLOCK_G)
    column = tl.arange(0, BLOCK_D)
    row = b * Hk * GROUP + g * GROUP + head  # of [B · Hq]
    heads = head < GROUP
    inside = heads[:, None] & (column < D)[None, :]
    queries = tl.load(q + row[:, None] * D + column[None, :], mask=inside, other=0.0)
    if INTERPRETED:  # its product of two bfloat16 blocks is wrong (Triton 3.7 and 3.9)
        queries = queries.to(tl.float32)

    # --- running softmax over the split's blocks
    peak = tl.full([BLOCK_G], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_G], tl.float32)
    acc = tl.zeros([BLOCK_G, BLOCK_D], tl.float32)
    for start in range(first, last, BLOCK_N):
        token = start + tl.arange(0, BLOCK_N)
        valid = token < last
        number = tl.load(table + b * table_width + token // page, mask=valid, other=0).to(tl.int64)
        place = (((number * page + token % page) * Hk + g) * D)[:, None] + column[None, :]
        wanted = valid[:, None] & (column < D)[None, :]
        keys = tl.load(k_pages + place, mask=wanted, other=0.0)
        values = tl.load(v_pages + place, mask=wanted, other=0.0)
        if INTERPRETED:
            keys, values = keys.to(tl.float32), values.to(tl.float32)

        score = tl.dot(queries, tl.trans(keys), input_precision=PRECISION) * scale
        score = tl.where(valid[None, :], score, float("-inf"))
        higher = tl.maximum(peak, tl.max(score, axis=1))
        weight = tl.exp2(score - higher[:, None])
        shrink = tl.exp2(peak - higher)
        total = total * shrink + tl.sum(weight, axis=1)
        acc = acc * shrink[:, None] + tl.dot(weight.to(values.dtype), values, input_precision=PRECISION)
        peak = higher

    # --- a split without tokens keeps a peak of -inf: it weighs nothing in the merge
    total = tl.where(total > 0, total, 1.0)
    mean = acc / total[:, None]
    tl.store(part + (row[:, None] * splits + split) * D + column[None, :], mean, mask=inside)
    tl.store(lse + row * splits + split, peak + tl.log2(total), mask=heads)


@triton.jit
def merge_kernel(
    part,  # [B, Hq, splits, d] float32
    lse,  # [B, Hq, splits] float32
    out,  # [B, Hq, d]
    splits,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
    ALL_SPLITS: tl.constexpr,
    BLOCK_S: tl.constexpr,
) -> None:
    """One output row, the mean of its splits by weight 2^lse: grid (B · Hq,). ALL_SPLITS ≥ splits."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK_D)

    every = tl.arange(0, ALL_SPLITS)
    peak = tl.max(tl.load(lse + row * splits + every, mask=every < splits, other=float("-inf")), axis=0)
    # All splits of a request of length 0 are at -inf, and -inf - -inf is no number.
    peak = tl.where(peak == float("-inf"), 0.0, peak)

    total = 0.0
    acc = tl.zeros([BLOCK_D], tl.float32)
    for start in range(0, splits, BLOCK_S):
        split = start + tl.arange(0, BLOCK_S)
        inside = (split < splits)[:, None] & (column < D)[None, :]
        weight = tl.exp2(tl.load(lse + row * splits + split, mask=split < splits, other=float("-inf")) - peak)
        means = tl.load(part + (row * splits + split)[:, None] * D + column[None, :], mask=inside, other=0.0)
        total += tl.sum(weight, axis=0)
        acc += tl.sum(means * weight[:, None], axis=0)
    tl.store(out + row * D + column, acc / tl.where(total > 0, total, 1.0), mask=column < D)


def run(
    q: torch.Tensor,  # [B, Hq, d]
    k_pages: torch.Tensor,  # [pages, page, Hk, d]
    v_pages: torch.Tensor,  # [pages, page, Hk, d]
    table: torch.Tensor,  # [B, pages a request] int32
    lens: torch.Tensor,  # [B] int32
) -> torch.Tensor:
    """[B, Hq, d] in the dtype of q. All inputs are contiguous; the host never reads lengths, so that a graph can hold it."""
    B, Hq, d = q.shape
    _, page, Hk, _ = k_pages.shape
    out = torch.empty_like(q)
    if B == 0:
        return out
    block_d = max(16, triton.next_power_of_2(d))
    block_n = max(16, BLOCK_BYTES // (block_d * q.element_size()))
    splits = split_count(B * Hk, triton.cdiv(table.shape[1] * page, block_n), q.device)
    part = torch.empty((B, Hq, splits, d), dtype=torch.float32, device=q.device)
    lse = torch.empty((B, Hq, splits), dtype=torch.float32, device=q.device)
    split_kernel[(B, Hk, splits)](
        q,
        k_pages,
        v_pages,
        table,
        lens,
        part,
        lse,
        d**-0.5 * LOG2_E,
        page,
        table.shape[1],
        GROUP=Hq // Hk,
        D=d,
        BLOCK_G=max(16, triton.next_power_of_2(Hq // Hk)),  # a tensor core's product has 16 rows at least
        BLOCK_D=block_d,
        BLOCK_N=block_n,
        PRECISION="ieee" if q.dtype == torch.float32 else "tf32",
        INTERPRETED=INTERPRETED,
        num_warps=4,
        num_stages=3,
    )
    merge_kernel[(B * Hq,)](
        part,
        lse,
        out,
        splits,
        D=d,
        BLOCK_D=block_d,
        ALL_SPLITS=triton.next_power_of_2(splits),
        BLOCK_S=16,
        num_warps=4,
    )
    return out


def split_count(programs: int, blocks: int, device: torch.device) -> int:
    """Splits of a sequence of `blocks` blocks: for WAVES programs on each multiprocessor, and none without a block."""
    processors = torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 8
    return max(1, min(triton.cdiv(WAVES * processors, programs), blocks))


def reference(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    table: torch.Tensor,
    lens: torch.Tensor,
) -> torch.Tensor:
    """The formula in float64, request by request."""
    B, Hq, d = q.shape
    _, page, Hk, _ = k_pages.shape
    out = torch.zeros(B, Hq, d, dtype=torch.float64, device=q.device)
    for b, length in enumerate(lens.tolist()):
        numbers = table[b, : -(-length // page)].long()
        keys, values = (pages[numbers].reshape(-1, Hk, d)[:length].double() for pages in (k_pages, v_pages))
        queries = q[b].double().view(Hk, Hq // Hk, d)
        weights = torch.softmax(torch.einsum("gid,ngd->gin", queries, keys) * d**-0.5, dim=-1)
        out[b] = torch.einsum("gin,ngd->gid", weights, values).reshape(Hq, d)
    return out


def inputs(draw, *, B: int, L: int, Hq: int, Hk: int, d: int, page: int) -> tuple[torch.Tensor, ...]:
    """Fresh q, pages in an order of chance, and lengths up to L; table entries that no token needs are no pages at all."""
    width = -(-L // page)
    lens = draw.lengths(B, L)
    table = draw.permutation(B * width).view(B, width)
    needed = torch.arange(width, device=lens.device) < (lens[:, None] + page - 1) // page
    table = torch.where(needed, table, -1).to(torch.int32).contiguous()
    return draw(B, Hq, d), draw(B * width, page, Hk, d), draw(B * width, page, Hk, d), table, lens


def cost(*, B: int, L: int, Hq: int, Hk: int, d: int, page: int, itemsize: int = 2) -> tuple[int, int]:
    """FLOPs, and the bytes that must move when all requests have L tokens: keys and values, q and out, the table and lengths."""
    cache = 2 * itemsize * B * L * Hk * d
    ends = 2 * itemsize * B * Hq * d
    return 4 * B * L * Hq * d, cache + ends + 4 * B * (-(-L // page) + 1)


# What is compiled ahead of time: MiniMax-M3's attention in bfloat16, as `run` would launch it.
COMPILED = (
    {
        "kernel": split_kernel,
        "signature": {
            "q": "*bf16",
            "k_pages": "*bf16",
            "v_pages": "*bf16",
            "table": "*i32",
            "lens": "*i32",
            "part": "*fp32",
            "lse": "*fp32",
            "scale": "fp32",
            "page": "i32",
            "table_width": "i32",
        },
        "constexprs": {
            "GROUP": 16,
            "D": 128,
            "BLOCK_G": 16,
            "BLOCK_D": 128,
            "BLOCK_N": 64,
            "PRECISION": "tf32",
            "INTERPRETED": False,
        },
        "divisible": ("q", "k_pages", "v_pages", "table", "lens", "part", "lse", "page", "table_width"),
        "options": {"num_warps": 4, "num_stages": 3},
    },
    {
        "kernel": merge_kernel,
        "signature": {"part": "*fp32", "lse": "*fp32", "out": "*bf16", "splits": "i32"},
        "constexprs": {"D": 128, "BLOCK_D": 128, "ALL_SPLITS": 32, "BLOCK_S": 16},
        "divisible": ("part", "lse", "out"),
        "options": {"num_warps": 4},
    },
)
