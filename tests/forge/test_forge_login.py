"""People log in through an emulated GitHub that nobody here wrote."""

import re
import threading
from html import unescape
from urllib.parse import urlsplit

import httpx
from emulated import Emulator

from perfd.config import SiteConfig
from perfd.domain.account import Role
from perfd.forge import GitHubLogin
from perfd.site import create_app, listen
from perfd.site.serve import serve_site
from perfd.store import Store


def test_bob_presses_his_button_at_github_and_is_known_here(store: Store, emulator: Emulator) -> None:
    access = SiteConfig(loopback=False, people={"github:bob": Role.ADMIN})
    app = create_app(store, access=access, github_login=GitHubLogin(emulator.url, "any-client", "any-secret"))
    over, listening = threading.Event(), listen(port=0)
    here = f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread = threading.Thread(target=serve_site, args=(app, listening, over))
    thread.start()
    try:
        with httpx.Client(timeout=30) as browser:
            page = browser.get(f"{here}/login/github?next=/audit", follow_redirects=True)
            assert "Sign in to GitHub" in page.text
            forms = [
                {name: unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)}
                for form in page.text.split("<form")[1:]
            ]
            [pressed] = [form for form in forms if form.get("login") == "bob"]
            done = browser.post(f"{emulator.url}/login/oauth/callback", data=pressed, follow_redirects=True)

            assert (200, "/audit") == (done.status_code, urlsplit(str(done.url)).path)
            assert "github:bob" in done.text
            assert "github:bob</bdi>, admin" in browser.get(f"{here}/account").text
    finally:
        over.set()
        thread.join()
