"""The shell room behind the engine's port."""

from functools import lru_cache

from apps.firewall.shell.grammar import read_script
from apps.firewall.shell.scanner import scan

_KEPT = 256


class BashReader:
    """Reads lines by the grammar of bash, and as the older release does; what was read last is kept."""

    script = staticmethod(lru_cache(maxsize=_KEPT)(read_script))
    scan = staticmethod(scan)


READER = BashReader()
