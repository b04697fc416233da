"""The part of Telegram's Bot API that a gateway needs, on loopback: messages that a test injects, replies it gave."""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.openclaw.conftest import RealGateway, Relays

OWN_NETWORK = "--own-network"
TOKEN = "123456789:AAtest-token-that-is-none-0123456789abc"
BOT = {"id": 123456789, "is_bot": True, "first_name": "Test", "username": "test_bot"}
HELD_S = 2.0  # how long a request for updates is held open


class Telegram(ThreadingHTTPServer):
    """Hands out injected messages in their order; a bot confirms one by asking for what follows it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.changed = threading.Condition()
        self.updates: list[dict[str, Any]] = []
        self.replies: list[dict[str, Any]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def say(self, chat: int, text: str, *, sender: int, username: str = "", name: str = "Somebody") -> None:
        """Have a person write into a group (a negative id) or a direct chat."""
        person = {"id": sender, "is_bot": False, "first_name": name, **({"username": username} if username else {})}
        place: dict[str, Any] = {"id": chat, "type": "supergroup" if chat < 0 else "private"}
        place |= {"title": "A group"} if chat < 0 else {"first_name": name}
        with self.changed:
            number = len(self.updates) + 1
            message = {"message_id": number, "from": person, "chat": place, "date": int(time.time()), "text": text}
            self.updates.append({"update_id": number, "message": message})
            self.changed.notify_all()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Telegram
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            params = json.loads(body or b"{}")
        except ValueError:
            params = {}
        answer = json.dumps({"ok": True, "result": self._result(self.path.rsplit("/", 1)[-1], params)}).encode()
        with contextlib.suppress(ConnectionError):  # a gateway that stops does not wait for its updates
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    def do_GET(self) -> None:
        self.do_POST()

    def _result(self, method: str, params: dict[str, Any]) -> Any:
        if method == "getMe":
            return BOT
        if method == "getUpdates":
            return self._updates(int(params.get("offset") or 0))
        if method == "sendMessage":
            self.server.replies.append(params)
            chat = {"id": params.get("chat_id"), "type": "supergroup"}
            return {"message_id": 1_000_000 + len(self.server.replies), "date": int(time.time()), "chat": chat}
        return True

    def _updates(self, offset: int) -> list[dict[str, Any]]:
        def new() -> list[dict[str, Any]]:
            return [each for each in self.server.updates if each["update_id"] >= offset]

        with self.server.changed:
            self.server.changed.wait_for(new, timeout=HELD_S)
            return new()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


def speak_over(gateway: RealGateway, telegram: Telegram, relays: Relays) -> None:
    """Have a gateway that is not started yet hear and answer over Telegram, in its own network if it has one."""
    document = json.loads(gateway.config.read_text())
    document["channels"] = {
        "telegram": {
            "enabled": True,
            "botToken": TOKEN,
            "apiRoot": f"http://{telegram.address}",
            "network": {"dangerouslyAllowPrivateNetwork": True},
            "groupPolicy": "open",
            "dmPolicy": "open",
            "allowFrom": ["*"],
            "groups": {"*": {"requireMention": False}},
        }
    }
    document["bindings"] = [{"agentId": "main", "match": {"channel": "telegram"}}]
    gateway.config.write_text(json.dumps(document))
    del gateway.environment["OPENCLAW_SKIP_CHANNELS"]
    if OWN_NETWORK in gateway.command:
        relays.carry(str(gateway.folder / "telegram.sock"), telegram.address)
        behind = gateway.command.index(OWN_NETWORK) + 1
        gateway.command[behind:behind] = ["--stream", f"{telegram.address}={gateway.folder}/telegram.sock"]
