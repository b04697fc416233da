"""What probes asked: it is answered at once, and no list shows it."""

from django.db import transaction

from apps.approvals.models import Approval
from apps.registry.probing import PROBES


@transaction.atomic
def requests_of_probes_forget(actor: str) -> None:
    """Take away what a token of probes asked; the ledger keeps what it was."""
    Approval.objects.filter(environment__slug=PROBES, actor=actor).delete()
