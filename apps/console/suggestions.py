"""What the pages of suggestions show: agents with what they never call, and what a narrower policy would do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.console.blast import blast_of
from apps.policies.selectors import agents
from apps.policies.suggesting import CALLS_LEAST, LOOK_BACKS, AgentUse, Narrower, narrower, uses

if TYPE_CHECKING:
    from apps.policies.models import Agent
    from apps.registry.models import Environment

PAGE: Final = 25
DEFAULT_DAYS: Final = 30
NAMES_SHOWN: Final = 6
FIELDS: Final[Mapping[str, Promise]] = {"allow": _("Allow"), "deny": _("Deny")}


@dataclass(frozen=True, slots=True)
class Row:
    """One agent of the list; the first names of what it never calls, and how many more there are."""

    use: AgentUse

    @property
    def names(self) -> tuple[str, ...]:
        return self.use.unused[:NAMES_SHOWN]

    @property
    def more(self) -> int:
        return len(self.use.unused) - len(self.names)


def days_of(given: Mapping[str, Any]) -> int:
    """Read how far to look back; what is no choice is the usual one."""
    text = str(given.get("days", ""))
    return int(text) if text in {str(days) for days in LOOK_BACKS} else DEFAULT_DAYS


def page_of(given: Mapping[str, Any]) -> int:
    text = str(given.get("page", ""))
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 7 else 1


def list_of(environment: "Environment", *, days: int, page: int) -> dict[str, Any]:
    """Gather one page of agents; one that does not exist is the last."""
    found = agents(environment)
    total = found.count()
    last = max(1, -(-total // PAGE))
    page = min(page, last)
    chosen = list(found.select_related("environment")[(page - 1) * PAGE : page * PAGE])
    rows = [Row(use) for use in uses(environment, chosen, days=days, at=timezone.now())]
    return {"rows": rows, "total": total, "page": page, "last": last, **_spans(days)}


def _spans(days: int) -> dict[str, Any]:
    return {"days": days, "look_backs": LOOK_BACKS, "calls_least": CALLS_LEAST}


def use_of(agent: "Agent", *, days: int) -> AgentUse:
    """Say what one agent has called."""
    return uses(agent.environment, [agent], days=days, at=timezone.now())[0]


def agent_page(agent: "Agent", *, days: int) -> dict[str, Any]:
    """Gather what the page of one agent shows beside the suggestion itself."""
    use = use_of(agent, days=days)
    called = sorted(use.used.items(), key=lambda each: each[1], reverse=True)
    effect = f"{reverse('suggestion-effect', args=[agent.key])}?days={days}"
    return {"record": agent, "use": use, "called": called, "effect_url": effect, **_spans(days)}


def suggestion_of(agent: "Agent", *, days: int) -> Narrower | None:
    """Find the narrower policy of one agent."""
    return narrower(use_of(agent, days=days))


def effect_of(agent: "Agent", *, days: int) -> dict[str, Any]:
    """Show a suggestion with what it does over all contexts."""
    use = use_of(agent, days=days)
    suggestion = narrower(use)
    context = {"record": agent, "use": use, "suggestion": suggestion, **_spans(days)}
    if suggestion is None:
        return context
    stored = set(getattr(agent, suggestion.member) or ())
    entries = [(name, name not in stored) for name in suggestion.entries]
    gone = sorted(stored - set(suggestion.entries))
    return context | {
        "entries": entries,
        "gone": gone,
        "list_label": FIELDS[suggestion.member],
        "from_publication": gettext("the draft as it is"),
        "blast": blast_of(suggestion.before, suggestion.after),
    }
