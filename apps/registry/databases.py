"""Addresses of databases, read as libpq reads them, so that both mean the same hosts."""

from itertools import zip_longest
from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.firewall.tools.work import DatabasePlace


def database_places(dsn: str) -> list[DatabasePlace]:
    """List the hosts of a database's address; one that names none has one empty place.

    Raises:
        UrlRefusedError: it cannot be read, or takes its hosts from a file of services.
    """
    try:
        members: dict[str, Any] = dict(conninfo_to_dict(dsn))
    except ProgrammingError as exc:  # its words may hold the password
        raise UrlRefusedError(
            "the address of a database cannot be read: write postgresql://reader:…@host/name"
        ) from exc
    if members.get("service"):
        raise UrlRefusedError("the address of a database names a service: name its host")
    hosts, addresses, ports = (str(members.get(name) or "").split(",") for name in ("host", "hostaddr", "port"))
    count = max(len(hosts), len(addresses))
    if len(ports) == 1:
        ports *= count
    if len(ports) != count or (len(addresses) > 1 and hosts != [""] and len(hosts) != len(addresses)):
        raise UrlRefusedError("the address of a database names hosts, addresses and ports of different number")
    return [DatabasePlace(*each) for each in zip_longest(hosts, addresses, ports, fillvalue="")]
