"""Grants and filters of the draft, as the engine takes them."""

from apps.firewall.engine.content import ContentFilter as EngineFilter
from apps.firewall.engine.grants import Grant
from apps.firewall.engine.session_key import normalize_agent_id
from apps.policies.models import ContentFilter, PermissionGrant
from apps.registry.models import Environment


def engine_grant(record: PermissionGrant) -> Grant:
    """Return a grant of permissions as the engine takes it."""
    agent = record.agent.strip()
    return Grant(
        key=record.key,
        permissions=tuple(record.permissions),
        agent=agent if "*" in agent or not agent else normalize_agent_id(agent),
        token=record.token,
        sender=record.sender.strip(),
        owner=record.owner,
        role=record.role,
        session=record.session.strip(),
        resources={kind: tuple(patterns) for kind, patterns in record.resources.items()},
    )


def engine_filter(record: ContentFilter) -> EngineFilter:
    """Return a content filter as the engine takes it."""
    return EngineFilter(
        key=record.key,
        pattern=record.pattern,
        where=record.where,  # type: ignore[arg-type] # a constraint of the table keeps the words
        action=record.action,  # type: ignore[arg-type]
        tools=tuple(record.tools),
        message=record.message,
    )


def draft_grants(environment: Environment) -> list[Grant]:
    """Read the grants of a draft."""
    return [engine_grant(record) for record in PermissionGrant.objects.filter(environment=environment)]


def draft_filters(environment: Environment) -> list[EngineFilter]:
    """Read the content filters of a draft, in the order in which masks are applied."""
    return [engine_filter(record) for record in ContentFilter.objects.filter(environment=environment)]
