"""A model provider on loopback: no intelligence. A message that holds `CALL {json}` becomes that tool call, once."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CALL = "CALL "
CONTEXT = "<<<BEGIN_OPENCLAW"  # what the gateway adds after a person's message


class Model(ThreadingHTTPServer):
    """Counts its calls; `results` are the texts that tools answered."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls = 0
        self.results: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        messages = json.loads(self.rfile.read(int(self.headers["Content-Length"]))).get("messages", [])
        asked = max((place for place, each in enumerate(messages) if _wanted(each)), default=-1)
        results = [_text(each) for each in messages[asked + 1 :] if each.get("role") == "tool"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        if asked >= 0 and not results:
            self.server.calls += 1
            self._tell(_call(_wanted(messages[asked]), self.server.calls), "tool_calls")
        else:
            self.server.results += results
            self._tell({"role": "assistant", "content": "done"}, "stop")

    def _tell(self, delta: dict[str, Any], why: str) -> None:
        for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": why}):
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "fake-1"}
            self.wfile.write(f"data: {json.dumps({**chunk, 'choices': [{'index': 0, **choice}]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


def _call(wanted: dict[str, Any], number: int) -> dict[str, Any]:
    function = {"name": wanted["name"], "arguments": json.dumps(wanted["args"])}
    return {
        "role": "assistant",
        "tool_calls": [{"index": 0, "id": f"call_{number:08d}", "type": "function", "function": function}],
    }


def _wanted(message: dict[str, Any]) -> dict[str, Any]:
    text = _text(message)
    if message.get("role") != "user" or text.startswith(CONTEXT) or CALL not in text:
        return {}
    wanted: dict[str, Any] = json.JSONDecoder().raw_decode(text[text.index(CALL) + len(CALL) :])[0]
    return wanted


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [] if isinstance(part, dict))
