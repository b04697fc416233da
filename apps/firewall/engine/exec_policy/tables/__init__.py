"""What each release's exec policy knows about programs; `latest` whole, `older` as its differences."""

from typing import Final

from apps.firewall.engine.exec_policy.tables.latest import LATEST
from apps.firewall.engine.exec_policy.tables.older import OLDER
from apps.firewall.engine.exec_policy.tables.shape import Tables

RELEASES: Final = {tables.release: tables for tables in (LATEST, OLDER)}


def exec_tables(release: str) -> Tables:
    """Return a release's tables; a name that nobody knows gets the newest, which is the stricter."""
    return RELEASES.get(release, LATEST)


__all__ = ["RELEASES", "Tables", "exec_tables"]
