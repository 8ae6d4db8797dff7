"""Kernels measured: counted by the compiler, held against float64, timed on a GPU. docs/kernels.md says how, and why so."""

from perfd.bench.kernels.measuring import measure
from perfd.bench.kernels.workloads import device_class, gpu_class, kernel_workloads

__all__ = ["device_class", "gpu_class", "kernel_workloads", "measure"]
