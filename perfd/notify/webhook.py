"""A webhook that takes Slack's JSON: Slack itself, Mattermost, and what else understands `{"text", "blocks"}`."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from perfd.domain.notice import Notice, NotSentError, Severity
from perfd.notify.words import harmless

TIMEOUT_S = 10.0
LONGEST_TITLE = 150
"""Characters that Slack takes in a header."""
LONGEST_TEXT = 2800
LONGEST_WAIT = timedelta(hours=6)
"""A longer Retry-After is no answer of somebody who is to be believed."""
BAD_BODY = frozenset({400, 413, 422})
"""The same body would be refused again; everything else may be mended meanwhile."""
_SIGNS = {
    Severity.ATTENTION: "\N{LARGE RED CIRCLE}",
    Severity.ALARM: "\N{WARNING SIGN}",
    Severity.NEWS: "\N{WHITE HEAVY CHECK MARK}",
}


def send_webhook(notice: Notice, url: str, now: datetime) -> None:
    """The notice was taken; raises NotSentError, which never holds the address."""
    try:
        answer = httpx.post(
            url,
            json=body(notice),
            headers={"Idempotency-Key": notice.key},
            timeout=TIMEOUT_S,
            follow_redirects=False,  # a redirect would carry the message to somebody whom nobody named
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NotSentError(
            f"the webhook does not answer ({type(error).__name__}); is its address right, and its host up?"
        ) from None
    if not answer.is_success:
        permanent = answer.status_code in BAD_BODY
        said = f"the webhook answered {answer.status_code}, expected 200"
        raise NotSentError(said, permanent=permanent, again_at=_again_at(answer.headers.get("Retry-After", ""), now))


def body(notice: Notice) -> dict[str, Any]:
    """The JSON: plain text in every block, which Slack searches for no mention, and a text for what knows no blocks."""
    title = harmless(f"{_SIGNS[notice.severity]} {notice.title}", LONGEST_TITLE)
    rest = harmless(notice.text, LONGEST_TEXT)
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(title)}]
    if rest:
        blocks.append({"type": "section", "text": _plain(rest)})
    if notice.url:
        blocks.append({"type": "actions", "elements": [{"type": "button", "text": _plain("See it"), "url": notice.url}]})
    blocks.append({"type": "context", "elements": [_plain(f"perfd, {notice.severity}")]})
    lines = [escaped(harmless(f"{_SIGNS[notice.severity]} {notice.title}", LONGEST_TEXT)), escaped(rest), notice.url]
    return {"text": "\n".join(filter(None, lines)), "blocks": blocks}


def escaped(text: str) -> str:
    """Text as Slack's own markup shows it: no link, no `<!channel>`."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _again_at(value: str, now: datetime) -> datetime | None:
    """Retry-After in seconds, or as a date."""
    try:
        if value.strip().isdigit():
            wait = timedelta(seconds=min(float(value), LONGEST_WAIT.total_seconds()))
        else:
            wait = parsedate_to_datetime(value).astimezone(UTC) - now
    except (ValueError, OverflowError, TypeError):
        return None
    return now + min(max(wait, timedelta()), LONGEST_WAIT)
