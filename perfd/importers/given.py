"""What the person who imports knows and the file does not say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from perfd.domain.metric import Better
from perfd.domain.subject import SubjectKind
from perfd.errors import BadInputError


@dataclass(frozen=True)
class Given:
    """Words of the command line; "" leaves them to the file."""

    at: datetime
    """When it was measured, where the file does not say."""
    subject: str = ""
    kind: SubjectKind = SubjectKind.ENGINE
    branch: str = ""
    revision: str = ""
    device_class: str = ""
    workload: str = ""
    model: str = ""
    quantisation: str = ""
    parallelism: str = ""
    better: Mapping[str, Better] = field(default_factory=dict)
    """By name of a measure, which way is better, where neither the file nor its unit says so."""

    def named(self, found: str) -> str:
        """The subject; raises BadInputError where neither the file nor the person names it."""
        return self.subject or found or _missing("what was measured", "--subject NAME")

    def revised(self, found: str) -> str:
        """The Revision; raises BadInputError where neither the file nor the person names it."""
        return self.revision or found or _missing("which commit or version was measured", "--revision REVISION")


def _missing(what: str, option: str) -> str:
    raise BadInputError(f"the file does not say {what}; say it with {option}")
