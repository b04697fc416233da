"""`GET /api/v1/tools` over a socket: 500 permitted tools in each provider's form, made afresh and from memory."""

import http.client
import json
import time
from collections.abc import Iterable

from apps.firewall.tools.providers import PROVIDERS
from bench._gateway_load import SECRET
from bench.figures import Figure, percentile, shown
from bench.gateway import served

ROUNDS = 100
GOAL_S = 0.030
TOOLS = 500


def asked(connection: http.client.HTTPConnection, form: str) -> tuple[float, bytes]:
    """Ask once; give the seconds until the whole answer was there, and the answer."""
    path = f"/api/v1/tools?agent=agent-0&provider=acme&form={form}"
    started = time.perf_counter()
    connection.request("GET", path, headers={"Authorization": f"Bearer {SECRET}"})
    answer = connection.getresponse()
    content = answer.read()
    taken = time.perf_counter() - started
    if answer.status != 200:
        raise RuntimeError(f"the door answered {answer.status}: {content[:200]!r}")
    return taken, content


def counted(content: bytes, form: str) -> int:
    tools = json.loads(content)["request"]["tools"]
    return len(tools[0]["functionDeclarations"] if form == "gemini" else tools)


def measure() -> Iterable[Figure]:
    """Ask for the tools of one agent in each form."""
    with served("door", module="bench._tools_app") as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for form in PROVIDERS:
            afresh, content = asked(connection, form)
            if counted(content, form) < TOOLS:
                raise RuntimeError(f"there are only {counted(content, form)} tools")
            times = [asked(connection, form)[0] for _ in range(ROUNDS)]
            middle, high = percentile(times, 0.5), percentile(times, 0.99)
            size = f"{len(content) / 1024:.0f} KiB, afresh {shown(afresh)}"
            yield Figure(
                f"`GET /tools`, {TOOLS} permitted tools for {form}, from memory",
                f"p50 {shown(middle)}, p99 {shown(high)} ({size})",
                f"≤ {shown(GOAL_S)}",
                high <= GOAL_S,
            )
        connection.close()
