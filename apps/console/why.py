"""From a tool's name to why it is there or not: the explorer's trace, in the context of where the name is shown."""

from typing import Any, Final

from django.urls import reverse

from apps.console.blast import Row
from apps.console.situations import Situation, nearest_situation
from apps.firewall.engine.contexts import ANY_OTHER
from apps.firewall.engine.recorded import bare_context

ANCHOR: Final = "#trace"


def why_url(tool: str, situation: Situation, *, at: str = "live") -> str:
    """Return the address of a tool's trace in a situation.

    Args:
        at: `live` or `draft`.
    """
    return situation.url(reverse("explorer"), at="draft" if at == "draft" else "", tool=tool) + ANCHOR


def situation_of_call(call: Any) -> Situation:
    """Find the situation of a recorded call, or of a request for approval, as far as its record tells it."""
    recorded = getattr(call, "context", None) or bare_context(
        agent=call.agent, session_key=call.session_key, channel=call.channel, sender=call.sender
    )
    return nearest_situation(recorded.context)


def situation_of_row(row: Row) -> Situation:
    """Find one situation that a line of a blast radius speaks of."""
    place = row.places[0] if row.places else None
    channel = place.channel if place is not None else ""
    groups = [group for group in place.groups if group] if place is not None else []
    return Situation(
        agent=next((agent for agent in row.agents if agent != ANY_OTHER), ""),
        model=_first(row.models),
        channel=channel,
        group=groups[0].replace(" / ", "/") if groups else "",
        sender=_first(row.senders),
        owner={"owner": "yes", "other": "no"}.get(row.owners, ""),
        sandbox=row.sandbox == "inside",
        depth=int(row.depth == "sub"),
    )


def _first(narrowing: Any) -> str:
    """Return one of the values to which a line is limited; nothing where it only names exceptions."""
    return "" if narrowing is None or narrowing.is_except else str(narrowing.values[0])
