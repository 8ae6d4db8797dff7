"""How many nights the detector looks at, needs and waits for."""

NIGHTS = 30
"""The longest post-change stretch that is tried."""
REFERENCE = 5
"""Points that a level needs before anything is judged against it."""
LASTING = 4
"""Nights before a step may be told from a spike."""
NOISE_UNKNOWN = 2
"""Reference nights that stand for what noise is not known for."""
