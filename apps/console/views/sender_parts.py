"""What pages with rules by sender do alike: list them, try a sender on them."""

from time import perf_counter
from typing import Any

from apps.console import senders as shown
from apps.console.funnel import Funnel, funnel_of
from apps.console.gate import ConsoleRequest
from apps.console.ladder import FIELDS, Speaker, ladder_of
from apps.console.situations import Choice, Situation, agent_names, choices_of
from apps.console.views.agents import environment_chosen
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import explain, explain_with
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.channels import path_of
from apps.policies.selectors import draft_snapshot, live_snapshot

TEXT_LIMIT = 200
PAGES_LIMIT = 10**6

Sides = tuple[Snapshot, Snapshot | None]
"""The draft, and what is live."""


def sides_of(request: ConsoleRequest) -> Sides:
    """Read the draft and what is live, once a page."""
    environment = environment_chosen(request)
    return draft_snapshot(environment), live_snapshot(environment)


def page_asked(request: ConsoleRequest, name: str) -> tuple[str, int]:
    """Read what is searched in a list of a page, and which part of it is asked; 0 for none in particular."""
    query = request.GET.get(f"{name}_q", "")[:TEXT_LIMIT].replace("\0", "").strip()
    text = request.GET.get(f"{name}_page", "")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0
    return query, min(number, PAGES_LIMIT)


def rules_context(request: ConsoleRequest, scope: shown.Scope) -> dict[str, Any]:
    """List the rules of a scope for its page."""
    query, number = page_asked(request, "rules")
    rows, page = shown.rule_rows(scope, query=query, number=number)
    return {
        "scope": scope,
        "rules": rows,
        "rules_page": page,
        "rules_query": query,
        "new_url": scope.address("sender-new"),
        "import_url": scope.address("sender-import"),
        "export_url": scope.address("sender-export"),
    }


def tried(
    request: ConsoleRequest,
    scope: shown.Scope,
    sides: Sides,
    engine: Engine,
    speaker: Speaker | None = None,
) -> dict[str, Any]:
    """Try a sender on the draft as it is typed: the ladder, and what is left of the tools.

    Args:
        engine: the draft's, with what is typed.
        speaker: who is tried when the request names nobody.
    """
    given = request.POST if request.method == "POST" else request.GET
    draft, live = sides
    asked = Speaker.read(given)
    if asked.is_nobody and not any(f"try_{name}" in given for name in FIELDS) and speaker is not None:
        asked = speaker
    situation = scope.situation(given, agent_names(draft))
    context = asked.speaks_in(situation.context())
    own = path_of(scope.group) if scope.group is not None else None
    agent: Choice | None = None if scope.agent is not None else choices_of(draft, situation)["agent"]
    return {
        "speaker": asked,
        "situation": situation,
        "agent_choice": agent,
        "ladder": ladder_of(engine, context, own=own, situation=situation, speaker=asked),
        "funnel": _funnel(draft, live, engine, context, situation),
    }


def _funnel(
    draft: Snapshot, live: Snapshot | None, engine: Engine, context: CallContext, situation: Situation
) -> Funnel:
    started = perf_counter()
    after = explain_with(engine, context)
    before = None if live is None else explain(live, context)
    duration_ms = max(1, round(1000 * (perf_counter() - started)))
    return funnel_of(after, before, total=len(draft.tool_names), situation=situation, duration_ms=duration_ms)
