"""The sizes that kernels are measured at: one dict a model, and from them one dict an op.

Read by path (perfd/bench/kernels/workloads.py), so it imports nothing. A name says its sizes: `t8192_h6144` is 8,192 tokens of
hidden size 6,144. Change a size and it is another Workload, with a Series of its own.
"""

MINIMAX_M3 = {"H": 6144, "Hq": 64, "Hk": 4, "d": 128, "page": 128}
"""MiniMax-M3: hidden size, query heads, key-value heads, head size, tokens in a page of the cache."""

_ATTENTION = {axis: MINIMAX_M3[axis] for axis in ("Hq", "Hk", "d", "page")}

TIMED = {
    "add_rms_norm": {
        "t1_h6144": {"T": 1, "H": MINIMAX_M3["H"]},
        "t64_h6144": {"T": 64, "H": MINIMAX_M3["H"]},
        "t8192_h6144": {"T": 8192, "H": MINIMAX_M3["H"]},
    },
    "paged_decode": {
        "b1_l1048576_h64_kv4_d128_ps128": {"B": 1, "L": 1 << 20, **_ATTENTION},
        "b8_l131072_h64_kv4_d128_ps128": {"B": 8, "L": 1 << 17, **_ATTENTION},
        "b64_l8192_h64_kv4_d128_ps128": {"B": 64, "L": 1 << 13, **_ATTENTION},
    },
}
"""Timed on a GPU, in bfloat16."""

CHECKED = {
    "add_rms_norm": {
        "t183_h781": {"T": 183, "H": 781},
        "t1823_h781": {"T": 1823, "H": 781},
        "t1_h6144": {"T": 1, "H": 6144},
        "t61_h5": {"T": 61, "H": 5},
    },
    "paged_decode": {
        "b5_l183_h6_kv2_d80_ps16": {"B": 5, "L": 183, "Hq": 6, "Hk": 2, "d": 80, "page": 16},
        "b3_l781_h64_kv4_d128_ps128": {"B": 3, "L": 781, **_ATTENTION},
        "b4_l37_h3_kv3_d64_ps7": {"B": 4, "L": 37, "Hq": 3, "Hk": 3, "d": 64, "page": 7},
    },
}
"""Held against float64: odd sizes, tails in every axis, and one size that is served. The first comes in every distribution."""
