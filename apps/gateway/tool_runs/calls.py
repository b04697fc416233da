"""Which call the model of a run means: a visible tool, a control, or a tool of the catalogue behind `tool_call`."""

from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils import timezone

from apps.firewall.engine.context import CallContext
from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import new_id, show_id
from apps.firewall.runtime.bridge import Bridge, Through
from apps.firewall.runtime.call import Call
from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.search.controls import CALL, CODE, DESCRIBE, SEARCH, controls_of
from apps.firewall.tools.search.descriptors import Descriptor
from apps.firewall.tools.search.queries import read_queries
from apps.firewall.tools.search.selecting import ToolUnknownError, find, read_call
from apps.gateway.database import in_database
from apps.gateway.tokens import TokenGrant
from apps.gateway.tool_runs.catalogues import RunCatalogue
from apps.gateway.tool_runs.surface import NO_ISOLATION, Surface
from apps.runs.models import ToolRun
from apps.runs.services import call_begin

NAME_LIMIT: Final = 512
UNNAMED: Final = "unnamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What is to run.

    Args:
        tool: its name; one that the run may not use is refused by the runtime like one that does not exist.
        descriptor: of a tool of the catalogue; None for controls and for what is not in it.
        unreadable: why the params are none.
        asked: what the tool was named by; empty where that is its name.
    """

    tool: str
    params: JsonObject
    through: Through
    descriptor: Descriptor | None = None
    unreadable: str = ""
    asked: str = ""


def meant_by(surface: Surface, name: str, params: JsonObject, *, unreadable: str = "") -> Meant:
    """Read what a model means by a call: never more than its surface lets it."""
    offered = frozenset(each.name for each in controls_of(surface.mode)) if surface.mode != "direct" else frozenset()
    if name in offered:
        if unreadable:
            return Meant(tool=name, params=params, through="control", unreadable=unreadable)
        return meant_by_call(surface, params) if name == CALL else checked_control(surface, name, params)
    if name == CODE and surface.why == NO_ISOLATION:  # its model may have been offered it; what refuses it says why
        return checked_control(surface, name, params)
    found = _of_name(surface.catalogue, name)
    if found is not None and name in surface.visible:
        return Meant(tool=name, params=params, through="direct", descriptor=found, unreadable=unreadable)
    if found is not None and surface.mode == "directory":
        return Meant(tool=name, params=params, through="hydrated", descriptor=found, unreadable=unreadable)
    return unknown(surface.catalogue, name, params)


def meant_by_call(surface: Surface, params: JsonObject) -> Meant:
    """Read the params of `tool_call`; a mistake in them is one that the runtime refuses and records."""
    try:
        descriptor, arguments = read_call(params, [] if surface.catalogue is None else surface.catalogue.tools)
    except ToolUnknownError as exc:
        return unknown(surface.catalogue, exc.selector, {})
    except FirewallError as exc:
        return Meant(tool=CALL, params=params, through="control", unreadable=exc.message)
    return Meant(
        tool=descriptor.name, params=arguments, through="tool_call", descriptor=descriptor, asked=descriptor.name
    )


def meant_by_id(catalogue: RunCatalogue | None, selector: str, arguments: JsonObject, through: Through) -> Meant:
    """Read a call that names its tool by id or name.

    Raises:
        SelectorAmbiguousError: several tools go by it.
    """
    try:
        descriptor = find([] if catalogue is None else catalogue.tools, selector)
    except ToolUnknownError:
        return unknown(catalogue, selector, arguments, through)
    return Meant(tool=descriptor.name, params=arguments, through=through, descriptor=descriptor, asked=descriptor.name)


def checked_control(surface: Surface, name: str, params: JsonObject) -> Meant:
    """Look at what is asked of a control before it runs; the runtime checks its schema besides."""
    if name == SEARCH:
        try:
            read_queries(params, surface.settings)
        except FirewallError as exc:
            return Meant(tool=name, params=params, through="control", unreadable=exc.message)
    return Meant(tool=name, params=params, through="control")


def unknown(catalogue: RunCatalogue | None, selector: str, params: JsonObject, through: Through = "tool_call") -> Meant:
    """Mean a tool that is not in the catalogue: whatever the policy says of its name, it is none here.

    The record names the tool behind an id, the answer what was asked for.
    """
    asked = selector.strip()[:NAME_LIMIT] or UNNAMED
    tool = asked if catalogue is None else catalogue.name_behind(asked)
    return Meant(tool=tool, params=params, through=through, asked=asked)


def call_of(run: ToolRun, grant: TokenGrant, meant: Meant, *, trace_id: str) -> Call:
    """Make the call that goes to the runtime."""
    return Call(
        environment=run.environment.slug,
        agent=run.agent,
        tool=meant.tool,
        params=meant.params,
        context=CallContext.from_json(run.context),
        actor=grant.actor,
        requester=grant.requester,
        trace_id=trace_id,
        unreadable=meant.unreadable,
        run=run.shown_id,
        bridge=bridge_of(run, meant),
        id=new_id(),
    )


def bridge_of(run: ToolRun, meant: Meant, *, parent: Call | None = None) -> Bridge:
    """Say how a call comes out of a run."""
    descriptor = meant.descriptor
    is_client = descriptor is not None and descriptor.source == "client"
    return Bridge(
        run=run.shown_id,
        through=meant.through,
        source="" if descriptor is None else descriptor.source,
        parent="" if parent is None else show_id("call", parent.id),
        offered=tuple(run.client_tools) if is_client else (),
        is_absent=descriptor is None and meant.through != "control",
        asked=meant.asked,
    )


async def begun(run: ToolRun, meant: Meant, call: Call) -> Call:
    """Keep that a call of the run begins, and tell the call how its tool was found.

    Raises:
        RunEndedError: the run has ended.
    """
    if meant.descriptor is None or call.bridge is None:
        return call
    rank = await in_database(
        call_begin,
        run,
        call_id=call.id,
        tool=meant.descriptor.id,
        name=meant.tool,
        source=meant.descriptor.source,
        through=meant.through,
        at=timezone.now(),
    )
    return replace(call, bridge=replace(call.bridge, rank=rank))


def _of_name(catalogue: RunCatalogue | None, name: str) -> Descriptor | None:
    found = () if catalogue is None else catalogue.tools.meant(name)
    named = [each for each in found if each.name == name]
    return named[0] if len(named) == 1 else None


CONTROLS_OF_PATHS: Final[dict[str, Any]] = {"search": SEARCH, "describe": DESCRIBE, "code": CODE}
"""Last part of a path below a run's tools -> the control that answers it."""
