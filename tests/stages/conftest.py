import sys
from pathlib import Path

for beside in ("store", "bench", "site"):
    sys.path.append(str(Path(__file__).parents[1] / beside))  # store_world, nvml_stand_in and served_site serve here too
