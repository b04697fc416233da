"""What a tool that a source configures is given for one call."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.connector import Resolve, system_resolve
from apps.firewall.tools.running import Command, Place

if TYPE_CHECKING:
    from apps.firewall.tools.browser.slots import BrowserSlots


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One call's surroundings.

    Args:
        connection: the settings of the tool's source, with its secrets in clear.
        command: as it was judged, for a tool that runs commands.
        resolve: what tells the addresses of a name.
        query_program: path of the program that asks databases; empty where there is none.
        environment: of the call; its slug.
        browsers: how many may be open at once; None for as many as are asked for.
    """

    place: Place
    connection: Connection
    command: Command | None = None
    resolve: Resolve = system_resolve
    query_program: str = ""
    environment: str = ""
    browsers: "BrowserSlots | None" = None
