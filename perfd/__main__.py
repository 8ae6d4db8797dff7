"""`python -m perfd` is the command `perfd`."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while modules are imported ends quietly, without a traceback

from perfd.cli import main

main()
