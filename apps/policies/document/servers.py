"""MCP servers that a document names and no source stands for: their tools are not known here."""

from typing import Any

from django.utils.translation import gettext as _

from apps.policies.document.findings import Findings
from apps.registry.models import Environment
from apps.registry.selectors import sources_of


def note_servers(environment: Environment, tree: dict[str, Any], findings: Findings) -> None:
    """Name the servers of `mcp.servers` whose tools nobody can call before a source brings them."""
    block = tree.get("mcp")
    servers = block.get("servers") if isinstance(block, dict) else None
    if not isinstance(servers, dict) or not servers:
        return
    known = {source.key for source in sources_of(environment)}
    for name, server in servers.items():
        if name not in known and not (isinstance(server, dict) and server.get("enabled") is False):
            message = _(
                "the tools of this server are not known here, and every call of `%(name)s__…` is refused: "
                "add a source with the key `%(name)s`"
            )
            findings.warning(("mcp", "servers", name), "server_unknown", message % {"name": name})
