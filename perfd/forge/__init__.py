"""The edge to a forge: four calls behind a Protocol, and GitHub as the first of them."""

from collections.abc import Callable
from datetime import datetime

from perfd.config.words import GitHub as Settings
from perfd.config.words import SiteConfig
from perfd.errors import BadInputError
from perfd.forge.credentials import App, Token, read_key
from perfd.forge.github import GitHub
from perfd.forge.http import Http, new_client
from perfd.forge.login import GitHubLogin
from perfd.forge.protocol import Forge, Posted

__all__ = ["Forge", "GitHub", "GitHubLogin", "Posted", "Token", "github_app", "github_login", "github_with_token"]


def github_app(settings: Settings, now: Callable[[], datetime]) -> Forge | None:
    """GitHub, as the App that the environment names; absent where it names none.

    Raises BadInputError where only half of it is there, or the key is none.
    """
    if settings.app_id is None and settings.private_key_file is None:
        return None
    if settings.app_id is None or settings.private_key_file is None:
        raise BadInputError("set both PERFD_GITHUB_APP_ID and PERFD_GITHUB_PRIVATE_KEY_FILE, or neither: a GitHub App is both")
    http = Http(settings.url, now, new_client())
    return GitHub(http, App(read_key(settings.app_id, settings.private_key_file), http))


def github_with_token(url: str, token: Token, now: Callable[[], datetime]) -> Forge:
    """GitHub, as whoever holds the token: for CI."""
    return GitHub(Http(url, now, new_client()), token)


def github_login(settings: Settings, access: SiteConfig) -> GitHubLogin | None:
    """The OAuth app that people log in through; absent where the environment names none."""
    if access.github_client_id is None or access.github_client_secret is None:
        return None
    return GitHubLogin(settings.url, access.github_client_id, access.github_client_secret)
