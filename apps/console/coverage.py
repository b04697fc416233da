"""What a pattern of an "always" would also have covered: the last calls of the agent, matched as the engine matches."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.approvals.proposals import argv_of
from apps.audit.filters import EntryFilters
from apps.audit.selectors import calls
from apps.console.cards import scopes_of
from apps.firewall.engine.exec_policy.patterns import arguments_match

if TYPE_CHECKING:
    from apps.approvals.models import Approval

LOOKED_AT = 500


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the last calls a scope covers, and how many of these were denied."""

    scope: str
    calls: int
    denied: int


def pattern_coverage(approval: "Approval", *, every_agent: bool = False) -> list[Coverage]:
    """Count for each pattern that is offered, over at most the last 500 calls of this tool by this agent, or by any."""
    patterns = [scope for scope in scopes_of(approval) if scope.pattern]
    if not patterns or not approval.argv:
        return []
    agents = () if every_agent else (approval.agent,)
    filters = EntryFilters(environment=approval.environment.slug, agent=agents, tool=(approval.tool,))
    others = [call for call in calls(filters, limit=LOOKED_AT).rows if call.id != approval.call_id]
    past = [(argv_of(call.params), call.decision == "deny") for call in others]
    same = [(argv[1:], is_denied) for argv, is_denied in past if argv and argv[0] == approval.argv[0]]
    found = []
    for scope in patterns:
        covered = [is_denied for arguments, is_denied in same if arguments_match(scope.pattern, arguments)]
        found.append(Coverage(scope.value, len(covered), sum(covered)))
    return found
