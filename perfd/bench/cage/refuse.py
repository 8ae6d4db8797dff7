"""Whether this host can keep untrusted code apart; where it cannot, none is run."""

import secrets
from functools import cache

from perfd.bench.cage.plan import OWN_LOOPBACK, TRIAL, Plan
from perfd.bench.cage.run import PLACES, NoCageError, run


@cache
def refusal() -> str:
    """One sentence on why untrusted code is refused on this host; "" where a program that prints ran in a cage, just now."""
    word = secrets.token_hex(8)
    try:
        ran = run(Plan(("/bin/sh", "-c", f"echo {word}; exec cat /proc/1/comm"), TRIAL, PLACES, network=OWN_LOOPBACK))
    except NoCageError as error:
        return f"{error.message}; until then perfd refuses to build or run it"
    if word.encode() not in ran.output:
        return f"untrusted code is refused on this host: a program that only prints did not run in a cage ({ran.errors[-200:]})"
    return ""
