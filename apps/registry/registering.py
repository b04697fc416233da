"""Reading a tool that somebody registers by hand: its definition, and what is to run it.

Every mistake is named here with its place, not at the first call.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.errors import FirewallError
from apps.firewall.tools.admission import admit_definition
from apps.firewall.tools.connector.errors import AddressRefusedError, UrlRefusedError
from apps.firewall.tools.connector.hosts import check_host
from apps.firewall.tools.connector.urls import check_url
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import DefinitionInvalidError, Problem
from apps.firewall.tools.executors import (
    KINDS,
    ExecutorInvalidError,
    HttpExecutor,
    McpExecutor,
    ToolExecutor,
    read_executor,
)
from apps.firewall.tools.own_formats import with_packaged_formats
from apps.registry.errors import ToolInvalidError
from apps.registry.models import DiscoverySource, Environment, SourceKind
from apps.registry.selectors import source_find
from apps.registry.source_settings import source_connection

KINDS_OF_SOURCE: Final[Mapping[str, frozenset[str]]] = {
    HttpExecutor.kind: frozenset({SourceKind.REMOTE}),
    McpExecutor.kind: frozenset({SourceKind.MCP_STDIO, SourceKind.MCP_HTTP}),
}
"""Kind of executor -> kinds of source it may name. Code that runs here comes from files and packages only."""


@dataclass(frozen=True, slots=True)
class Order:
    """A tool to register."""

    definition: Definition
    executor: ToolExecutor | None


def read_order(
    environment: Environment, definition: object, executor: object, *, path: str = "definition.", beside: str = ""
) -> Order:
    """Read a definition and its executor.

    Args:
        executor: what runs it here; None for a tool that its caller runs.
        path: where the definition stands in what the caller was given.
        beside: the member of the definition that holds the executor, where a file has it there.
    Raises:
        ToolInvalidError: every mistake of both, each with its place.
    """
    details: list[Problem] = []
    read = runs = None
    try:
        read = admit_definition(definition, path=path, beside=frozenset({beside} if beside else ()))
    except DefinitionInvalidError as exc:
        details += exc.details
    if executor is not None:
        runs = _executor(environment, executor, f"{path}{beside}" if beside else "executor", details)
    if details or read is None:
        raise ToolInvalidError(_("the tool definition is not valid: see details"), details)
    return Order(with_packaged_formats(read), runs)


def _executor(environment: Environment, document: object, path: str, details: list[Problem]) -> ToolExecutor | None:
    """Read what runs a tool; what is wrong with it goes to the details."""
    if not isinstance(document, Mapping):
        details.append(_problem(path, "bad_type", _("must be an object")))
        return None
    kind = document.get("kind", "")
    if not isinstance(kind, str) or kind not in KINDS_OF_SOURCE:
        known = isinstance(kind, str) and kind in KINDS
        message = _("code that runs here comes from files and packages: only `http` and `mcp` are registered by hand")
        details.append(_problem(path if known else f"{path}.kind", "bad_executor", message if known else _kinds()))
        return None
    wrong = list(_members(kind, document, path))
    details += wrong
    try:
        executor = read_executor(document) if not wrong else None
    except ExecutorInvalidError as exc:
        details.append(_problem(path, "bad_executor", exc.message))
        return None
    source = source_find(environment, str(document.get("source", "")))
    if document.get("source") and (source is None or source.kind not in KINDS_OF_SOURCE[kind]):
        details.append(_problem(path, "bad_executor", _("no source of this key can run it")))
    elif source is not None and isinstance(executor, HttpExecutor):
        details += _address(executor, source, f"{path}.url")
    return executor


def _kinds() -> str:
    return _("must be one of %(kinds)s") % {"kinds": ", ".join(f"`{each}`" for each in sorted(KINDS_OF_SOURCE))}


def _members(kind: str, document: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """Name the members of an executor that are missing, empty, no text, or none of its kind."""
    known = {"kind", *(each.name for each in fields(KINDS[kind]))}
    for name in sorted(known - {"kind"}):
        if not document.get(name):
            yield _problem(f"{path}.{name}", "required_field_missing", _("is required"))
        elif not isinstance(document[name], str):
            yield _problem(f"{path}.{name}", "bad_type", _("must be a text"))
    for name in document:
        if name not in known:
            message = _("is no member of an executor of kind `%(kind)s`") % {"kind": kind}
            yield _problem(f"{path}.{name}"[:300], "unknown_field", message)


def _address(executor: HttpExecutor, source: DiscoverySource, path: str) -> Iterator[Problem]:
    """Hold the address of a tool against the rules of its source, as at each call."""
    try:
        rules = source_connection(source).rules
    except FirewallError as exc:
        yield _problem(path, exc.code, exc.message)
        return
    try:
        target = check_url(executor.url, rules)
        check_host(target.host, rules)
    except (UrlRefusedError, AddressRefusedError) as exc:
        yield _problem(path, exc.code, exc.message)


def _problem(path: str, code: str, message: str) -> Problem:
    return {"path": path, "code": code, "message": message}
