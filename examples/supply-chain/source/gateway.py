"""The gateway before Larkspur: takes what is short enough to the server, and refuses the rest."""

from __future__ import annotations

import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVER = "http://server/v1/answers"
LONGEST = 4000


class Gateway(BaseHTTPRequestHandler):
    """One question, one answer."""

    def do_GET(self) -> None:
        """Alive, or not found."""
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()

    def do_POST(self) -> None:
        """Pass it on."""
        length = int(self.headers.get("Content-Length", 0))
        if length > LONGEST:
            self.send_error(413)
            return
        with urllib.request.urlopen(SERVER, self.rfile.read(length), timeout=60) as answer:
            data = answer.read()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    ThreadingHTTPServer(("", 8080), Gateway).serve_forever()
