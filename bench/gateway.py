"""`POST /api/v1/decisions` through the agents' door against a DRF view on Django's ASGI handler."""

import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from bench._gateway_load import CONNECTIONS
from bench.figures import Figure

ROUNDS = 3
SECONDS = 3.0
GOAL_RATIO, GOAL_P99_MS = 15, 5.0


@contextmanager
def served(name: str, *, module: str = "bench._gateway_apps") -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", f"{module}:{name}", "--port", str(port)]
    process = subprocess.Popen([*command, "--lifespan", "off", "--log-level", "error", "--no-access-log"])
    try:
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError as exc:
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"the server `{name}` did not start") from exc
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=10)


def loaded(port: int, seconds: float) -> dict[str, float]:
    """Load a server from a process of its own."""
    command = [sys.executable, "-m", "bench._gateway_load", str(port), str(seconds)]
    output = subprocess.run(command, check=True, capture_output=True, timeout=seconds + 30).stdout
    measured: dict[str, float] = json.loads(output)
    return measured


def measure() -> Iterable[Figure]:
    """Load both servers in turn, several times, and give medians."""
    runs: dict[str, list[dict[str, float]]] = {"door": [], "django_view": []}
    with served("door") as door, served("django_view") as django_view:
        ports = {"door": door, "django_view": django_view}
        for port in ports.values():
            loaded(port, 0.5)  # warm
        for _ in range(ROUNDS):
            for name, port in ports.items():
                runs[name].append(loaded(port, SECONDS))
    middle = {
        name: {part: statistics.median(run[part] for run in found) for part in ("rate", "p50", "p99")}
        for name, found in runs.items()
    }
    bad = int(sum(run["bad"] for found in runs.values() for run in found))
    ratio = middle["door"]["rate"] / middle["django_view"]["rate"]
    for name, what in (("door", "agents' door"), ("django_view", "DRF view on Django's ASGI handler")):
        value = "{rate:,.0f}/s, p50 {p50:.2f} ms, p99 {p99:.2f} ms".format(**middle[name])
        yield Figure(f"`POST /decisions`, {CONNECTIONS} connections, {what}", value)
    yield Figure("the same, how much faster the door is", f"{ratio:.1f}x", f"≥ {GOAL_RATIO}x", ratio >= GOAL_RATIO)
    p99 = middle["door"]["p99"]
    yield Figure("the same, p99 of the door", f"{p99:.2f} ms", f"≤ {GOAL_P99_MS:.0f} ms", p99 <= GOAL_P99_MS)
    yield Figure("the same, answers that were no success", str(bad), "0", bad == 0)
