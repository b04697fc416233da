"""The load generator of `bench.gateway`, run as a process of its own: `python -m bench._gateway_load PORT SECONDS`."""

import itertools
import json
import selectors
import socket
import statistics
import sys
import time

AGENTS = 1000
CONNECTIONS = 16
SECRET = "oca_bench"


def requests() -> list[bytes]:
    """Make the requests of one connection: each is another agent, some tools are denied."""
    made = []
    for number in range(200):
        tool = "read" if number % 2 else f"tool_{number}"
        body = json.dumps({"agent": f"agent-{number * 7 % AGENTS}", "tool": tool}).encode()
        head = (
            "POST /api/v1/decisions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {SECRET}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        made.append(head.encode() + body)
    return made


class Client:
    """One connection that asks again as soon as it is answered."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.requests = itertools.cycle(requests())
        self.received = b""
        self.sent_at = 0.0

    def ask(self) -> None:
        self.received = b""
        self.sent_at = time.perf_counter()
        self.socket.sendall(next(self.requests))

    def take(self) -> int | None:
        """Read what came; the status once the answer is complete."""
        self.received += self.socket.recv(65536)
        head, gap, body = self.received.partition(b"\r\n\r\n")
        if not gap:
            return None
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        return int(head[9:12]) if len(body) >= length else None


def load(port: int, seconds: float) -> dict[str, float]:
    """Ask through all connections for a while.

    Returns:
        `rate` requests a second, `p50` and `p99` in milliseconds, `bad` answers other than 200.
    """
    watching = selectors.DefaultSelector()
    for _ in range(CONNECTIONS):
        client = Client(port)
        watching.register(client.socket, selectors.EVENT_READ, client)
        client.ask()
    times, bad, started = [], 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        for key, _ in watching.select(timeout=1):
            status = key.data.take()
            if status is None:
                continue
            times.append(time.perf_counter() - key.data.sent_at)
            bad += status != 200
            key.data.ask()
    took = time.perf_counter() - started
    cuts = statistics.quantiles(times, n=100)
    return {"rate": len(times) / took, "p50": cuts[49] * 1000, "p99": cuts[98] * 1000, "bad": bad}


if __name__ == "__main__":
    print(json.dumps(load(int(sys.argv[1]), float(sys.argv[2]))))
