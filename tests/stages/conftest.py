import sys
from pathlib import Path

for beside in ("store", "bench"):
    sys.path.append(str(Path(__file__).parents[1] / beside))  # store_world and nvml_stand_in serve here too
