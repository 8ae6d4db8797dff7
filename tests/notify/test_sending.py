from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from receivers import Hooked, Mailbox

from perfd.config import Notify
from perfd.domain.notice import Notice, NotSentError, Severity
from perfd.notify import send_email, send_webhook

NOW = datetime(2026, 11, 29, 2, 30, tzinfo=UTC)
TOLD = Notice("alarm:1:begun", Severity.ALARM, "No night has begun.", "start it", "https://perfd.example.com/status")
HOSTILE = Notice(
    "r:1",
    Severity.ATTENTION,
    "tiny <!channel> @here: +5 %\r\nBcc: all@example.com",
    "by <@U1> [see](http://x) @everyone\x00\u202e",
)


def mail_settings(mail: Mailbox, security: str = "starttls") -> Notify:
    return Notify(
        email_to=("a@example.com", "b@example.com"),
        email_from="perfd@example.com",
        smtp_host="127.0.0.1",
        smtp_port=mail.port,
        smtp_security=security,
    )


def test_a_webhook_gets_slacks_json(webhook: Hooked) -> None:
    send_webhook(TOLD, webhook.url, NOW)

    body = webhook.taken[0]
    assert {"text", "blocks"} == set(body)
    assert ["header", "section", "actions", "context"] == [block["type"] for block in body["blocks"]]
    assert TOLD.url == body["blocks"][2]["elements"][0]["url"]
    assert ["alarm:1:begun"] == webhook.keys


def test_nobody_is_mentioned_by_text_from_outside(webhook: Hooked) -> None:
    send_webhook(HOSTILE, webhook.url, NOW)

    body = webhook.taken[0]
    assert "<" not in body["text"]
    assert {"plain_text"} == {block["text"]["type"] for block in body["blocks"] if "text" in block}
    for text in (body["text"], *(block["text"]["text"] for block in body["blocks"] if "text" in block)):
        assert "@here" not in text
        assert "@everyone" not in text
        assert "](" not in text
        assert "\u202e" not in text


def test_a_long_text_is_cut_to_what_slack_takes(webhook: Hooked) -> None:
    send_webhook(Notice("k", Severity.NEWS, "x" * 9000, "y" * 9000), webhook.url, NOW)

    header, section = webhook.taken[0]["blocks"][:2]
    assert len(header["text"]["text"]) == 150
    assert len(section["text"]["text"]) <= 3000


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", timedelta(seconds=120)),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), timedelta(seconds=90)),
        ("999999999999999", timedelta(hours=6)),
        ("soon", None),
        ("-5", None),
    ],
)
def test_retry_after_is_honoured(webhook: Hooked, value: str, wait: timedelta | None) -> None:
    webhook.answers = [(429, {"Retry-After": value})]

    with pytest.raises(NotSentError, match="answered 429") as caught:
        send_webhook(TOLD, webhook.url, NOW)

    assert not caught.value.permanent
    assert (None if wait is None else NOW + wait) == caught.value.again_at


@pytest.mark.parametrize(("status", "permanent"), [(400, True), (413, True), (302, False), (404, False), (500, False)])
def test_only_a_body_that_is_refused_is_not_tried_again(webhook: Hooked, status: int, *, permanent: bool) -> None:
    webhook.answers = [(status, {"Location": "http://127.0.0.1:1/"})]

    with pytest.raises(NotSentError) as caught:
        send_webhook(TOLD, webhook.url, NOW)

    assert permanent == caught.value.permanent


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/very-secret", "http://no-such-host.invalid/very-secret"])
def test_a_webhook_that_is_away_is_told_without_its_address(url: str) -> None:
    with pytest.raises(NotSentError) as caught:
        send_webhook(TOLD, url, NOW)

    assert "very-secret" not in caught.value.message


def test_a_letter_comes_over_starttls(mail: Mailbox) -> None:
    send_email(TOLD, mail_settings(mail), NOW)
    send_email(TOLD, mail_settings(mail), NOW)

    first, again = mail.letters
    assert "perfd, alarm: No night has begun." == first["Subject"]
    assert "a@example.com, b@example.com" == first["To"]
    assert first["Message-ID"] == again["Message-ID"]
    assert TOLD.url in first.get_content()


def test_text_from_outside_adds_no_header(mail: Mailbox) -> None:
    send_email(HOSTILE, mail_settings(mail), NOW)

    letter = mail.letters[0]
    assert letter["Bcc"] is None
    assert "Bcc: all@" in letter["Subject"].replace("\u200b", "")


def test_nothing_is_sent_in_the_clear_where_a_certificate_is_not_trusted(mail: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")

    with pytest.raises(NotSentError, match="no certificate that this machine trusts"):
        send_email(TOLD, mail_settings(mail), NOW)

    assert [] == mail.letters


@pytest.mark.parametrize(("answer", "permanent"), [("554 spam", True), ("451 later", False)])
def test_a_letter_that_is_refused_for_ever_is_not_tried_again(mail: Mailbox, answer: str, *, permanent: bool) -> None:
    mail.answer = answer

    with pytest.raises(NotSentError, match=f"refuses the message .{answer[:3]}") as caught:
        send_email(TOLD, mail_settings(mail), NOW)

    assert permanent == caught.value.permanent


def test_a_mail_server_that_is_away_is_tried_again() -> None:
    settings = Notify(email_to=("a@example.com",), email_from="p@example.com", smtp_host="127.0.0.1", smtp_port=1)

    with pytest.raises(NotSentError, match=r"127.0.0.1:1 does not answer") as caught:
        send_email(TOLD, settings, NOW)

    assert not caught.value.permanent
