"""What runners of tools on other servers share: the connection of a source, and answers without its secrets."""

from collections.abc import Awaitable, Callable

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.executors.hiding import without_secrets
from apps.firewall.tools.connections import Connection, Connections, secret_texts
from apps.firewall.tools.progress import reported_without
from apps.firewall.tools.running import ToolOutcome, failed


async def over_connection(
    connections: Connections, environment: str, source: str, perform: Callable[[Connection], Awaitable[ToolOutcome]]
) -> ToolOutcome:
    """Do something over the connection of a source; a source that has none is a failure of the call."""
    try:
        connection = await connections.connection(environment, source)
    except FirewallError as exc:
        return failed(exc.code, exc.message)
    secrets = secret_texts(connection.secrets)
    with reported_without(secrets):
        return without_secrets(await perform(connection), secrets)
