"""Clocks, sockets and devices: engines, load, accuracy, kernels, machine state. Needs no database and no web framework."""
