"""The configuration: `perfd.toml` as frozen dataclasses; without a file the defaults serve.

Every mistake in the file is reported at once, each with its line. Secrets come from the environment, never from the file.
"""

from perfd.config.notify import Notify, Weekly
from perfd.config.reader import load_config
from perfd.config.words import Config, DeviceConfig, GitHub, GitHubRepository, Schedule, SiteConfig

__all__ = ["Config", "DeviceConfig", "GitHub", "GitHubRepository", "Notify", "Schedule", "SiteConfig", "Weekly", "load_config"]
