"""E-mail over SMTP, in plain text; the report of a week has its figures beside it."""

import smtplib
import ssl
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from hashlib import sha256

from perfd.config import Notify
from perfd.domain.notice import Letter, Notice, NotSentError
from perfd.notify.words import harmless

TIMEOUT_S = 20.0
LONGEST_TITLE = 200
LONGEST_TEXT = 4000


def send_email(notice: Notice, notify: Notify, now: datetime) -> None:
    """The server has taken the notice for everybody; raises NotSentError."""
    _send(letter(notice, notify, now), notify)


def send_letter(given: Letter, notify: Notify, now: datetime) -> None:
    """The server has taken the letter with its figures for everybody; raises NotSentError."""
    made = _envelope(given.key, f"perfd: {given.title}", notify, now)
    made.set_content(given.text)
    for one in given.figures:
        made.add_attachment(one.png, maintype="image", subtype="png", filename=one.name)
    _send(made, notify)


def letter(notice: Notice, notify: Notify, now: datetime) -> EmailMessage:
    """The message about a notice."""
    made = _envelope(notice.key, f"perfd, {notice.severity}: {notice.title}", notify, now)
    lines = [harmless(notice.title, LONGEST_TEXT), harmless(notice.text, LONGEST_TEXT), notice.url]
    made.set_content("\n\n".join(filter(None, lines)) + "\n")
    return made


def _envelope(key: str, subject: str, notify: Notify, now: datetime) -> EmailMessage:
    """A message without a body; sent twice, it has the same Message-ID, so that mail programs show it once."""
    made = EmailMessage()
    made["Subject"] = harmless(subject, LONGEST_TITLE)
    made["From"] = notify.email_from
    made["To"] = ", ".join(notify.email_to)
    made["Date"] = format_datetime(now)
    made["Message-ID"] = f"<{sha256(key.encode()).hexdigest()[:32]}@perfd>"
    made["Auto-Submitted"] = "auto-generated"
    return made


def _send(message: EmailMessage, notify: Notify) -> None:
    server = f"the mail server {notify.smtp_host}:{notify.smtp_port}"
    try:
        with _connected(notify) as smtp:
            if notify.smtp_user and notify.smtp_password:
                smtp.login(notify.smtp_user, notify.smtp_password)
            smtp.send_message(message, notify.email_from, list(notify.email_to))
    except smtplib.SMTPRecipientsRefused as error:
        codes = sorted({code for code, _ in error.recipients.values()})
        raise NotSentError(f"{server} takes no mail for these receivers ({codes})", permanent=min(codes) >= 500) from None
    except smtplib.SMTPNotSupportedError:
        raise NotSentError(f"{server} lacks what notify.smtp_security or PERFD_SMTP_USER asks for (STARTTLS, AUTH)") from None
    except smtplib.SMTPAuthenticationError:
        raise NotSentError(f"{server} refuses PERFD_SMTP_USER with this password") from None
    except smtplib.SMTPDataError as error:
        raise NotSentError(f"{server} refuses the message ({error.smtp_code})", permanent=error.smtp_code >= 500) from None
    except ssl.SSLError as error:
        raise NotSentError(f"{server} has no certificate that this machine trusts ({error.reason})") from None
    except (smtplib.SMTPException, OSError) as error:
        raise NotSentError(f"{server} does not answer ({type(error).__name__})") from None


def _connected(notify: Notify) -> smtplib.SMTP:
    """A connection that is encrypted as the configuration asks: a server without STARTTLS is given no message in the clear."""
    if notify.smtp_security == "tls":
        return smtplib.SMTP_SSL(notify.smtp_host, notify.smtp_port, timeout=TIMEOUT_S, context=ssl.create_default_context())
    smtp = smtplib.SMTP(notify.smtp_host, notify.smtp_port, timeout=TIMEOUT_S)
    if notify.smtp_security == "starttls":
        try:
            smtp.starttls(context=ssl.create_default_context())
        except BaseException:
            smtp.close()
            raise
    return smtp
