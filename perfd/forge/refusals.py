"""What an answer of GitHub that is no success means: a kind of trouble, a sentence with the remedy, and when to come again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from perfd.domain.forge import ForgeError, Trouble

MINUTE = timedelta(minutes=1)
SOON = timedelta(seconds=10)
"""After a fault of the forge, or silence; who asks backs off from there."""
MENDED = timedelta(minutes=15)
"""After what a person must mend, and may have mended by then."""
LONGEST_WAIT = timedelta(hours=2)
"""GitHub's limits begin anew every hour; a header that asks for more is not believed."""


@dataclass(frozen=True)
class Answer:
    """An HTTP answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    """Names in small letters."""
    message: str
    """GitHub's own sentence, or the beginning of a body that has none; never markup, never a secret."""


class Refused(ForgeError):  # noqa: N818  # it is read aloud: "except Refused"
    """An answer outside 2xx, with the clock of who gave it."""

    def __init__(self, trouble: Trouble, message: str, again_at: datetime | None = None, clock: datetime | None = None) -> None:
        super().__init__(trouble, message, again_at)
        self.clock = clock


def refusal(answer: Answer, doing: str, needs: str, now: datetime) -> Refused:
    """What an answer outside 2xx means; `doing` is what was tried, `needs` the App's permission for it, as GitHub names it."""
    trouble, remedy, when = _meaning(answer, needs, now)
    said = f'GitHub answered {answer.status} "{answer.message}" to {doing}: {remedy}'
    return Refused(trouble, said, when, server_time(answer.headers))


def _meaning(answer: Answer, needs: str, now: datetime) -> tuple[Trouble, str, datetime | None]:
    limited = again_at(answer, now)
    if answer.status in {403, 429} and limited is not None:
        when = limited.astimezone(UTC).strftime("%H:%M:%S UTC")
        return Trouble.LIMITED, f"too many requests; perfd comes again at {when}", limited
    match answer.status:
        case 401:
            keys = "PERFD_GITHUB_APP_ID, PERFD_GITHUB_PRIVATE_KEY_FILE and this machine's clock (for CI: the token)"
            return Trouble.UNAUTHORISED, f"it does not know perfd; check {keys}", now + MENDED
        case 403:
            return Trouble.FORBIDDEN, _forbidden(answer, needs), None
        case 404:
            return Trouble.NOT_FOUND, _not_found(answer, needs), None
        case 409:
            return Trouble.CONFLICT, "something else changed it at that moment; perfd tries again", now + SOON
        case 410:
            return Trouble.GONE, "it was deleted, or issues are switched off in that repository", None
        case 422:
            return Trouble.INVALID, _invalid(answer), None
        case status if status >= 500 or status == 408:
            return Trouble.BROKEN, "its own fault; perfd tries again", now + SOON
    return Trouble.INVALID, "perfd does not know this answer; is `url` of [github] the address of its API?", None


def again_at(answer: Answer, now: datetime) -> datetime | None:
    """When a limited request may be made again; absent where the answer speaks of no limit.

    Retry-After goes first (secondary limits), then x-ratelimit-reset where nothing remains (the hourly limit). GitHub asks for a
    minute at least where a secondary limit names no time.
    """
    after = answer.headers.get("retry-after")
    wait: timedelta | None = None
    if after is not None:
        wait = _seconds(after, now)
    elif answer.headers.get("x-ratelimit-remaining") == "0" and answer.headers.get("x-ratelimit-reset", "").isdigit():
        # Reset is the forge's time, so that it is held against the forge's clock.
        there = server_time(answer.headers) or now
        wait = timedelta(seconds=int(answer.headers["x-ratelimit-reset"]) - there.timestamp() + 1)
    elif answer.status == 429 or "rate limit" in answer.message.lower() or "abuse" in answer.message.lower():
        wait = MINUTE
    return None if wait is None else now + min(max(wait, timedelta(seconds=1)), LONGEST_WAIT)


def server_time(headers: Mapping[str, str]) -> datetime | None:
    """The forge's clock when it answered; absent where the header is."""
    try:
        moment = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _seconds(after: str, now: datetime) -> timedelta:
    """Retry-After is a number of seconds or a date."""
    if after.strip().isdigit():
        return timedelta(seconds=min(int(after), LONGEST_WAIT.total_seconds()))
    moment = server_time({"date": after})
    return MINUTE if moment is None else moment - now


def _forbidden(answer: Answer, needs: str) -> str:
    message = answer.message.lower()
    if "archived" in message:
        return "the repository is archived; nothing can be posted there until it is no longer"
    if "suspended" in message:
        return "the App's installation is suspended; its owner can take that back in the settings of the installation"
    if "locked" in message:
        return "the conversation is locked; unlock it, or let perfd answer by its check alone"
    wanted = answer.headers.get("x-accepted-github-permissions") or needs
    return f"the App (for CI: the token) lacks the permission {wanted}; grant it and accept it where the App is installed"


def _not_found(answer: Answer, needs: str) -> str:
    if "no common ancestor" in answer.message.lower():
        return "the two share no history; rebase the pull request onto its base branch"
    return f"it was deleted or renamed, or the App is not installed there or lacks the permission {needs}"


def _invalid(answer: Answer) -> str:
    message = answer.message.lower()
    if "no commit found" in message or "sha" in message:
        return "the commit is no longer there; it was force-pushed away or its branch deleted, and a new push is answered anew"
    return "GitHub understood the request and cannot do it"
