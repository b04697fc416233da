"""What a call needs of permissions, and what the grants of a snapshot say about it."""

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.permissions import Caller, Needs, PermissionAnswer, PermissionRules, Resource, caller_of
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import JsonObject
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.tools.resources import resources_of
from apps.firewall.tools.sensitive import hider

HIDDEN = "(hidden)"
TOKEN = "token:"  # noqa: S105 - how audit names a token


def permission_answers(
    rules: PermissionRules,
    tool: ToolEntry,
    caller: Caller,
    params: JsonObject | None,
    *,
    sensitive: tuple[str, ...] = (),
) -> tuple[PermissionAnswer, ...]:
    """Say of each permission that a tool asks for whether the caller has it; nothing for a tool that asks for none.

    Args:
        params: ready for the tool; None while they are not known.
        sensitive: names of params whose values are told to nobody.
    Raises:
        ResourceUnreadableError: a param that names a resource holds none.
        DefinitionInvalidError: the tool's traits are none of a definition.
    """
    if not asks(tool):
        return ()
    definition = definition_of(tool)
    resources: tuple[Resource, ...] | None = None
    if params is not None:
        hides = hider(sensitive)
        resources = tuple(
            Resource(each.kind, each.value, HIDDEN if hides(each.place.split(".")) else "")
            for each in resources_of(definition, params)
        )
    kinds = frozenset(definition.resources)
    needs = Needs(permissions=definition.permissions, kinds=kinds, resources=resources)
    return rules.answers(needs, caller)


def asks(tool: ToolEntry) -> bool:
    """Say whether a tool asks for any permission."""
    return bool((tool.traits or {}).get("permissions"))


def caller_in(snapshot: Snapshot, context: CallContext, *, agent: str, actor: str, role: str = "") -> Caller:
    """Say who makes a call, as grants are compared with it.

    Args:
        agent, actor: as of a `Call`.
        role: of its requester, now.
    Raises:
        ResolutionError: nothing can be decided in the call's context.
    """
    token = actor.removeprefix(TOKEN) if actor.startswith(TOKEN) else ""
    return caller_of(snapshot.engine, context, agent=agent, token=token, role=role)
