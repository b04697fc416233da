"""When people first looked at requests: what their tempo is measured from."""

from datetime import datetime

from apps.accounts.models import User
from apps.approvals.models import Approval, Look


def approval_looked_at(approval: Approval, *, by: User, at: datetime) -> None:
    """Keep the first look of a person at a request; later ones change nothing."""
    Look.objects.bulk_create([Look(approval=approval, person=by, at=at)], ignore_conflicts=True)
