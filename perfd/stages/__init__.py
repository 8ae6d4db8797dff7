"""The six verbs. A stage does one unit of work and returns whether there was any; the loop is `while stage(context): pass`.

Stages meet only in the database, so each may crash, run again, or move to another machine.
"""
