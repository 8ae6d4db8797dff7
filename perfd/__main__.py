"""`python -m perfd` is the command `perfd`."""

from perfd.cli import main

main()
