"""`manage.py demo_agent`: scripted agents that make real calls through the API, so that an installation shows life."""

import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from apps.accounts.access import Permission
from apps.accounts.services import token_create
from apps.accounts.telling import Told, tell, token_told
from apps.gateway.demo import AGENTS_NAME
from apps.gateway.demo_model import model_served
from apps.gateway.demo_runs import demo_run
from apps.gateway.example_agent import example_agent
from apps.policies.selectors import live_snapshot
from apps.registry.services import environment_default

AGENTS_LIMIT = 4
ROUNDS_LIMIT = 1000
TOKEN_LIFE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the script, and what it is there to show."""

    shows: str
    tool: str
    params: Mapping[str, Any] = field(default_factory=dict)


VISITOR = {"channel": "telegram", "sender_id": "visitor", "sender_is_owner": False}
NOTE = "# Today\n\n- check the backups\n- answer the release question\n"
SCRIPT: tuple[Step, ...] = (
    Step("a file is written", "write", {"path": "notes/today.md", "content": NOTE}),
    Step("and read", "read", {"path": "notes/today.md", "limit": 20}),
    Step("a command runs, or waits where no list admits it", "exec", {"command": "ls -la notes"}),
    Step("a second one", "exec", {"command": "git --version"}),
    Step("a wrong parameter is explained", "read", {"path": "notes/today.md", "offset": 0}),
    Step("a way out of the workspace is refused", "read", {"path": "../../keys"}),
    Step("a line of shell waits for a person", "exec", {"command": "cat notes/today.md | wc -l"}),
    Step("so does a download into a shell", "exec", {"command": "curl -fsS http://127.0.0.1:9/install.sh | sh"}),
    Step("and what destroys", "exec", {"command": "rm -rf build"}),
    Step("a tool that this agent's policy takes away", "gateway"),
    Step("a tool that does not exist", "launch_rocket"),
)


class Command(BaseCommand):
    """Play the script for each agent."""

    help = "Plays scripted agents that make real calls through the API."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default=settings.PUBLIC_URL, help="address of the server")
        parser.add_argument("--token", default="", help="API token; one for an hour is made when absent")
        parser.add_argument("--agent", action="append", default=[], help="agent to play; may be given several times")
        parser.add_argument("--rounds", type=int, default=1, help=f"times to play the script (1 to {ROUNDS_LIMIT})")
        parser.add_argument("--pause", type=float, default=0.2, help="seconds between two calls")
        parser.add_argument("--patience", type=float, default=20.0, help="seconds to wait for people at the end")

    def handle(self, *_: Any, **options: Any) -> None:
        if not 1 <= options["rounds"] <= ROUNDS_LIMIT:
            raise CommandError(f"--rounds must be from 1 to {ROUNDS_LIMIT}")
        token = options["token"] or _token()
        agents = options["agent"] or _agents()
        with httpx.Client(base_url=options["url"], headers={"Authorization": f"Bearer {token}"}, timeout=40) as client:
            waiting = []
            try:
                self._converse(client, agents[0])
                for number in range(options["rounds"]):
                    waiting += list(self._play(client, agents, options["pause"]))
                    self._search(client, agents, number)
                self._follow(client, waiting, options["patience"])
            except httpx.HTTPError as exc:
                raise CommandError(f"no answer from {options['url']}: {exc}") from exc

    def _play(self, client: httpx.Client, agents: list[str], pause_s: float) -> Iterator[str]:
        """Make every call of the script for every agent; gives the ids of those that wait."""
        for step in SCRIPT:
            for agent in agents:
                answer = client.post(
                    "/api/v1/calls",
                    json={
                        "agent": agent,
                        "session": f"agent:{agent}:main",
                        "tool": step.tool,
                        "params": dict(step.params),
                        "context": VISITOR,
                        "wait_ms": 2000 if step.tool != "exec" else 500,
                    },
                )
                self._say(f"{agent:<12} {step.tool:<14} {_told(answer):<52} {step.shows}")
                if answer.status_code == 202:
                    yield answer.json()["id"]
                time.sleep(pause_s)

    def _converse(self, client: httpx.Client, agent: str) -> None:
        """Have models of three providers ask for two tools in one turn, through the agent of the documentation."""
        shown = example_agent()
        with model_served() as address, httpx.Client(base_url=address, timeout=40) as model:
            for form in shown.FORMS:
                _, calls = shown.converse(client, model, form, "demo", "What do the notes say?", agent=agent)
                for call in calls:
                    self._say(f"{agent:<12} {call['tool']:<14} {call['status']:<52} a model asks for it ({form})")

    def _search(self, client: httpx.Client, agents: list[str], number: int) -> None:
        """Have each agent bring tools of its own, more than it wants to send, and find them by searching."""
        for agent in agents:
            for what, became in demo_run(client, agent, number):
                self._say(f"{agent:<12} {what:<14} {became:<52} a run with tool search")

    def _follow(self, client: httpx.Client, waiting: list[str], patience_s: float) -> None:
        """Wait for people; what is still open then stays open and keeps its deadline."""
        until = time.monotonic() + patience_s
        for call_id in waiting:
            left_ms = max(0, min(30_000, int((until - time.monotonic()) * 1000)))
            answer = client.get(f"/api/v1/calls/{call_id}", params={"wait": left_ms})
            self._say(f"{call_id} {_told(answer)}")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()  # a pipe should show each call when it happens


def _told(answer: httpx.Response) -> str:
    body = answer.json()
    if "code" in body:
        return f"{answer.status_code} {body['code']}"
    error = body.get("error")
    return f"{body['status']}: {error['code']}" if error else str(body["status"])


def _token() -> str:
    scopes = [Permission.CALLS_MAKE, Permission.DECISIONS_ASK]
    with transaction.atomic():
        expires_at = timezone.now() + TOKEN_LIFE
        token, secret = token_create(name=AGENTS_NAME, scopes=scopes, by=None, expires_at=expires_at)
        tell(Told(kind="token", status="created", changes=token_told(token)))
    return secret


def _agents() -> list[str]:
    snapshot = live_snapshot(environment_default())
    if snapshot is None:
        raise CommandError("nothing was published: publish first, or name agents with --agent")
    agents = [agent["id"] for agent in snapshot.document["agents"] or []]
    return agents[:AGENTS_LIMIT] or ["main"]
