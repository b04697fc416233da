"""What a tool that a source configures is given for one call."""

from dataclasses import dataclass

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.connector import Resolve, system_resolve
from apps.firewall.tools.running import Command, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One call's surroundings.

    Args:
        connection: the settings of the tool's source, with its secrets in clear.
        command: as it was judged, for a tool that runs commands.
        resolve: what tells the addresses of a name.
        query_program: path of the program that asks databases; empty where there is none.
    """

    place: Place
    connection: Connection
    command: Command | None = None
    resolve: Resolve = system_resolve
    query_program: str = ""
