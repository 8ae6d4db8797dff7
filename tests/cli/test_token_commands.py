"""`perfd token`: a secret is shown once, looked at as a row, and taken back."""

import json

from small_night import SmallNight


def test_a_token_is_made_listed_and_revoked(small_night: SmallNight) -> None:
    assert "There are no tokens yet;" in small_night.run("token", "list").stdout
    made = small_night.run("token", "create", "ci", "--role", "runner", "--days", "7", "--engine", "tiny")
    assert (0, True) == (made.returncode, "token 1 (ci), runner, until" in made.stderr)
    secret = made.stdout.strip()
    assert (6 + 43, "perfd_") == (len(secret), secret[:6])

    listed = small_night.run("token", "list", "--json")
    assert secret not in listed.stdout
    (row,) = json.loads(listed.stdout)["tokens"]
    assert ("valid", ["tiny"], None) == (row["state"], row["engines"], row["last_used_at"])

    assert 0 == small_night.run("token", "revoke", "1").returncode
    assert "revoked" in small_night.run("token", "list").stdout
    unknown = small_night.run("token", "revoke", "7")
    assert (3, True) == (unknown.returncode, "there is no token 7" in unknown.stderr)
    foreign = small_night.run("token", "create", "ci", "--role", "runner", "--repository", "octo/engine")
    assert (3, True) == (foreign.returncode, "perfd.toml has none under [[github.repositories]]" in foreign.stderr)
    unheard = small_night.run("token", "create", "ci", "--role", "runner", "--engine", "tinny")
    assert (3, True) == (unheard.returncode, "--engine tinny: perfd knows " in unheard.stderr)
    assert "tiny" in unheard.stderr.split("perfd knows ")[1]
    assert 0 == small_night.run("token", "create", "ci", "--role", "runner", "--new-engine", "tinny").returncode
    nameless = small_night.run("token", "create", "x" * 61, "--role", "runner")
    assert (3, True) == (nameless.returncode, "a label of at most 60 characters" in nameless.stderr)
