"""OPENS addresses: the one way out. Every URL of a registry, a tool server or an MCP server goes through a `Connector`.

`urls` judges the text, `addresses` what its name resolves to, `transport` connects to exactly the address that was
judged, `connector` reads answers within limits. Knows no tool, no registry and no policy.
"""

from apps.firewall.tools.connector.connector import Answer, Connector
from apps.firewall.tools.connector.errors import ConnectorError
from apps.firewall.tools.connector.resolving import Resolve, system_resolve
from apps.firewall.tools.connector.transport import PinnedTransport

__all__ = ["Answer", "Connector", "ConnectorError", "PinnedTransport", "Resolve", "system_resolve"]
