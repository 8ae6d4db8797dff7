"""Utilisation: the arithmetic and the memory traffic that a model needs, against what the device could do in that time.

`utilisation(job, traces, …)` is all that a serving Workload calls; docs/witness.md says what is counted and what is not.
"""

from perfd.bench.utilisation.energy import EnergyMeter
from perfd.bench.utilisation.gguf import GgufHead, read_gguf
from perfd.bench.utilisation.prices import Price, price_for
from perfd.bench.utilisation.report import Utilisation, utilisation
from perfd.bench.utilisation.shape import Shape, Weights, shape_from_config, shape_from_gguf, shape_of
from perfd.bench.utilisation.work import Served, Work, work_of

__all__ = [
    "EnergyMeter",
    "GgufHead",
    "Price",
    "Served",
    "Shape",
    "Utilisation",
    "Weights",
    "Work",
    "price_for",
    "read_gguf",
    "shape_from_config",
    "shape_from_gguf",
    "shape_of",
    "utilisation",
    "work_of",
]
