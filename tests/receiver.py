"""A program on loopback that is told of things: what came is kept, what it answers is a test's choice."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

OK = 201


class Receiver:
    """Keeps what came, and answers with the statuses that it is given, then with 201; its redirect leads nowhere."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.heard.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else OK)
                self.send_header("location", "http://127.0.0.1:1/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/ended?key=hidden"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
