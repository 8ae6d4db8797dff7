"""The section `[site]`: who is who, and every mistake in it told with its line."""

from pathlib import Path

import pytest

from perfd.config import Config, load_config
from perfd.domain.account import Role
from perfd.errors import BadInputError


def load(folder: Path, text: str, **environ: str) -> Config:
    (folder / "perfd.toml").write_text(text, encoding="utf-8")
    return load_config(folder / "perfd.toml", environ)


def test_without_the_section_everybody_reads_and_the_person_at_the_machine_writes(tmp_path: Path) -> None:
    site = load(tmp_path, "").site

    assert (True, True, ()) == (site.public, site.loopback, site.proxies)
    assert site.role("github:alice") is None


def test_a_person_has_the_role_that_the_file_gives_whatever_their_case(tmp_path: Path) -> None:
    site = load(tmp_path, '[site]\neverybody = "viewer"\npeople = { "github:Alice" = "admin", "proxy:bob" = "triager" }').site

    assert (Role.ADMIN, Role.TRIAGER) == (site.role("github:alice"), site.role("proxy:Bob"))
    assert (Role.VIEWER, Role.VIEWER) == (site.role("proxy:alice"), site.role("github:bob"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[site]\nproxies = ["10.0.0.1", "gateway"]', ':2: site.proxies holds addresses such as "10.0.0.7"'),
        ('[site]\nproxy_header = "X User"', ":2: site.proxy_header must be the name of an HTTP header"),
        ('[site]\neverybody = "king"', ':2: site.everybody cannot be "king"; there is admin'),
        ('[site.people]\nalice = "admin"', ':2: site.people: "alice" is nobody; a person is written as "github:LOGIN"'),
        ('[site.people]\n"github:alice" = "admn"', ':2: site.people: "github:alice" cannot be "admn"; did you mean "admin"?'),
        ("[site]\npubic = true", ':2: unknown key "pubic" in [site]; did you mean "public"?'),
        ('[site]\nclient_secret = "x"', ':2: "client_secret" looks like a secret'),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadInputError) as raised:
        load(tmp_path, text)

    assert told in raised.value.message


def test_the_secret_of_the_app_comes_from_the_environment_and_is_not_shown(tmp_path: Path) -> None:
    config = load(tmp_path, "", PERFD_GITHUB_CLIENT_ID="id", PERFD_GITHUB_CLIENT_SECRET="deep")  # noqa: S106  # no secret

    assert "deep" == config.site.github_client_secret
    assert "deep" not in repr(config)
    with pytest.raises(BadInputError, match="belong together"):
        load(tmp_path, "", PERFD_GITHUB_CLIENT_ID="id")
