"""How each kind of source is looked through: one table. The looks themselves know no database."""

from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from django.conf import settings

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.discovery.entry_points import look_entry_points
from apps.firewall.tools.discovery.folder import look_folder
from apps.firewall.tools.discovery.found import Look
from apps.firewall.tools.discovery.mcp import look_mcp
from apps.firewall.tools.discovery.openclaw_plugins import look_openclaw_plugins
from apps.firewall.tools.discovery.own import look_own
from apps.firewall.tools.discovery.remote import look_remote
from apps.firewall.tools.discovery.tool_file import look_tool_file
from apps.firewall.tools.python_tools import PythonTools
from apps.registry.models import DiscoverySource, SourceKind
from apps.registry.sandboxing import installation_sandbox
from apps.registry.source_settings import source_connection

LOOK_LIMIT_S: Final = 180.0


@lru_cache(maxsize=1)
def python_tools() -> PythonTools:
    """Give what describes and runs Python tools here; keys and records of this installation are closed to them."""
    closed = (Path(settings.VAR_DIR), Path(settings.KEYS_DIR))
    return PythonTools(closed=closed, sandbox=installation_sandbox())


async def _folder(connection: Connection, _etag: str) -> Look:
    return await look_folder(connection, python=python_tools())


async def _entry_points(connection: Connection, _etag: str) -> Look:
    return await look_entry_points(connection, python=python_tools())


async def _tool_file(connection: Connection, _etag: str) -> Look:
    return await look_tool_file(connection, python=python_tools(), variables=settings.TOOL_VARIABLES)


async def _remote(connection: Connection, etag: str) -> Look:
    return await look_remote(connection, etag=etag)


async def _mcp(connection: Connection, _etag: str) -> Look:
    return await look_mcp(connection)


async def _openclaw_plugins(connection: Connection, _etag: str) -> Look:
    return await look_openclaw_plugins(connection)


async def _own(connection: Connection, _etag: str) -> Look:
    return await look_own(connection)


LookOf = Callable[[Connection, str], Awaitable[Look]]

LOOKS: Final[Mapping[str, LookOf]] = {
    SourceKind.FILE: _tool_file,
    SourceKind.FOLDER: _folder,
    SourceKind.ENTRY_POINTS: _entry_points,
    SourceKind.REMOTE: _remote,
    SourceKind.MCP_STDIO: _mcp,
    SourceKind.MCP_HTTP: _mcp,
    SourceKind.OPENCLAW_PLUGINS: _openclaw_plugins,
    SourceKind.OWN_FILES: _own,
    SourceKind.OWN_SHELL: _own,
    SourceKind.OWN_HTTP: _own,
    SourceKind.OWN_BROWSER: _own,
    SourceKind.OWN_EMAIL: _own,
    SourceKind.OWN_DATABASES: _own,
}
"""Kind -> what looks through it: a connection, and the etag of the look before."""


async def look_through(source: DiscoverySource, *, etag: str = "") -> Look:
    """Look through a source.

    Raises:
        FirewallError: its settings make no connection, or its secrets cannot be opened.
    """
    return await LOOKS[source.kind](source_connection(source), etag)
