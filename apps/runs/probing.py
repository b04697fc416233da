"""The runs of probes: each lives as long as its probe, and no list shows it."""

from apps.registry.probing import PROBES
from apps.runs.models import ToolRun


def runs_of_probes_forget() -> None:
    """Take away the runs of probes; the ledger keeps what was called in them."""
    ToolRun.objects.filter(environment__slug=PROBES).delete()
