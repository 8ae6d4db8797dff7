"""The one family of errors: what was seen, what was expected, what to do."""


class PerfdError(Exception):
    """Something a person can act on; the message is one clear sentence.

    `permanent` says whether trying again could help: a permanent error fails the Run, any other is tried again later.
    `exit_code` is what the command line answers (docs/design.md, section 4).
    """

    exit_code = 4

    def __init__(self, message: str, *, permanent: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent


class BadInputError(PerfdError):
    """A file, an option or a name that perfd was given cannot be used; nothing was changed."""

    exit_code = 3


class UnsureError(PerfdError):
    """perfd could not tell: something that an answer needs is missing."""

    exit_code = 2
