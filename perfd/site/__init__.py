"""The web site: pages and JSON over the store. It reads, shows and explains; it decides and measures nothing."""

from perfd.site.app import create_app
from perfd.site.serve import listen, serve_site

__all__ = ["create_app", "listen", "serve_site"]
