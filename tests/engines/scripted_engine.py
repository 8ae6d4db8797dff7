"""A server that answers from a script: what it knows is right, so a harness that scores it must find exactly that.

SCRIPT names a JSON file: {"answers": [{"has": text in the question, "says": answer}], "otherwise": answer, "finds_before": 0.5}.
Of hidden numbers it finds those that stand before the share `finds_before` of the prompt. Tokens are words.
"""

import argparse
import json
import os
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

ASKED = re.compile(r"What is the number of the (\w+ \w+)\?")


class Handler(BaseHTTPRequestHandler):
    """One question a connection."""

    script: ClassVar[dict[str, Any]] = {}

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Nothing."""

    def do_GET(self) -> None:
        """Readiness and the model's name."""
        self.send({"status": "ok", "data": [{"id": "scripted"}]})

    def do_POST(self) -> None:
        """Answers, and tokens."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            self.send({"tokens": [0] * len(re.findall(r"\w+|[^\w\s]", body["content"]))})
            return
        chat = self.path == "/v1/chat/completions"
        prompt = "\n".join(one["content"] for one in body["messages"]) if chat else body["prompt"]
        said = self.says(prompt)
        if said is None:
            self.send({"error": "the script has no answer"}, 400)
            return
        self.send({"choices": [{"message": {"role": "assistant", "content": said}} if chat else {"text": said}]})

    def says(self, prompt: str) -> str | None:
        """The script's answer; None where it has none."""
        asked = ASKED.search(prompt)
        if asked and "finds_before" in self.script:
            found = re.search(rf"The number of the {asked.group(1)} is (\d+)", prompt)
            assert found is not None
            return f"It is {found.group(1)}." if found.start() < self.script["finds_before"] * len(prompt) else "I do not know."
        known = (one["says"] for one in self.script.get("answers", ()) if one["has"] in prompt[-2000:])
        return next(known, self.script.get("otherwise"))

    def send(self, document: dict[str, Any], status: int = 200) -> None:
        """A whole JSON answer."""
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    Handler.script = json.loads(Path(os.environ["SCRIPT"]).read_text(encoding="utf-8"))
    ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
