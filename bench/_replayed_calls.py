"""Record calls, change the draft, replay: `python -m bench._replayed_calls CALLS`.

Prints as JSON how long the replay took, and the same call by call, with the figures that both found.
"""

import json
import os
import random
import sys
import time
from collections import Counter
from datetime import timedelta
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")

import django

django.setup()

from django.db import connection  # noqa: E402 - Django must be set up first
from django.utils import timezone  # noqa: E402

from apps.audit.drafts import EntryDecision, EntryDraft  # noqa: E402
from apps.audit.services import entries_record  # noqa: E402
from apps.firewall.engine.context import CallContext  # noqa: E402
from apps.firewall.engine.decide import decide  # noqa: E402
from apps.firewall.engine.recorded import read_context, record_context  # noqa: E402
from apps.firewall.engine.replay import RecordedCall, Replayer  # noqa: E402
from apps.firewall.engine.snapshot import Snapshot  # noqa: E402
from apps.firewall.identifiers import new_id  # noqa: E402
from apps.policies.models import Replay  # noqa: E402
from apps.policies.replays.asking import replay_request  # noqa: E402
from apps.policies.replays.running import replay_run  # noqa: E402
from apps.policies.selectors import agent_get, draft_snapshot, live_snapshot  # noqa: E402
from apps.policies.services import document_import, publish, record_update  # noqa: E402
from apps.registry.models import Environment  # noqa: E402
from apps.registry.services import environment_default  # noqa: E402

AGENTS, CONTEXTS, BATCH = 20, 2_000, 2_000
TOOLS = ("read", "write", "exec", "web_search", "message", "memory_search", "process", "cron")
ROWS = """
SELECT e.tool, e.session_key, e.decision, e.decision_layer, e.snapshot_digest, c.changes -> 'context'
FROM audit_entry AS e JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id
WHERE e.environment = %s AND e.at >= %s AND e.kind IN ('call_intent', 'denial')
"""


def main(calls: int) -> None:
    environment = environment_default()
    entries = {f"agent-{number}": {"tools": {"deny": ["cron"]}} for number in range(AGENTS)}
    document_import(environment, json.dumps({"agents": {"ownership": "explicit", "entries": entries}}), by=None)
    publish(environment, by=None, message="bench", expected_live=None)
    live = _there(live_snapshot(environment))
    _fill(live, calls)
    for number in range(3):
        agent = agent_get(environment, f"agent-{number}")
        assert agent is not None
        record_update(agent, {"deny": ["exec"]}, by=None, expected_version=agent.version)
    draft = draft_snapshot(environment)
    print(json.dumps(_replayed(environment, draft) | _plainly(environment, live, draft)))


def _fill(live: Snapshot, calls: int) -> None:
    chance = random.Random(1)
    contexts = [_context(chance, number) for number in range(CONTEXTS)]
    for _ in range(0, calls, BATCH):
        entries_record([_call(live, chance.choice(contexts), chance.choice(TOOLS)) for _ in range(BATCH)])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE audit_entry, audit_content")


def _context(chance: random.Random, number: int) -> CallContext:
    agent = f"agent-{number % AGENTS}"
    return CallContext(
        agent_id=agent,
        session_key=f"agent:{agent}:telegram:group:-{number}",
        provider=chance.choice(("openai", "anthropic", "google")),
        model_id="large",
        channel="telegram",
        sender_id=str(chance.randrange(10_000)),
        sender_is_owner=chance.choice((None, True, False)),
    )


def _call(live: Snapshot, context: CallContext, tool: str) -> EntryDraft:
    decision = decide(live, context, tool)
    return EntryDraft(
        kind="call_intent" if decision.allowed else "denial",
        environment=live.environment,
        agent=context.agent_id or "",
        session_key=context.session_key or "",
        channel=context.channel or "",
        sender=context.sender_id or "",
        tool=tool,
        call_id=new_id(),
        params={"path": "notes/today.md", "limit": 200},
        status="started",
        decision=EntryDecision(
            verdict="allow" if decision.allowed else "deny", layer=decision.layer or "", label=decision.label or ""
        ),
        snapshot_digest=live.digest,
        changes=record_context(context),
    )


def _replayed(environment: Environment, draft: Snapshot) -> dict[str, Any]:
    replay = replay_request(environment, draft, days=1, by=None, at=timezone.now())
    began = time.perf_counter()
    replay_run(replay.pk, at=timezone.now())
    seconds = time.perf_counter() - began
    counts = Replay.objects.get(pk=replay.pk).tally["counts"]
    return {"seconds": seconds, "counts": counts, "flips": counts.get("blocked", 0) + counts.get("allowed", 0)}


def _plainly(environment: Environment, live: Snapshot, draft: Snapshot) -> dict[str, Any]:
    """Ask about each call by itself, as a loop over the rows does."""
    replayer = Replayer(live, draft, decider=lambda _digest: None)
    began, counts = time.perf_counter(), Counter[str]()
    with connection.cursor() as cursor:
        cursor.execute(ROWS, [environment.slug, timezone.now() - timedelta(days=1)])
        for tool, session_key, verdict, layer, digest, kept in cursor:
            context = read_context(json.loads(kept) if isinstance(kept, str) else kept, session_key=session_key)
            call = RecordedCall(context, tool, layer if verdict == "deny" else "", digest)
            counts[replayer.replay(call).change] += 1
    seconds = time.perf_counter() - began
    return {"naive_seconds": seconds, "naive_counts": dict(counts), "naive_calls": counts.total()}


def _there(snapshot: Snapshot | None) -> Snapshot:
    assert snapshot is not None
    return snapshot


if __name__ == "__main__":
    main(int(sys.argv[1]))
