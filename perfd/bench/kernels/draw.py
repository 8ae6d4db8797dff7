"""Inputs for kernels: seeded, in several distributions, because a kernel may be right for friendly numbers only."""

from dataclasses import dataclass

import torch

DISTRIBUTIONS = ("normal", "uniform", "x40", "spiky")


@dataclass(frozen=True)
class Draw:
    """What an op's `inputs` draws from: `draw(T, H)` is a tensor of that shape, never the same twice."""

    dtype: torch.dtype
    distribution: str
    generator: torch.Generator
    ragged: bool = True
    """Whether lengths differ from row to row; False where a time must belong to known sizes."""

    def __call__(self, *shape: int) -> torch.Tensor:
        """Values in `dtype`, on the generator's device."""
        return self._values(shape).to(self.dtype)

    def _values(self, shape: tuple[int, ...]) -> torch.Tensor:
        device = self.generator.device
        if self.distribution == "uniform":
            return torch.rand(shape, generator=self.generator, device=device)
        values = torch.randn(shape, generator=self.generator, device=device)
        if self.distribution == "x40":
            return 40 * values
        if self.distribution == "spiky":
            spikes = torch.rand(shape, generator=self.generator, device=device) < 0.01
            return torch.where(spikes, 100 * values, values)
        return values

    def lengths(self, rows: int, most: int) -> torch.Tensor:
        """(rows,) int32 in 0 … most: ragged with the first row whole and the last one empty, or all `most`."""
        device = self.generator.device
        lengths = torch.full((rows,), most, dtype=torch.int32, device=device)
        if self.ragged and rows > 1:
            lengths[1:] = torch.randint(0, most + 1, (rows - 1,), generator=self.generator, device=device, dtype=torch.int32)
            lengths[-1] = 0
        return lengths

    def permutation(self, n: int) -> torch.Tensor:
        """(n,) int32: 0 … n-1 in an order of chance."""
        return torch.randperm(n, generator=self.generator, device=self.generator.device).to(torch.int32)


def seeded(dtype: torch.dtype, distribution: str, seed: int, *, device: str = "cpu", ragged: bool = True) -> Draw:
    """A Draw that gives the same values for the same seed on the same kind of device."""
    return Draw(dtype, distribution, torch.Generator(device).manual_seed(seed), ragged)
