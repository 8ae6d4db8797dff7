from pathlib import Path

import pytest

from perfd.config import Notify, Weekly, load_config
from perfd.errors import BadInputError

MAIL = '[notify]\nemail_to = ["a@example.com"]\nemail_from = "p@example.com"\nsmtp_host = "mail.example.com"\n'


def read(folder: Path, text: str, **environ: str) -> Notify:
    file = folder / "perfd.toml"
    file.write_text(text, encoding="utf-8")
    return load_config(file, environ).notify


def test_nobody_is_told_unless_the_file_says_so(tmp_path: Path) -> None:
    assert Notify(webhook_url="https://hooks.example.com/x") == read(
        tmp_path, "", PERFD_NOTIFY_WEBHOOK_URL="https://hooks.example.com/x"
    )


def test_secrets_come_from_the_environment_or_from_files_it_names(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("https://hooks.example.com/x\n", encoding="utf-8")

    told = read(
        tmp_path,
        "[notify]\nwebhook = true\n",
        PERFD_NOTIFY_WEBHOOK_URL_FILE=str(secret),
        PERFD_SMTP_USER="perfd",
        PERFD_SMTP_PASSWORD="hidden",  # noqa: S106  # it is what must not show
    )

    assert ("https://hooks.example.com/x", "hidden") == (told.webhook_url, told.smtp_password)
    assert "hidden" not in repr(told)
    assert "hooks" not in repr(told)


def test_the_weekly_report_has_a_day_and_a_time(tmp_path: Path) -> None:
    assert Weekly(6, "18:30") == read(tmp_path, MAIL + 'weekly = "sunday 18:30"\n').weekly


def test_links_lead_to_the_site_that_github_knows(tmp_path: Path) -> None:
    text = '[github]\nsite = "https://perfd.example.com/"\n'

    assert "https://perfd.example.com" == read(tmp_path, text).site


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[notify]\nemail_to = ["a@example.com"]\n', "smtp_host"),
        (MAIL.replace("a@example.com", "a example"), 'perfd.toml:2: "a example" is no address'),
        (MAIL.replace("p@example.com", "p\\r\\nBcc: x@y"), "perfd.toml:3:"),
        (MAIL + 'smtp_security = "ssl"\n', 'notify.smtp_security cannot be "ssl"'),
        ('[notify]\nwebhook = "https://hooks.example.com/x"\n', "notify.webhook must be true or false"),
        ('[notify]\nsite = "perfd.example.com"\n', "notify.site must be an address such as"),
        ('[notify]\nsmtp_password = "x"\n', "looks like a secret, which perfd.toml never holds"),
        ("[notify]\nwebhok = true\n", "webhok"),
        (MAIL + 'weekly = "someday 08:00"\n', 'notify.weekly must be a day and a time such as "monday 08:00"'),
        (MAIL + 'weekly = "monday 24:00"\n', "perfd.toml:5: notify.weekly must be a day and a time"),
        ('[notify]\nweekly = "monday 08:00"\n', "notify.email_to names nobody"),
    ],
)
def test_every_mistake_is_told_with_its_line(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BadInputError) as caught:
        read(tmp_path, text)

    assert sentence in caught.value.message


@pytest.mark.parametrize("url", ["hooks.example.com/hidden", "ftp://hooks/hidden", "https://hooks/a hidden"])
def test_an_address_that_is_none_is_told_without_repeating_it(tmp_path: Path, url: str) -> None:
    with pytest.raises(BadInputError, match="PERFD_NOTIFY_WEBHOOK_URL must be an address") as caught:
        read(tmp_path, "[notify]\nwebhook = true\n", PERFD_NOTIFY_WEBHOOK_URL=url)

    assert "hidden" not in caught.value.message


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"PERFD_SMTP_PASSWORD_FILE: .*nothing cannot be read: No such file"):
        read(tmp_path, MAIL, PERFD_SMTP_PASSWORD_FILE=str(tmp_path / "nothing"))
