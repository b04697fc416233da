"""Many calls while processes are killed, and the two accounts of them: the one tools keep, and the ledger's.

Every call has a number of its own. Its tool adds a line to a file of that number when it runs, and nothing else: these
files are the tools' own account. The ledger's entries of the same number must agree with it.
"""

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from django.conf import settings
from django.db import connection
from django.utils import timezone

from apps.audit.services import sweep_orphans
from apps.firewall.identifiers import read_id
from tests.gateway.processes import START_S, Installation, end, until

DONE = """
SELECT content.params->>'command', entry.call_id, entry.kind, entry.status
FROM audit_entry AS entry
LEFT JOIN audit_content AS content ON content.at = entry.at AND content.entry_id = entry.id
WHERE entry.tool = 'exec' AND entry.kind IN ('call_intent', 'call_outcome', 'denial')
ORDER BY entry.at
"""
MARK = "echo n"
LOST = "no answer"
NEVER_BEGAN = [("call_outcome", "unknown")]


@dataclass
class Account:
    """What was found: runs by number, entries by number, answers by number."""

    ran: Counter[int]
    entries: dict[int, list[tuple[str, str]]]
    answers: dict[int, str]
    kills: Counter[str]
    seconds: float

    @property
    def unaccounted(self) -> list[int]:
        """Numbers that ran and have no intent, or whose intents and outcomes do not pair, or that were promised."""
        wrong = [number for number in self.ran if ("call_intent", "started") not in self.entries.get(number, [])]
        wrong += [number for number, found in self.entries.items() if not self._pairs(found)]
        wrong += [number for number, said in self.answers.items() if said != LOST and number not in self.entries]
        return sorted(set(wrong))

    @property
    def twice(self) -> list[int]:
        """Numbers that ran more than once."""
        return sorted(number for number, count in self.ran.items() if count > 1)

    @property
    def contradicted(self) -> list[int]:
        """Numbers whose outcome says that they completed, and which did not run; or the other way round."""
        said = {
            number: {status for kind, status in found if kind == "call_outcome"}
            for number, found in self.entries.items()
        }
        completed = [number for number, found in said.items() if "completed" in found and not self.ran[number]]
        refused = [
            number for number, found in self.entries.items() if ("denial", "denied") in found and self.ran[number]
        ]
        return sorted(completed + refused)

    def outcomes(self) -> Counter[str]:
        """Count the outcomes by their status."""
        return Counter(status for found in self.entries.values() for kind, status in found if kind != "call_intent")

    @property
    def never_began(self) -> list[int]:
        """Numbers whose worker died after it had taken the call and before its intent: they did not run."""
        return [number for number, found in self.entries.items() if found == NEVER_BEGAN and not self.ran[number]]

    @staticmethod
    def _pairs(found: list[tuple[str, str]]) -> bool:
        kinds = sorted(kind for kind, _ in found)
        return kinds in (["call_intent", "call_outcome"], ["denial"]) or found == NEVER_BEGAN


@dataclass
class Storm:
    """Calls from several callers, a web server and a worker that are killed at random points."""

    installation: Installation
    secret: str
    count: int
    kills: int
    callers: int = 6
    chance: random.Random = field(default_factory=lambda: random.Random(20261123))

    def run(self) -> Account:
        """Make the calls, kill, wait until every call has its outcome, and read both accounts."""
        self._numbers = itertools.count()
        self._answers: dict[int, str] = {}
        self._ids: dict[UUID, int] = {}
        self._up = threading.Event()
        began = time.monotonic()
        with ExitStack() as stack:
            self._processes = {"web": stack.enter_context(_Restarted(self.installation.server))}
            self._processes["worker"] = stack.enter_context(_Restarted(self.installation.worker))
            self._up.set()
            with ThreadPoolExecutor(self.callers) as pool:
                work = [pool.submit(self._call_on) for _ in range(self.callers)]
                killed = self._kill_on()
                for each in work:
                    each.result(timeout=3600)
            until(self._is_settled, seconds=300, what="an outcome of every call")
        return Account(ran_by_number(), self._entries(), self._answers, killed, time.monotonic() - began)

    def _call_on(self) -> None:
        with httpx.Client(headers={"Authorization": f"Bearer {self.secret}"}, timeout=120) as client:
            while (number := next(self._numbers)) < self.count:
                assert self._up.wait(START_S * 2)
                self._answers[number] = self._call(client, number)

    def _call(self, client: httpx.Client, number: int) -> str:
        order: dict[str, Any] = {
            "agent": "bot",
            "tool": "exec",
            "params": {"command": f"sh -c '{MARK}{number} >> n{number}'"},
        }
        if number % 3 == 0:
            order["mode"] = "async"
        try:
            answer = client.post(f"{self.installation.url}/api/v1/calls", json=order)
        except httpx.HTTPError:
            return LOST
        body = answer.json()
        if "id" in body:
            self._ids[read_id("call", body["id"])] = number
        return str(body.get("status", answer.status_code))

    def _kill_on(self) -> Counter[str]:
        points = sorted(self.chance.sample(range(self.count // 20, self.count * 19 // 20), self.kills))
        killed: Counter[str] = Counter()
        for turn, point in enumerate(points):
            until(lambda at=point: len(self._answers) >= at, seconds=1800, what="the next point")  # type: ignore[misc]
            name = ("web", "worker")[turn % 2]
            time.sleep(self.chance.uniform(0, 0.1))  # anywhere in a call
            if name == "web":
                self._up.clear()
            self._processes[name].kill_and_start()
            self._up.set()
            killed[name] += 1
        return killed

    def _is_settled(self) -> bool:
        sweep_orphans(timezone.now() + timedelta(seconds=-16))
        found = self._entries()
        connection.close()
        promised = [number for number, said in self._answers.items() if said != LOST]
        return all(number in found for number in promised) and not any(
            [kind for kind, _ in each] == ["call_intent"] for each in found.values()
        )

    def _entries(self) -> dict[int, list[tuple[str, str]]]:
        with connection.cursor() as cursor:
            cursor.execute(DONE)
            rows = cursor.fetchall()
        numbers = {call: int(command.partition(MARK)[2].split()[0]) for command, call, _, _ in rows if command}
        numbers = self._ids | numbers
        found: dict[int, list[tuple[str, str]]] = {}
        for _, call, kind, status in rows:
            # A call that never began, and whose caller got no answer, has no number that anybody could tell.
            found.setdefault(numbers.get(call, -call.int), []).append((kind, status))
        return found


class _Restarted(AbstractContextManager["_Restarted"]):
    """A process that is killed with its group and started again."""

    def __init__(self, start: Callable[[], AbstractContextManager[Any]]) -> None:
        self._start = start
        self._stack = ExitStack()
        self._process = self._stack.enter_context(start())

    def kill_and_start(self) -> None:
        end(self._process)
        self._stack.close()
        self._process = self._stack.enter_context(self._start())

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def ran_by_number() -> Counter[int]:
    """Read the account that the tools keep."""
    folder = Path(settings.VAR_DIR) / "workspaces" / "production" / "bot"
    return Counter({int(path.name[1:]): len(path.read_text().split()) for path in folder.glob("n*")})
