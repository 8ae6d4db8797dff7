"""Long Runs: work of minutes or hours that hands in what it has on its way; docs/long_runs.md tells what a Workload says.

`measure` (course.py) is what the measuring child calls. The work runs in a cage and sees its own folder, its files and the
validation set; each file that it hands in is taken away from it at once and scored in a cage of its own, on both sets.
"""

from perfd.bench.longrun.course import Came, measure
from perfd.bench.longrun.told import FILE, read_new

__all__ = ["FILE", "Came", "measure", "read_new"]
