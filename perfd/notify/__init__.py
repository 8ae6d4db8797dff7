"""Carrying a notice outside: a webhook that takes Slack's JSON, and e-mail over SMTP. Secrets stay out of every sentence."""

from perfd.notify.mail import send_email, send_letter
from perfd.notify.webhook import send_webhook

__all__ = ["send_email", "send_letter", "send_webhook"]
