"""Rows of the ledger as a year of an installation leaves them: valid, chained, committed, as many as are wanted.

`python -m bench._audit_rows 200000` fills the database of DATABASE_URL; tests call `build`. Every chain is made from
the seed and its own number alone, so that two processes make the same rows as one, and the same rows each time.
"""

import multiprocessing
import os
import random
import sys
import time
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain
from math import pi, sin
from typing import Any
from uuid import UUID

import orjson
import psycopg

from apps.audit.chain import (
    FORMAT,
    LINK_COLUMNS,
    SALT_BYTES,
    body_columns,
    body_digest,
    content_columns,
    content_commitment,
    entry_hash,
    genesis,
)

ROWS_A_COPY = 5_000
DAY = timedelta(days=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_MONTHS = 24
"""As far back as the database makes partitions."""
BODY, CONTENT = body_columns(), content_columns()
ENTRY_COLUMNS = (*BODY, *LINK_COLUMNS)
CONTENT_ROW = ("at", "entry_id", "call_id", "salt", *CONTENT)
EMPTY: dict[str, Any] = dict.fromkeys(BODY, "") | dict.fromkeys(CONTENT) | {
    "format": FORMAT, "call_id": None, "approval_id": None, "duration_ms": None, "phases": None,
    "content_commitment": None, "decision_reason": "",
}  # fmt: skip

COPY_ENTRIES = f"COPY audit_entry ({', '.join(ENTRY_COLUMNS)}) FROM STDIN"
COPY_CONTENT = f"COPY audit_content ({', '.join(CONTENT_ROW)}) FROM STDIN"
MAKE_PARTITIONS = """
SELECT audit_partition_ensure(parent, month::date)
FROM unnest(ARRAY['audit_entry', 'audit_content', 'audit_words']) AS parent,
     generate_series(date_trunc('month', %s::date), date_trunc('month', %s::date), interval '1 month') AS month
"""
OPEN_BOOT = """
INSERT INTO audit_boot (id, host, pid, version, started_at, lease_until, ended_at, swept_at, seq, head)
VALUES (%s, 'bench', %s, 'bench', %s, %s, %s, %s, %s, %s)
"""

TOOLS = (
    "exec", "read", "write", "edit", "web_fetch", "web_search", "message", "memory_search", "sessions_list", "cron",
    "browser", "db_query", "image", "git_status", "git_diff", "ticket_create", "ticket_find", "deploy", "metrics_read",
    "calendar_list", "mail_send", "mail_read", "crm_find", "invoice_read", "translate", "summarize", "pdf_read", "tts",
)  # fmt: skip
CHANNELS = ("telegram", "slack", "discord", "whatsapp", "signal", "webchat")
STARTS = ("ba", "de", "fi", "ko", "lu", "mi", "no", "pra", "ri", "sto", "ta", "ver", "wo", "ze")
ENDS = ("bel", "dan", "fer", "gil", "kon", "lim", "mor", "nis", "pel", "ras", "sum", "tor")
COMMON = (
    "error", "timeout", "deploy", "build", "status", "customer", "invoice", "report", "branch", "release", "backup",
    "server", "database", "network", "retry", "failed", "passed", "weather", "meeting", "budget", "report", "password",
)  # fmt: skip
DENIALS = (
    ("agent", "agents.{agent}.tools.deny", "agents.{agent}.tools.deny {tool}", "the agent may not use this tool"),
    ("global", "tools.deny", "tools.deny {tool}", "no agent may use this tool"),
    ("group", "group tools.deny", "channels.{channel}.groups.*.tools.deny {tool}", "not in this group"),
    ("exec_policy", "exec policy", "security=deny", "commands are switched off"),
    ("sandbox", "sandbox tools.deny", "tools.sandbox.tools.deny {tool}", "not inside the sandbox"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to build.

    Args:
        entries: how many, over all chains.
        until: the instant of the last ones.
        months: how far back the first ones lie; at most 24.
        chains: how many processes wrote them, in two lanes side by side, one after the other.
    """

    entries: int
    until: datetime
    seed: int = 1
    months: int = 12
    chains: int = 8
    environments: tuple[str, ...] = ("production", "staging")
    agents: int = 40
    senders: int = 2_000

    def span(self, chain: int) -> tuple[datetime, timedelta]:
        """Say when a chain begins, and how long it goes on."""
        turns = (self.chains + 1) // 2
        length = timedelta(days=30.4 * min(self.months, MOST_MONTHS)) / turns
        return self.until - length * (turns - chain // 2), length

    def size(self, chain: int) -> int:
        """Say how many entries a chain has."""
        return self.entries * (chain + 1) // self.chains - self.entries * chain // self.chains


@dataclass(frozen=True, slots=True)
class Built:
    """One chain as it stands: its id, how long it is, its last hash."""

    chain_id: UUID
    seq: int
    head: bytes


def build(
    url: str, *, entries: int, until: datetime | None = None, processes: int = 2, seed: int = 1, **plan: Any
) -> list[Built]:
    """Fill a migrated database with entries that verify; the same ones for the same seed and `until`.

    Args:
        url: of the database, for a role that may write entries and make partitions.
        until: the instant of the last entries; the beginning of this day when None.
        processes: 1 builds in this process.
        plan: the other fields of `Plan`.
    """
    wanted = Plan(entries=entries, until=until or _today(), seed=seed, **plan)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(MAKE_PARTITIONS, (wanted.span(0)[0], wanted.until + DAY))
    lanes = [(url, wanted, range(first, wanted.chains, processes)) for first in range(processes)]
    if processes == 1:
        return _build_lane(*lanes[0])
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        made = chain.from_iterable(pool.starmap(_build_lane, lanes))
        return sorted(made, key=lambda built: built.chain_id)


def _today() -> datetime:
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _build_lane(url: str, plan: Plan, chains: Sequence[int]) -> list[Built]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET timezone = 'UTC'")
        return [_build_chain(connection, plan, chain) for chain in chains if plan.size(chain)]


def _build_chain(connection: psycopg.Connection[Any], plan: Plan, chain: int) -> Built:
    world = _World(plan, chain)
    begin, length = plan.span(chain)
    chain_id = world.identifier(begin)
    linked = _Chain(chain_id, genesis(chain_id))
    left = plan.size(chain)
    entries = world.entries()
    while left:
        size = min(left, ROWS_A_COPY)
        rows, contents = linked.extend(entries, size, world.draw)
        left -= size
        with connection.transaction(), connection.cursor() as cursor:
            with cursor.copy(COPY_ENTRIES) as copy:
                for row in rows:
                    copy.write_row(row)
            with cursor.copy(COPY_CONTENT) as copy:
                for content in contents:
                    copy.write_row(content)
    end = begin + length
    connection.execute(OPEN_BOOT, (chain_id, chain, begin, end, end, end, linked.seq, linked.head))
    return Built(chain_id, linked.seq, linked.head)


@dataclass(slots=True)
class _Chain:
    """Links bodies and contents into rows."""

    chain_id: UUID
    head: bytes
    seq: int = 0

    def extend(
        self, entries: Iterator[dict[str, Any]], size: int, draw: random.Random
    ) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        rows, contents = [], []
        for _ in range(size):
            entry = next(entries)
            content = {name: entry[name] for name in CONTENT}
            if any(content.values()):
                salt = draw.randbytes(SALT_BYTES)
                entry["content_commitment"] = content_commitment(salt, content)
                contents.append((entry["at"], entry["id"], entry["call_id"], salt, *map(_stored, content.values())))
            self.seq += 1
            before = self.head
            self.head = entry_hash(chain_id=self.chain_id, seq=self.seq, prev=before, body=body_digest(entry))
            rows.append((*(_stored(entry[name]) for name in BODY), self.chain_id, self.seq, before, self.head))
        return rows, contents


def _stored(value: Any) -> Any:
    return orjson.dumps(value).decode() if type(value) is dict else value


@dataclass
class _World:
    """The people, agents and tools of an installation, and what they do in one chain."""

    plan: Plan
    chain: int
    draw: random.Random = field(init=False)

    def __post_init__(self) -> None:
        common = random.Random(f"{self.plan.seed} world")
        self.words = [*COMMON, *dict.fromkeys(a + b + c for a in STARTS for b in ENDS for c in ("", *ENDS[:3]))]
        self.weights = list(accumulate(1 / (rank + 3) for rank in range(len(self.words))))
        self.lines = [" ".join(self._choose(common, 9)) for _ in range(4_000)]
        self.agents = [f"{name}-{number}" for number, name in enumerate(self._choose(common, self.plan.agents))]
        self.tools = [*TOOLS, *(f"plugin.{word}" for word in self._choose(common, 30))]
        self.tool_weights = list(accumulate(1 / (rank + 1) for rank in range(len(self.tools))))
        self.agent_weights = list(accumulate(1 / (rank + 2) for rank in range(len(self.agents))))
        self.digests = [common.randbytes(32).hex() for _ in range(24)]
        self.draw = random.Random(f"{self.plan.seed} chain {self.chain}")

    def _choose(self, draw: random.Random, count: int) -> list[str]:
        return draw.choices(self.words, cum_weights=self.weights, k=count)

    def identifier(self, at: datetime) -> UUID:
        """Make an id of version 7 out of the seed."""
        random_bits = self.draw.getrandbits(74)
        head = (at - EPOCH) // timedelta(milliseconds=1) << 80 | 7 << 76
        return UUID(int=head | (random_bits >> 62) << 64 | 2 << 62 | random_bits & (2**62 - 1))

    def entries(self) -> Iterator[dict[str, Any]]:
        """Tell what happened, call by call, in order; without end."""
        begin, length = self.plan.span(self.chain)
        calls = self.plan.size(self.chain) / 1.937
        seconds = length.total_seconds()
        number = 0
        while True:
            since = number * seconds / calls
            # Days are busier than nights: the same number of calls a day, crowded towards 14:00 UTC.
            since -= 86_400 * 0.11 * sin(2 * pi * (since / 86_400 - 0.58))
            at = begin + timedelta(seconds=max(0.0, since), microseconds=self.draw.randrange(1_000))
            yield from self._call(at, number) if number % 400 else self._office(at)
            number += 1

    def _office(self, at: datetime) -> Iterator[dict[str, Any]]:
        what = self.draw.choice(("sign_in", "policy_change", "publish", "token", "export"))
        yield self._entry(at, kind=what, actor=f"user:{self.draw.choice(('anna', 'ben', 'chen'))}", status="done")

    def _entry(self, at: datetime, **columns: Any) -> dict[str, Any]:
        return EMPTY | {"at": at, "id": self.identifier(at)} | columns

    def _call(self, at: datetime, number: int) -> Iterator[dict[str, Any]]:
        draw = self.draw
        agent = self.agents[bisect(self.agent_weights, draw.random() * self.agent_weights[-1])]
        tool = self.tools[bisect(self.tool_weights, draw.random() * self.tool_weights[-1])]
        person = int(draw.random() ** 3 * self.plan.senders)
        channel = CHANNELS[person % len(CHANNELS)]
        base: dict[str, Any] = {
            "actor": f"agent:{agent}",
            "environment": self.plan.environments[0 if draw.random() < 0.8 else -1],
            "agent": agent,
            "session_key": f"agent:{agent}:{'subagent' if number % 11 == 5 else channel}:{person}:{at:%Y%m%d}",
            "channel": channel,
            "sender": f"{channel}:{100_000 + person}",
            "tool": tool,
            "call_id": self.identifier(at),
            "snapshot_digest": self.digests[int(number / self.plan.size(self.chain) * 40) % len(self.digests)],
            "trace_id": f"{draw.getrandbits(128):032x}",
            "decision": "allow",
        }
        luck = draw.random()
        params = self._params(tool, number)
        if luck < 0.06:
            yield self._denial(at, base, params)
            return
        if luck < 0.11:
            base["approval_id"] = self.identifier(at)
            asked = {"decision": "ask", "decision_layer": "exec_policy", "decision_rule": "ask=on-miss"}
            yield self._entry(at, kind="approval_asked", params=params, status="requested", **base | asked)
            at += timedelta(seconds=draw.randrange(2, 90))
            answer = "denied" if luck < 0.07 else "allowed"
            yield self._entry(at, kind="approval_answered", status=answer, **base | asked | {"actor": "user:anna"})
            if answer == "denied":
                return
        yield self._entry(at, kind="call_intent", params=params, **base)
        yield self._outcome(at, base, number, failed=luck > 0.96)

    def _denial(self, at: datetime, base: Mapping[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        layer, label, rule, reason = self.draw.choice(DENIALS)
        decided = {
            "decision": "deny", "decision_layer": layer, "decision_label": label.format(**base),
            "decision_rule": rule.format(**base), "decision_reason": reason, "status": "denied",
        }  # fmt: skip
        return self._entry(at, kind="denial", params=params, **{**base, **decided})

    def _outcome(self, at: datetime, base: Mapping[str, Any], number: int, *, failed: bool) -> dict[str, Any]:
        run = int(self.draw.paretovariate(1.1) * 8)
        phases = {"validate": 1, "policy": 0, "hooks": number % 3, "run": run, "results": 1}
        ends: dict[str, Any] = {
            "kind": "call_outcome", "status": "failed" if failed else "completed",
            "duration_ms": run + 2 + number % 3, "phases": phases,
        }  # fmt: skip
        if failed:
            ends["error"] = {"code": "tool_failed", "message": f"exit status 1: {self._line()}"}
        else:
            words = f"{self._line()} {' '.join(self._choose(self.draw, 4))}"
            ends["result"] = {"content": [{"type": "text", "text": words}], "reference": self._reference(number)}
        return self._entry(at + timedelta(milliseconds=run + 2), **base, **ends)

    def _params(self, tool: str, number: int) -> dict[str, Any]:
        if tool == "exec":
            command = (
                f"grep -rn {self._line().split()[0]} /srv/{self._choose(self.draw, 1)[0]} --max-count {number % 90}"
            )
            return {"command": command, "workdir": "/srv", "timeout_ms": 30_000}
        if tool in {"read", "write", "edit"}:
            return {"path": f"/srv/{'/'.join(self._choose(self.draw, 3))}.md", "note": self._line()}
        return {"query": self._line(), "limit": number % 50, "about": self._reference(number)}

    def _line(self) -> str:
        return self.lines[int(self.draw.random() * len(self.lines))]

    def _reference(self, number: int) -> str:
        """Name something that occurs in one call alone."""
        return f"case{self.plan.seed}x{self.chain}x{number}"


def main() -> None:
    """Fill the database of the environment."""
    started = time.perf_counter()
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    built = build(os.environ["DATABASE_URL"], entries=entries)
    took = time.perf_counter() - started
    print(f"{entries:,} entries in {len(built)} chains, {took:.1f} s, {entries / took:,.0f}/s")


if __name__ == "__main__":
    main()
