"""What we answer of the protocol: the tools of a run, calls of them, and the words that go before."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import mcp_types as types
import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from starlette.requests import Request as HttpRequest

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import error_object
from apps.firewall.tools.search.controls import controls_of
from apps.firewall.tools.wire_names import wire_name
from apps.gateway.mcp.answers import error_result, result_of
from apps.gateway.mcp.calling import NAMES, Door, Tell, called
from apps.gateway.runtime_api.http import Problem
from apps.gateway.tool_runs.surface import DIRECT, Surface, surface_of

log = structlog.get_logger(__name__)

DOOR: Final = "openclaw_admin.mcp_door"
"""Member of a request's scope that says whose it is."""

for _logger in ("mcp", "sse_starlette"):  # they write what clients send into our log
    logging.getLogger(_logger).setLevel(logging.CRITICAL)

GREETINGS: Final = frozenset({"initialize", "server/discover"})
INSTRUCTIONS: Final = (
    "Every call is checked against a policy and recorded. One that a person has to allow may answer with the error "
    "`awaiting_approval`: make the same call again, with the same arguments, to go on with it."
)
HIDDEN: Final = "More tools than are listed may be used: find them with `{tool}`."
Context = ServerRequestContext[Any, HttpRequest]


async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """List what the run is offered now, on one page.

    Raises:
        MCPError: a cursor was sent, and none was ever given.
    """
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "the cursor is none of this server: all tools are on the first page")
    door = _door(context)
    return types.ListToolsResult(tools=_tools(await surface_of(door.current, door.run)))


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Call a tool; whatever goes wrong is told in the result, where models read it."""
    door, arguments = _door(context), params.arguments or {}
    try:
        performed = await called(door, params.name, arguments, request_id=context.request_id, tell=_tell(context))
    except Problem as exc:
        return error_result(exc.body)
    except FirewallError as exc:
        return error_result(error_object(exc.code, exc.message, getattr(exc, "details", None)))
    except (OperationalError, InterfaceError):
        log.exception("mcp.no_database")
        return error_result(error_object("database_unavailable", "the database does not answer"))
    except Exception as exc:  # fail closed, and tell the client nothing of what went wrong inside
        log.exception("mcp.failed")
        return error_result(error_object("internal_error", f"an internal error: {type(exc).__name__}"))
    return result_of(params.name, arguments, performed)


async def greet(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Add to a greeting what this run should know before it begins."""
    found = await call_next(ctx)
    if ctx.method not in GREETINGS or not isinstance(found, dict):
        return found
    door = _door(ctx)
    return {**found, "instructions": _instructions(await surface_of(door.current, door.run))}


def _server() -> Server[Any]:
    made: Server[Any] = Server(
        "openclaw-admin",
        title="OpenClaw Admin",
        version=settings.VERSION,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=_no_headers,
    )
    made.middleware.append(greet)
    return made


def _no_headers(_: str) -> Mapping[str, Any] | None:
    """Have no argument looked for in headers: a tool's schema, which may be a stranger's, does not ask for that."""
    return None


def _door(context: Context) -> Door:
    door = None if context.request is None else context.request.scope.get(DOOR)
    assert isinstance(door, Door)  # noqa: S101 - every request that gets here was let in with one
    return door


def _tell(context: Context) -> Tell | None:
    wanted: Mapping[str, Any] = context.meta or {}
    tell: Callable[[float, float | None, str | None], Awaitable[None]] = context.session.report_progress
    return tell if wanted.get("progress_token") is not None else None


def _tools(surface: Surface) -> list[types.Tool]:
    """Describe what is visible, in the order of the catalogue, and the controls last."""
    if surface.catalogue is None:
        return []
    found = [
        types.Tool(
            name=wire_name(each.name, NAMES),
            title=each.label or None,
            description=each.description or None,
            input_schema=_object_schema(each.parameters),
        )
        for each in surface.catalogue.tools.descriptors
        if each.name in surface.visible
    ]
    if surface.mode == DIRECT:
        return found
    return found + [
        types.Tool(
            name=each.name, title=each.label, description=each.description, input_schema=_object_schema(each.parameters)
        )
        for each in controls_of(surface.mode)
    ]


def _object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Say that params are an object, which the protocol wants said and authors leave out."""
    return {**schema, "type": "object"}


def _instructions(surface: Surface) -> str:
    if surface.mode == DIRECT:
        return INSTRUCTIONS
    first = next(iter(controls_of(surface.mode))).name
    parts = [INSTRUCTIONS, HIDDEN.format(tool=first)]
    return "\n\n".join([*parts, *([surface.told.text] if surface.told is not None and surface.told.text else [])])


SERVER: Final = _server()
