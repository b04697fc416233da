"""From a call that asks to the event in a thousand operators' sockets, beside a group message for each consumer.

Both sockets are served by the same process, one after the other, each to the same thousand operators with a session of
their own. The clock starts when the agent's program sends its call.
"""

import json
import time
from collections.abc import Iterable, Sequence

import httpx

from bench._installation import Installation, installation
from bench._sockets import Sockets
from bench.figures import Figure, percentile, shown

OPERATORS, ROUNDS, GROUPED_ROUNDS, WARM = 1000, 30, 10, 3
LIMIT_S, FACTOR = 0.100, 4.0
GROUPED = "/ws/grouped/"  # bench._grouped_serve
COMMAND = {"agent": "main", "tool": "exec", "wait_ms": 0}


def measure() -> Iterable[Figure]:
    """Ask while a thousand operators listen, by our way and by the other."""
    with installation() as place, place.serve("--demo", program=("-m", "bench._grouped_serve")):
        place.run("-m", "bench._no_storms")
        secret = place.token("calls_make", "approvals_read", "approvals_resolve")
        place.run("-m", "bench._no_storms")
        cookies = json.loads(place.run("-m", "bench._operators", str(OPERATORS)).splitlines()[-1])
        ours = _rounds(place, secret, "/ws/console/", cookies, rounds=ROUNDS)
        grouped = _rounds(place, secret, GROUPED, cookies, rounds=GROUPED_ROUNDS)
    p99 = percentile(ours, 0.99)
    yield Figure(
        what=f"approval asked to event in {OPERATORS:,} operators' sockets, {ROUNDS} rounds",
        value=f"p50 {shown(percentile(ours, 0.5))}, p99 {shown(p99)}",
        goal="p99 ≤ 100 ms",
        holds=p99 <= LIMIT_S,
    )
    factor = percentile(grouped, 0.5) / percentile(ours, 0.5)
    value = f"{factor:.1f}x (grouped p50 {shown(percentile(grouped, 0.5))}, p99 {shown(percentile(grouped, 0.99))})"
    what = "the same over one group message per consumer of Channels (medians)"
    yield Figure(what, value, "≥ 4x", factor >= FACTOR)


def _rounds(place: Installation, secret: str, path: str, cookies: Sequence[str], *, rounds: int) -> list[float]:
    """Ask so many times; for each time and socket the seconds until its event."""
    times: list[float] = []
    headers = {"Authorization": f"Bearer {secret}"}
    with (
        Sockets(place.url, path, cookies) as sockets,
        httpx.Client(base_url=place.url, headers=headers, timeout=60) as agent,
    ):
        time.sleep(2)  # a thousand arrivals are told, too
        for number in range(WARM + rounds):
            sockets.forget()
            asked = time.perf_counter()
            answer = agent.post("/api/v1/calls", json=COMMAND | {"params": {"command": f"touch fan-{path}-{number}"}})
            if answer.status_code != 202:
                raise RuntimeError(f"the call did not ask: {answer.status_code} {answer.text}")
            heard = sockets.heard("approval.requested")
            if number >= WARM:
                times += [at - asked for at in heard]
            approval = agent.get("/api/v1/approvals").raise_for_status().json()[0]["id"]
            agent.post(f"/api/v1/approvals/{approval}/resolve", json={"decision": "deny"}).raise_for_status()
            sockets.heard("approval.resolved")
    return times
