"""Results of other tools: bytes in, Arrivals of the domain out. One file a format; docs/importing.md tells what each keeps."""

from perfd.importers.formats import FORMATS, read
from perfd.importers.given import Given
from perfd.importers.source import Source

__all__ = ["FORMATS", "Given", "Source", "read"]
