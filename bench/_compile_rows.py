"""Fills a database with the population of `bench.engine`, compiles it and publishes it: run as a process of its own.

`python -m bench._compile_rows fill` prints times as JSON, `… swap PUBLICATION` makes an earlier publication live,
`… token` makes a token without a limit that matters.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")
django.setup()

from django.db import connection, transaction  # noqa: E402 - Django must be set up first

from apps.accounts.access import Permission  # noqa: E402
from apps.accounts.services import token_create  # noqa: E402
from apps.firewall.engine.policy import Policy  # noqa: E402
from apps.firewall.engine.source import AgentSource, SnapshotSource  # noqa: E402
from apps.keys.signing import sign  # noqa: E402
from apps.policies.compiler import compile_draft  # noqa: E402
from apps.policies.models import (  # noqa: E402
    Agent,
    Channel,
    ChannelGroup,
    GlobalPolicy,
    ProviderPolicy,
    Publication,
    SenderRule,
)
from apps.policies.selectors import live_publication  # noqa: E402
from apps.policies.services.publishing import publish, rollback  # noqa: E402
from apps.registry.models import Environment, Plugin, Tool, ToolSource, ToolState  # noqa: E402
from apps.registry.services import environment_default  # noqa: E402
from bench.engine import population  # noqa: E402

TOOLS, ROUNDS, PUBLICATIONS, BATCH = 500, 5, 2, 2_000
RULE = ("id", "environment_id", "version", "position", "extra", "allow", "deny", "group_id", "key")


def fill() -> dict[str, Any]:
    """Store the population, compile it several times, publish a few variants of it."""
    environment = environment_default()
    source = population(TOOLS)
    started = time.perf_counter()
    with transaction.atomic():
        store(environment, source)
    stored_s = time.perf_counter() - started
    compile_draft(environment)  # plans and pages of the database are warm, as in a server
    times, digests = [], set()
    for _ in range(ROUNDS):
        started = time.perf_counter()
        snapshot = compile_draft(environment)
        sign(snapshot.to_bytes())
        times.append(time.perf_counter() - started)
        digests.add(snapshot.digest)
    rows = {model.__name__: model.objects.count() for model in (Agent, ChannelGroup, SenderRule, Tool)}
    policies = len(snapshot.document["policies"])
    return {
        "stored_s": stored_s,
        "times_s": times,
        "digests": len(digests),
        "rows": rows,
        "policies": policies,
        "publications": list(published(environment)),
    }


def published(environment: Environment) -> Iterator[str]:
    """Publish the draft, each time with another tool denied to the first agent."""
    for number in range(PUBLICATIONS):
        first = Agent.objects.get(environment=environment, key="agent-0")
        first.deny = [f"never_{number}"]
        first.save(update_fields=["deny"])
        live = live_publication(environment)
        expected = live.snapshot_id if live else ""
        yield str(publish(environment, by=None, message=f"variant {number}", expected_live=expected).pk)


def swap(publication: str) -> dict[str, Any]:
    """Make an earlier publication live; it is stored already, so that only the servers have work to do.

    Returns:
        `digest`, and when the swap `began` on the monotonic clock, which all processes share.
    """
    environment = environment_default()
    target = Publication.objects.get(pk=publication)
    live = live_publication(environment)
    expected = live.snapshot_id if live else None
    began = time.monotonic()
    rollback(environment, target, by=None, message="swap", expected_live=expected)
    return {"digest": target.snapshot_id, "began": began}


def store(environment: Environment, source: SnapshotSource) -> None:
    """Insert the population as an import would: the same records, in bulk."""
    place = {"environment": environment}
    _store_tools(environment, source)
    GlobalPolicy.objects.create(
        **place, **_lists(source.policy), profile=source.policy.profile if source.policy else None, owners=source.owners
    )
    sources = list(source.agents or ())
    agents = Agent.objects.bulk_create(_agent(environment, each, at) for at, each in enumerate(sources))
    providers = [ProviderPolicy(**place, key=key, **_lists(policy)) for key, policy in source.by_provider]
    for agent, mine in zip(agents, sources, strict=True):
        providers += [ProviderPolicy(**place, agent=agent, key=key, **_lists(one)) for key, one in mine.by_provider]
    ProviderPolicy.objects.bulk_create(providers, BATCH)
    rules = [_rule(environment, None, *rule, at) for at, rule in enumerate(source.by_sender)]
    for at, channel in enumerate(source.channels):
        row = Channel.objects.create(**place, key=channel.name, position=at)
        listed = channel.maps["groups"]
        groups = ChannelGroup.objects.bulk_create(
            [
                ChannelGroup(**place, channel=row, key=each.key, position=number, has_tools=True, **_lists(each.tools))
                for number, each in enumerate(listed)
            ],
            BATCH,
        )
        for group, each in zip(groups, listed, strict=True):
            rules += [_rule(environment, group, *rule, number) for number, rule in enumerate(each.by_sender)]
    _copy(rules)


def _store_tools(environment: Environment, source: SnapshotSource) -> None:
    known = set(Tool.objects.filter(environment=environment).values_list("name", flat=True))
    missing = [tool for tool in source.tools if tool.name not in known]
    keys = dict.fromkeys(tool.plugin for tool in missing if tool.plugin)
    plugins = {key: Plugin.objects.create(environment=environment, key=key) for key in keys}
    Tool.objects.bulk_create(
        Tool(
            environment=environment,
            name=tool.name,
            plugin=plugins.get(tool.plugin or ""),
            source=ToolSource.PLUGIN,
            state=ToolState.ACTIVE,
            position=1000 + number,
        )
        for number, tool in enumerate(missing)
    )


def _agent(environment: Environment, source: AgentSource, position: int) -> Agent:
    profile = source.policy.profile if source.policy else None
    sandbox = list(source.sandbox.allow) if source.sandbox and source.sandbox.allow else None
    lists = _lists(source.policy)
    return Agent(
        environment=environment, key=source.id, position=position, profile=profile, sandbox_allow=sandbox, **lists
    )


def _rule(
    environment: Environment, group: ChannelGroup | None, key: str, policy: Policy | None, position: int
) -> SenderRule:
    return SenderRule(environment=environment, group=group, key=key, position=position, **_lists(policy))


def _copy(rules: list[SenderRule]) -> None:
    """Insert the rules by COPY: with 100,000 rows the way through the ORM takes longer than all that is measured."""
    table, columns = SenderRule._meta.db_table, ", ".join(RULE)
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        for rule in rules:
            copy.write_row([json.dumps(rule.extra) if name == "extra" else getattr(rule, name) for name in RULE])


def _lists(policy: Policy | None) -> dict[str, Any]:
    block = policy or Policy()
    return {
        "allow": None if block.allow is None else list(block.allow),
        "deny": None if block.deny is None else list(block.deny),
    }


def token() -> str:
    """Make a token for decisions; its rate is out of reach."""
    scopes = [Permission.DECISIONS_ASK]
    return token_create(name="bench", scopes=scopes, by=None, rate_per_minute=10_000_000)[1]


if __name__ == "__main__":
    ACTIONS: dict[str, Callable[..., Any]] = {"fill": fill, "swap": swap, "token": token}
    print(json.dumps(ACTIONS[sys.argv[1]](*sys.argv[2:])))
