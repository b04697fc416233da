"""A model for demonstrations and tests: no intelligence, three providers' endpoints, one script.

To any question it asks for two tools, `write` and `read` of the same note, and then answers with what it was told.
It serves on loopback only.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from apps.firewall.identifiers import new_id

NOTE: Final = "notes/from-a-model.md"
CALLS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("write", {"path": NOTE, "content": "# From a model\n\nTwo tools, one turn.\n"}),
    ("read", {"path": NOTE}),
)
BODY_LIMIT_BYTES: Final = 8 * 1024 * 1024
Reply = dict[str, Any]


def _answer(told: Sequence[str]) -> str:
    return f"I was told {len(told)} results. The last one: {told[-1]}"


class _Chat:
    path = "/v1/chat/completions"

    @staticmethod
    def told(body: Mapping[str, Any]) -> list[str]:
        return [message["content"] for message in body["messages"] if message["role"] == "tool"]

    @staticmethod
    def reply(name: str, told: Sequence[str]) -> Reply:
        message: Reply = {"role": "assistant", "content": _answer(told) if told else None}
        if not told:
            message["tool_calls"] = [
                {
                    "id": f"{name}_{place}",
                    "type": "function",
                    "function": {"name": tool, "arguments": json.dumps(params)},
                }
                for place, (tool, params) in enumerate(CALLS)
            ]
        reason = "stop" if told else "tool_calls"
        return {"id": f"chatcmpl-{name}", "choices": [{"index": 0, "finish_reason": reason, "message": message}]}


class _Anthropic:
    path = "/v1/messages"

    @staticmethod
    def told(body: Mapping[str, Any]) -> list[str]:
        blocks = [block for each in body["messages"] if isinstance(each["content"], list) for block in each["content"]]
        results = [block["content"] for block in blocks if block["type"] == "tool_result"]
        return ["".join(part["text"] for part in parts) for parts in results]

    @staticmethod
    def reply(name: str, told: Sequence[str]) -> Reply:
        content: list[Reply] = [{"type": "text", "text": _answer(told)}] if told else []
        if not told:
            content = [
                {"type": "tool_use", "id": f"{name}_{place}", "name": tool, "input": params}
                for place, (tool, params) in enumerate(CALLS)
            ]
        reason = "end_turn" if told else "tool_use"
        return {"id": f"msg_{name}", "type": "message", "role": "assistant", "stop_reason": reason, "content": content}


class _Gemini:
    path = ":generateContent"

    @staticmethod
    def told(body: Mapping[str, Any]) -> list[str]:
        parts = [part for content in body["contents"] for part in content["parts"]]
        results = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        return ["".join(map(str, result.values())) for result in results]

    @staticmethod
    def reply(name: str, told: Sequence[str]) -> Reply:
        parts: list[Reply] = [{"text": _answer(told)}] if told else []
        if not told:
            parts = [
                {"functionCall": {"id": f"{name}_{place}", "name": tool, "args": params}}
                for place, (tool, params) in enumerate(CALLS)
            ]
        candidate = {"finishReason": "STOP", "content": {"role": "model", "parts": parts}}
        return {"responseId": name, "candidates": [candidate]}


ENDPOINTS: Final = (_Chat, _Anthropic, _Gemini)


class _Handler(BaseHTTPRequestHandler):
    """Answers one request; what it was asked is kept for whoever looks."""

    heard: list[dict[str, Any]]

    def do_POST(self) -> None:
        endpoint = next((each for each in ENDPOINTS if self.path.endswith(each.path)), None)
        length = int(self.headers.get("Content-Length", 0))
        if endpoint is None or length > BODY_LIMIT_BYTES:
            self.send_error(404)
            return
        body = json.loads(self.rfile.read(length))
        self.heard.append(body)
        content = json.dumps(endpoint.reply(new_id().hex, endpoint.told(body))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Write nothing."""


@contextmanager
def model_served(heard: list[dict[str, Any]] | None = None) -> Iterator[str]:
    """Serve the model while the block lasts; gives its address.

    Args:
        heard: collects the requests.
    """
    handler: Callable[..., Any] = type("Handler", (_Handler,), {"heard": [] if heard is None else heard})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, name="demo model", daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(timeout=5)
