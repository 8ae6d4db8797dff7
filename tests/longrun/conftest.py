import sys
from pathlib import Path

for beside in ("cli", "store"):
    sys.path.append(str(Path(__file__).parents[1] / beside))  # small_night and store_world serve here too
