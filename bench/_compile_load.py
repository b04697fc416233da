"""Asks the agents' door for decisions without a pause, over one connection: `python -m bench._compile_load URL SECRET`.

Ends when its standard input closes, then prints as JSON when each request was sent, how long it waited, and the
snapshot that answered.
"""

import json
import select
import socket
import sys
import time
from typing import Any
from urllib.parse import urlsplit

PAUSE_S, LONGEST_S = 0.004, 180.0


def ask(url: str, secret: str) -> list[tuple[float, float, str]]:
    """Ask until told to stop: seconds of the shared clock, seconds waited, digest."""
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 80))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(30)
    answers, began = [], time.monotonic()
    for number in range(100_000):
        sent = time.monotonic()
        connection.sendall(request(parts.netloc, secret, number))
        answer = receive(connection)
        answers.append((sent, time.monotonic() - sent, answer["snapshot"]))
        if sent - began > LONGEST_S or select.select([sys.stdin], [], [], PAUSE_S)[0]:
            break
    return answers


def request(host: str, secret: str, number: int) -> bytes:
    body = json.dumps({"agent": f"agent-{number * 7 % 1000}", "tool": "read" if number % 2 else "exec"}).encode()
    head = (
        f"POST /api/v1/decisions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {secret}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def receive(connection: socket.socket) -> dict[str, Any]:
    received = b""
    while True:
        part = connection.recv(65536)
        if not part:
            raise RuntimeError("the server closed the connection")
        received += part
        head, gap, body = received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]) if gap else -1
        if gap and len(body) >= length:
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(received.decode())
            answer: dict[str, Any] = json.loads(body)
            return answer


if __name__ == "__main__":
    print(json.dumps(ask(sys.argv[1], sys.argv[2])))
