"""What a GPU could do at best, so that a time can be told as a share of the hardware's limit.

Dense figures of NVIDIA's data sheets: the ones with sparsity are twice as high, and no kernel here is sparse.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Peak:
    """The limits of one GPU model."""

    bfloat16_flops_per_s: float
    """Tensor cores, dense, accumulated in float32."""
    bytes_per_s: float
    """Device memory."""

    def floor_s(self, flops: int, moved_bytes: int) -> float:
        """The roofline: no kernel with that much work is faster."""
        return max(flops / self.bfloat16_flops_per_s, moved_bytes / self.bytes_per_s)


PEAKS = {
    "NVIDIA A100-SXM4-40GB": Peak(312e12, 1.555e12),
    "NVIDIA A100-SXM4-80GB": Peak(312e12, 2.039e12),
    "NVIDIA A100 80GB PCIe": Peak(312e12, 1.935e12),
    "NVIDIA H100 PCIe": Peak(756e12, 2.0e12),
    "NVIDIA H100 80GB HBM3": Peak(989e12, 3.35e12),
    "NVIDIA H200": Peak(989e12, 4.8e12),
    "NVIDIA B200": Peak(2250e12, 8.0e12),
}
"""By the name that the driver gives."""


def of_floor(gpu_name: str, flops: int, moved_bytes: int, seconds: float) -> float | None:
    """The share of the hardware's limit that `seconds` reaches, 1 at best; absent for a GPU that PEAKS does not list."""
    peak = PEAKS.get(gpu_name)
    return None if peak is None else peak.floor_s(flops, moved_bytes) / seconds
