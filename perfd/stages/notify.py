"""notify: what perfd has to say is brought to people outside, each message at least once to each channel.

A message of the outbox becomes one a channel, so that a mail server that is away keeps no webhook waiting, and what the webhook
has taken is not sent there again. Which channels there are stands in perfd.toml, the same on every machine; only a machine that
knows a channel's secret sends there.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from perfd.config import Notify
from perfd.domain.notice import Figure, Letter, Notice, NotSentError, Severity
from perfd.notify import send_email, send_letter, send_webhook
from perfd.stages.about import about
from perfd.stages.context import Context
from perfd.store.outbox import Message
from perfd.store.posts import MESSAGE as POST

WEBHOOK, EMAIL = "webhook", "email"
CHANNELS = (WEBHOOK, EMAIL)
LETTER = "letter"
"""What the payload of an e-mail calls itself that is no notice."""
AGAIN_AFTER = timedelta(minutes=2)
"""When somebody else takes over from a sender that died."""
BACK_OFF = timedelta(seconds=30)
LONGEST_BACK_OFF = timedelta(minutes=30)
MOST_TRIES = 54
"""With these waits about a day."""


def hand_on(context: Context) -> bool:
    """One message was handed on to the channels; False when none is due."""
    message = context.store.outbox.claim(context.now(), AGAIN_AFTER, but=(POST, *CHANNELS))
    if message is None:
        return False
    context.tell.say("report", f"{message.kind}: {message.payload.get('title', '')}")
    _spread(context, message)
    return context.store.outbox.sent(message, context.now())


def _spread(context: Context, message: Message) -> None:
    """Every channel that perfd.toml names has its copy in the outbox; doing it twice adds none."""
    payload = {"notice": message.payload, "what": message.kind, "key": message.dedupe_key}
    for channel in wanted(context.config.notify):
        context.store.outbox.put(f"{channel}:{message.dedupe_key}", channel, payload, context.now())


def wanted(notify: Notify) -> tuple[str, ...]:
    """The channels that perfd.toml names."""
    return (*((WEBHOOK,) if notify.webhook else ()), *((EMAIL,) if notify.email_to else ()))


def known(notify: Notify) -> tuple[str, ...]:
    """Those of them that this machine can send to."""
    return tuple(one for one in wanted(notify) if one != WEBHOOK or notify.webhook_url is not None)


def notify(context: Context) -> bool:
    """One message was brought to one channel, or is to be tried again later; False when none is due."""
    channels = known(context.config.notify)
    message = context.store.outbox.claim(context.now(), AGAIN_AFTER, kinds=channels) if channels else None
    if message is None:
        return False
    try:
        _send(context, message)
    except NotSentError as error:
        _not_taken(context, message, error)
    else:
        context.store.outbox.sent(message, context.now())
    return True


def deliver_one(context: Context, key: str) -> str:
    """The message with that key is tried now; what came of it, in a sentence. Others that are due go with it."""
    while not context.over.is_set() and notify(context):
        pass
    return context.store.outbox.said(key)


def _send(context: Context, message: Message) -> None:
    settings = context.config.notify
    if message.payload["what"] == LETTER:
        send_letter(letter_of(message.payload), settings, context.now())
        return
    told = notice_of(message.payload["what"], message.payload["notice"], message.payload["key"], settings.site)
    if message.kind == WEBHOOK and settings.webhook_url is not None:
        send_webhook(told, settings.webhook_url, context.now())
    elif message.kind == EMAIL:
        send_email(told, settings, context.now())


def _not_taken(context: Context, message: Message, error: NotSentError) -> None:
    if error.permanent or message.attempts >= MOST_TRIES:
        with about(level="error"):
            context.tell.say("notify", f"given up: {error.message}")
        context.store.outbox.given_up(message, error.message, context.now())
        return
    with about(level="warning"):
        context.tell.say("notify", f"{error.message}; tried again")
    context.store.outbox.failed(message, error.message, _next(message, error.again_at, context.now()))


def _next(message: Message, again_at: datetime | None, now: datetime) -> datetime:
    waits: timedelta = min(BACK_OFF * 2 ** min(message.attempts - 1, 10), LONGEST_BACK_OFF)
    return max(now + waits, again_at or now)


def post(context: Context, letter: Letter) -> bool:
    """The letter will be sent by e-mail; False where one with its key was before, sent or not."""
    figures = [{"name": one.name, "png": b64encode(one.png).decode("ascii")} for one in letter.figures]
    payload = {"what": LETTER, "key": letter.key, "title": letter.title, "text": letter.text, "figures": figures}
    return context.store.outbox.put(f"{EMAIL}:{letter.key}", EMAIL, payload, context.now())


def letter_of(payload: Mapping[str, Any]) -> Letter:
    """The letter as it was written: tried again, it says the same."""
    figures = tuple(Figure(one["name"], b64decode(one["png"])) for one in payload["figures"])
    return Letter(payload["key"], payload["title"], payload["text"], figures)


def notice_of(kind: str, payload: Mapping[str, Any], key: str, site: str) -> Notice:
    """A message of the outbox as people are told it."""
    title, why = str(payload.get("title", "")), str(payload.get("why", ""))
    if kind == "alarm":
        what = str(payload.get("what", ""))
        severity = Severity.NEWS if what == "over" else Severity.ALARM
        told = f"over: {title}" if what == "over" else f"still: {title}" if what.startswith("reminder") else title
        return Notice(key, severity, told, why, f"{site}/status#alarms" if site else "")
    number = payload.get("regression")
    severity = Severity.NEWS if kind == "fixed" else Severity.ATTENTION
    text = "; ".join(filter(None, (why, str(payload.get("note", "")))))
    word = "fixed" if kind == "fixed" else "Regression"
    url = f"{site}/regressions/{number}" if site and isinstance(number, int) else ""
    return Notice(key, severity, f"{word} {number}: {title}", text, url)
