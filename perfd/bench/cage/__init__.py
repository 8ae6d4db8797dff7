"""The cage: code that nobody vouches for runs as nobody, sees only what it is shown, and is ended with all that it started.

`refusal()` (refuse.py) says why this host cannot build one. `run` and `run_file` (run.py) run something in it and bring back
bounded output; `command` (plan.py) gives the command line that does, for whoever starts processes. docs/cage.md tells the rest.
This file imports nothing: the program that builds the cage starts with it, before each caged program.
"""
