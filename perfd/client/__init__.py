"""A thin client of a perfd elsewhere: `with Client("https://perfd.example") as perfd: perfd.series(metric="ttft_s")`."""

from perfd.client.client import Client
from perfd.client.words import Page, Points, Sent, Series

__all__ = ["Client", "Page", "Points", "Sent", "Series"]
