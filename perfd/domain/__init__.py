"""The words of perfd as frozen dataclasses: what is measured, on what, and what was found (docs/design.md, section 2)."""
