"""Larkspur: answers questions about the manual of a product, from a model that lies beside it.

The example needs something to put into its images. This serves, but knows one answer only.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answers(BaseHTTPRequestHandler):
    """``GET /health`` for probes, ``POST /v1/answers`` for people."""

    def do_GET(self) -> None:
        """Alive, or not found."""
        self._reply(200 if self.path == "/health" else 404, {})

    def do_POST(self) -> None:
        """An answer, and that a machine gave it."""
        self._reply(200, {"answer": "See chapter 4.", "made_by": "manual-1b, a language model"})

    def _reply(self, status: int, content: dict[str, str]) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    ThreadingHTTPServer(("", 8000), Answers).serve_forever()
