"""A model provider on loopback, and the loop of an agent around it: no intelligence, but nothing left out either.

It is sent what an agent's program would send, keeps the bytes, and answers in OpenAI's chat form with what a model
would do that sees these tools and wants one of them.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

STEPS = 8
CODE = """
const hits = await openclaw.tools.search({query}, {{limit: 5}});
const tool = hits.find((each) => each.name === {name});
const made = await openclaw.tools.call(tool.id, {arguments});
return made.result;
"""


class Provider(ThreadingHTTPServer):
    """Answers as a model that wants one tool, known by what it is for and by its name.

    Args:
        wanted: the name of the tool.
        query: what such a tool is for, in the words of whoever looks for it.
        arguments: what the tool is to be called with.
    """

    def __init__(self, wanted: str, query: str, arguments: Mapping[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.wanted, self.query, self.arguments = wanted, query, dict(arguments)
        self.payloads: list[bytes] = []
        self.said = ""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def forget(self) -> None:
        """Begin again: the ids of replies are then used once more, as some providers do."""
        self.payloads.clear()
        self.said = ""

    def tools(self, number: int = 0) -> list[str]:
        """Name the tools of one request."""
        return [each["function"]["name"] for each in json.loads(self.payloads[number]).get("tools", [])]

    def answered(self) -> dict[str, Any]:
        """Give the result that the model says it has at the end."""
        said: dict[str, Any] = json.loads(self.said)
        return said

    def move(self, request: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | str:
        """Decide what to do next: a call of a tool that the request tells of, or the last words."""
        messages = request["messages"]
        results: list[str] = [each["content"] for each in messages if each["role"] == "tool"]
        tools = {each["function"]["name"] for each in request.get("tools", [])}
        listed = f"\n- {self.wanted}:" in messages[0]["content"]
        if self.wanted in tools or listed:
            return results[-1] if results else (self.wanted, self.arguments)
        if "tool_search_code" in tools:
            code = {"code": self._code()}
            return json.dumps(json.loads(results[-1])["value"]) if results else ("tool_search_code", code)
        if "tool_search" not in tools:
            return "no such tool"
        if not results:
            return "tool_search", {"query": self.query, "limit": 5}
        if len(results) == 1:
            found = json.loads(results[0])["candidates"]
            ids = [each["id"] for each in found if each["name"] == self.wanted]
            return ("tool_call", {"id": ids[0], "args": self.arguments}) if ids else "not found"
        return results[-1]

    def _code(self) -> str:
        words = {"query": self.query, "name": self.wanted, "arguments": self.arguments}
        return CODE.format(**{each: json.dumps(value) for each, value in words.items()})


class _Handler(BaseHTTPRequestHandler):
    server: Provider
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        payload = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.payloads.append(payload)
        move = self.server.move(json.loads(payload))
        number = len(self.server.payloads)
        message: dict[str, Any] = {"role": "assistant", "content": move if isinstance(move, str) else None}
        if isinstance(move, str):
            self.server.said = move
        else:
            function = {"name": move[0], "arguments": json.dumps(move[1])}
            message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
        why = "stop" if isinstance(move, str) else "tool_calls"
        choices = [{"index": 0, "finish_reason": why, "message": message}]
        body = json.dumps({"id": f"chatcmpl-{number}", "object": "chat.completion", "choices": choices}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


def loop(gateway: httpx.Client, provider: Provider, run: Mapping[str, Any], task: str) -> Sequence[Mapping[str, Any]]:
    """Be the agent's program: what the run offers goes to the model, what the model asks for goes to the run.

    Returns:
        The messages of the conversation.
    """
    system = f"You are an agent.\n{run['directory']}" if run["directory"] else "You are an agent."
    messages: list[Any] = [{"role": "system", "content": system}, {"role": "user", "content": task}]
    with httpx.Client(base_url=provider.url, timeout=60) as model:
        for _ in range(STEPS):
            asked = {"model": "fake-1", "messages": messages, **run["request"]}
            reply = model.post("/v1/chat/completions", json=asked).json()
            message = reply["choices"][0]["message"]
            messages.append(message)
            if "tool_calls" not in message:
                return messages
            turned = gateway.post(f"/api/v1/runs/{run['id']}/turns", json={"response": reply})
            assert turned.status_code == 200, turned.text
            messages += turned.json()["messages"]
    raise AssertionError("the model never came to an end")
