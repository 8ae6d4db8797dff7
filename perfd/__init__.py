"""perfd tells an engineer, soon after the push, whether a change made an engine or a kernel slower, faster or worse."""

HARNESS_VERSION = "0.1.0"
"""Version of the code that measures; it is stored with every Run, and raised when a measured number could move."""
