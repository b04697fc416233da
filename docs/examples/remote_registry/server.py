"""A remote registry and its tool server in one file, with the standard library only.

    TOOL_REGISTRY_TOKEN=… TOOL_SIGNING_KEY=… python server.py --port 8090

It lists the tools of tools.json at /registry, runs them at /tools/<name> and takes sums of their use at /usage. Both
secrets are entered at the source of kind "Remote registry" too: the token as `auth_token`, the key as the key of
`signing` with the algorithm `hmac-sha256`. With `TOOL_PUBLIC_KEY` (64 letters of hex) signatures of `ed25519` are
checked instead; that needs the package `cryptography`.
"""

import argparse
import hashlib
import hmac
import json
import os
import threading
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BODY_LIMIT_BYTES = 1_000_000
CLOCK_LIMIT_S = 300
METRES = {"m": 1.0, "km": 1000.0, "mi": 1609.344, "ft": 0.3048}


class ToolError(Exception):
    """Something that the model should read and can mend."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def text_count(params: dict[str, Any]) -> dict[str, int]:
    text = params["text"]
    return {"characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}


def unit_convert(params: dict[str, Any]) -> dict[str, Any]:
    if params["value"] < 0:
        raise ToolError("negative_length", "`value` must not be negative: a length never is")
    return {"value": params["value"] * METRES[params["from"]] / METRES[params["to"]], "unit": params["to"]}


TOOLS = {"text_count": text_count, "unit_convert": unit_convert}


class Answers:
    """Answers by call id, so that a call that comes twice runs once."""

    def __init__(self, limit: int = 10_000) -> None:
        self._answers: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._limit = limit
        self._lock = threading.Lock()

    def of(self, call_id: str, run: Any) -> dict[str, Any]:
        with self._lock:
            if call_id not in self._answers:
                self._answers[call_id] = run()
                while len(self._answers) > self._limit:
                    self._answers.popitem(last=False)
            return self._answers[call_id]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    tools_file = Path(__file__).with_name("tools.json")
    answers = Answers()
    reports: OrderedDict[str, Any] = OrderedDict()

    def do_GET(self) -> None:
        if self.path not in {"/registry", "/usage"}:
            self.say(404, {"error": {"code": "not_found", "message": "there is nothing here"}})
        elif not self.has_token():
            self.say(401, {"error": {"code": "token_invalid", "message": "send the token of this registry"}})
        elif self.path == "/usage":
            self.say(200, {"reports": list(self.reports.values())})
        else:
            body = self.tools_file.read_bytes()
            etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
            if self.headers.get("If-None-Match") == etag:
                self.send(304, b"", etag)
            else:
                self.send(200, body, etag)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length") or ""
        if not length.isdigit() or int(length) > BODY_LIMIT_BYTES:
            self.close_connection = True
            self.say(413, {"error": {"code": "too_large", "message": f"at most {BODY_LIMIT_BYTES} bytes"}})
            return
        body = self.rfile.read(int(length))
        problem = self.signature_problem(body)
        if problem:
            self.say(401, {"error": {"code": "signature_invalid", "message": problem}})
        elif self.path == "/usage":
            report = json.loads(body)
            self.reports[report["report_id"]] = report  # the same report counts once
            self.say(200, {"reports": len(self.reports)})
        else:
            self.call(json.loads(body))

    def call(self, order: dict[str, Any]) -> None:
        tool = TOOLS.get(self.path.partition("?")[0].removeprefix("/tools/"))
        if tool is None:
            self.say(404, {"error": {"code": "tool_unknown", "message": "this server has no such tool"}})
            return

        def run() -> dict[str, Any]:
            try:
                return {"result": tool(order["params"])}
            except ToolError as exc:
                return {"error": {"code": exc.code, "message": str(exc)}}

        self.say(200, self.answers.of(order["call_id"], run))

    def has_token(self) -> bool:
        given = self.headers.get("Authorization") or ""
        return hmac.compare_digest(given.encode(), f"Bearer {os.environ['TOOL_REGISTRY_TOKEN']}".encode())

    def signature_problem(self, body: bytes) -> str:
        """Say what is wrong with the signature of a request; empty when it is in order."""
        algorithm, _, signature = (self.headers.get("OpenClaw-Signature") or "").partition("=")
        stamp = self.headers.get("OpenClaw-Timestamp") or ""
        if not stamp.isdigit() or abs(time.time() - int(stamp)) > CLOCK_LIMIT_S:
            return "the request is too old, or the clocks differ"
        lines = [
            "openclaw-tool-request-v1",
            algorithm,
            self.headers.get("OpenClaw-Key-Id") or "",
            self.command,
            self.headers.get("Host") or "",
            self.path,
            stamp,
            self.headers.get("OpenClaw-Call-Id") or "",
            hashlib.sha256(body).hexdigest(),
        ]
        fits = is_signed_by_public_key if "TOOL_PUBLIC_KEY" in os.environ else is_signed_by_shared_key
        return "" if fits(algorithm, signature, "\n".join(lines).encode()) else "the signature does not fit"

    def say(self, status: int, document: dict[str, Any]) -> None:
        self.send(status, json.dumps(document).encode())

    def send(self, status: int, body: bytes, etag: str = "") -> None:
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Type", "application/json")
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: the path of a request may hold what its caller wants kept."""


def is_signed_by_shared_key(algorithm: str, signature: str, text: bytes) -> bool:
    wanted = hmac.digest(os.environ["TOOL_SIGNING_KEY"].encode(), text, "sha256").hex()
    return algorithm == "hmac-sha256" and hmac.compare_digest(signature.encode(), wanted.encode())


def is_signed_by_public_key(algorithm: str, signature: str, text: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(os.environ["TOOL_PUBLIC_KEY"]))
    try:
        key.verify(bytes.fromhex(signature), text)
    except (InvalidSignature, ValueError):
        return False
    return algorithm == "ed25519"


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--port", type=int, default=8090, help="0 takes a free one")
    reader.add_argument("--tools", type=Path, default=Handler.tools_file, help="the file to list")
    chosen = reader.parse_args()
    Handler.tools_file = chosen.tools
    with ThreadingHTTPServer(("127.0.0.1", chosen.port), Handler) as server:
        print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
