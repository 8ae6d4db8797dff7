"""What else is going on, for the home page: Launches under way, devices in quarantine.

Each is a list of (words, address); whoever brings Launches and quarantines fills them here, from the store's own questions.
"""

from perfd.site.site import Site

Notices = list[tuple[str, str]]


def launches(site: Site) -> Notices:
    """Launches whose last Checkpoint is still to come."""
    del site
    return []


def quarantined(site: Site) -> Notices:
    """Devices on which nothing is measured until a person or a good calibration lets them go."""
    del site
    return []
