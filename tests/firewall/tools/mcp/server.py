"""A small MCP server over its streams, standard library only, that misbehaves as its first argument says.

Runs as `python -I -S server.py MODE [FILE]`; FILE is a JSON list of tools to offer.
"""

import json
import os
import socket
import sys
import time
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else "normal"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS: list[Any] = [
    {"name": "echo", "title": "Echo", "description": "Says the same again.", "inputSchema": SCHEMA},
    {"name": "Give.Image", "description": "Gives an image.", "inputSchema": {"type": "object"}},
]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ANSWERS: dict[str, dict[str, Any]] = {
    "give_image": {"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]},
    "give_rotten_image": {"content": [{"type": "image", "data": "%%%", "mimeType": "image/png"}]},
    "give_svg": {"content": [{"type": "image", "data": "PHN2Zy8+", "mimeType": "image/svg+xml"}]},
    "give_sound": {"content": [{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}]},
    "give_resources": {
        "content": [
            {"type": "resource", "resource": {"uri": "note://1", "text": "a note"}},
            {"type": "resource", "resource": {"uri": "file://2", "blob": "AAAA", "mimeType": "application/zip"}},
            {"type": "resource", "resource": {"uri": "pic://3", "blob": PNG, "mimeType": "image/png"}},
            {"type": "resource_link", "uri": "note://4", "name": "Four"},
        ]
    },
    "count": {"content": [{"type": "text", "text": "7"}], "structuredContent": {"count": 7}},
    "miscount": {"content": [{"type": "text", "text": "x"}], "structuredContent": {"count": "seven"}},
    "count_far": {"content": [], "structuredContent": {"count": 10**30}},
    "count_deep": {"content": [], "structuredContent": {"count": json.loads("[" * 100 + "]" * 100)}},
    "count_nothing": {"content": [], "structuredContent": {"count": float("nan")}},
    "fail": {"content": [{"type": "text", "text": "no such city"}], "isError": True},
    "misanswer": {"contents": []},
    "many": {"content": [{"type": "text", "text": str(number)} for number in range(500)]},
}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tools() -> list[Any]:
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            offered: list[Any] = json.load(file)
            return offered
    return TOOLS


def listing(params: dict[str, Any]) -> dict[str, Any]:
    if MODE == "pages":
        at = int(params.get("cursor", "0"))
        more = {"nextCursor": str(at + 1)} if at < 2 else {}
        return {"tools": [{"name": f"tool_{at}", "inputSchema": {"type": "object"}}], **more}
    if MODE == "endless_pages":
        at = int(params.get("cursor", "0"))
        return {"tools": [], "nextCursor": str(at + 1)}
    return {"tools": tools()}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name == "echo":
        return {"content": [{"type": "text", "text": str(arguments.get("text"))}]}
    if name == "whoami":
        return {"content": [{"type": "text", "text": f"{os.getpid()} {os.getcwd()} {sorted(os.environ)}"}]}
    if name == "socket":
        try:
            socket.socket().close()
        except OSError as exc:
            return {"content": [{"type": "text", "text": type(exc).__name__}]}
        return {"content": [{"type": "text", "text": "made"}]}
    if name == "read":
        try:
            with open(arguments["path"], encoding="utf-8") as file:
                return {"content": [{"type": "text", "text": file.read()}]}
        except OSError as exc:
            return {"content": [{"type": "text", "text": type(exc).__name__}], "isError": True}
    return ANSWERS[name]


def misbehave(identifier: Any, name: str) -> bool:
    """Do what a tool of this name does instead of answering; False when it answers."""
    if name == "die":
        sys.stderr.write("out of luck\n")
        os._exit(7)
    if name == "hang":
        time.sleep(60)
    if name == "flood":
        while True:
            send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 100}})
    if name == "endless_line":
        while True:
            sys.stdout.write("x" * 65536)
    if name == "rubbish":
        sys.stdout.write('{"jsonrpc": "2.0", "id": \n')
        sys.stdout.flush()
        return True
    if name == "chatter":
        for _ in range(100):
            sys.stdout.write("calculating …\n")
        sys.stdout.flush()
        return True
    if name == "refuse":
        send({"id": identifier, "error": {"code": -32602, "message": "unknown tool"}})
        return True
    if name == "ask":
        send({"id": "mine", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
        json.loads(sys.stdin.readline())
    return False


def main() -> None:
    if MODE == "dies_at_start":
        sys.exit("no licence")
    if MODE == "hangs_at_start":
        time.sleep(60)
    if MODE == "greets":
        sys.stdout.write("Server is ready!\n")
    for line in sys.stdin:
        message = json.loads(line)
        method, identifier = message.get("method"), message.get("id")
        params = message.get("params", {})
        if method == "initialize":
            version = "1999-01-01" if MODE == "old" else "2025-06-18"
            result = {"protocolVersion": version, "capabilities": {"tools": {}}}
            result["serverInfo"] = {"name": "tester", "version": "1.2"}
            result["instructions"] = "Be kind."
            send({"id": identifier, "result": {"protocolVersion": 3} if MODE == "misgreets" else result})
        elif method == "tools/list":
            send({"id": identifier, "result": listing(params)})
        elif method == "tools/call" and params["name"] == "steps":
            token = params["_meta"]["progressToken"]
            for step in range(1, 4):
                news = {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
                send({"method": "notifications/progress", "params": news})
            send({"id": identifier, "result": ANSWERS["count"]})
        elif method == "tools/call" and not misbehave(identifier, params["name"]):
            if params["name"] == "ask":
                send({"id": identifier, "result": ANSWERS["count"]})
            else:
                send({"id": identifier, "result": call(params["name"], params.get("arguments", {}))})


if __name__ == "__main__":
    main()
