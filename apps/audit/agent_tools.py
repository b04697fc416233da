"""Which tools agents have called since when: from steps in an index, however many calls there are."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection

# From one pair of agent and tool straight to the next one; within a pair the newest entry comes first.
_TOOLS = """
SELECT wanted.agent, used.tool, used.at FROM unnest(%s::text[]) AS wanted (agent) CROSS JOIN LATERAL (
    WITH RECURSIVE step AS (
        (SELECT e.tool, e.at FROM audit_entry AS e
         WHERE e.environment = %s AND e.agent = wanted.agent AND e.tool <> '' AND e.agent <> ''
            AND e.call_id IS NOT NULL AND e.at >= %s
         ORDER BY e.tool, e.at DESC LIMIT 1)
        UNION ALL
        SELECT n.tool, n.at FROM step CROSS JOIN LATERAL (
            SELECT e.tool, e.at FROM audit_entry AS e
            WHERE e.environment = %s AND e.agent = wanted.agent AND e.tool > step.tool AND e.tool <> ''
                AND e.agent <> '' AND e.call_id IS NOT NULL AND e.at >= %s
            ORDER BY e.tool, e.at DESC LIMIT 1) AS n
    ) SELECT tool, at FROM step
) AS used
"""
_CALLS = """
SELECT value, sum(begun)::bigint FROM audit_tally
WHERE environment = %s AND dimension = 'agent' AND value = ANY(%s) AND start >= %s AND step_s = 3600 GROUP BY value
"""


@dataclass(slots=True)
class AgentTools:
    """What one agent has called: each tool with its newest call, and how many calls there were.

    `calls` adds whole hours up, and lags behind by what the follower has not read yet.
    """

    calls: int = 0
    tools: dict[str, datetime] = field(default_factory=dict)


def agent_tools(environment: str, agents: Collection[str], *, since: datetime) -> dict[str, AgentTools]:
    """Say for each agent which tools it has called, whether that was allowed or not; two queries.

    Args:
        environment: slug.
    """
    found = {agent: AgentTools() for agent in agents}
    with connection.cursor() as cursor:
        cursor.execute(_TOOLS, [list(found), environment, since, environment, since])
        for agent, tool, at in cursor.fetchall():
            found[agent].tools[tool] = at
        cursor.execute(_CALLS, [environment, list(found), since])
        for agent, calls in cursor.fetchall():
            found[agent].calls = calls
    return found
