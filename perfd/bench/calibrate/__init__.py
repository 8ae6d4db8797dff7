"""The calibration server, whose schedule is exactly known, and the client's error as measured against it."""

from perfd.bench.calibrate.measure import Calibration, calibrate
from perfd.bench.calibrate.shapes import Shape, StreamPlan

__all__ = ["Calibration", "Shape", "StreamPlan", "calibrate"]
