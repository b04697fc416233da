"""What a tool that a source configures is given for one call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.connector import Resolve, system_resolve
from apps.firewall.tools.running import Command, Place

if TYPE_CHECKING:
    from apps.firewall.tools.browser.slots import BrowserSlots


class DatabasePlace(NamedTuple):
    """One host of a database, as its address names it; each may be empty."""

    host: str
    address: str
    port: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One call's surroundings.

    Args:
        connection: the settings of the tool's source, with its secrets in clear.
        command: as it was judged, for a tool that runs commands.
        resolve: what tells the addresses of a name.
        query_program: path of the program that asks databases; empty where there is none.
        database_places: reads the address of a database: each host of it, its address where one is given, its port.
        environment: of the call; its slug.
        browsers: how many may be open at once; None for as many as are asked for.
    """

    place: Place
    connection: Connection
    command: Command | None = None
    resolve: Resolve = system_resolve
    query_program: str = ""
    database_places: "Callable[[str], Sequence[DatabasePlace]] | None" = None
    environment: str = ""
    browsers: "BrowserSlots | None" = None
