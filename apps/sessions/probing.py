"""The sessions of probes: each lives as long as its probe, and no list shows it."""

from collections.abc import Iterable

from apps.registry.probing import PROBES
from apps.sessions.models import Session


def sessions_of_probes_forget(but: Iterable[str]) -> None:
    """Take away the sessions of probes with what is kept of their commands; the ledger keeps what they were.

    Args:
        but: keys of those that are needed still.
    """
    Session.objects.filter(environment__slug=PROBES).exclude(key__in=list(but)).delete()
