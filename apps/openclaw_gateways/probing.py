"""The gateway that probes speak for: it exists while they run, and no list shows it."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import ApiToken
from apps.openclaw_gateways.models import GatewayCall, OpenClawGateway
from apps.registry.models import Environment


def gateway_for_probes(environment: Environment, token: ApiToken, *, at: datetime) -> OpenClawGateway:
    """Add the gateway of a token of probes."""
    return OpenClawGateway.objects.create(environment=environment, name="probe", token=token, enrolled_at=at)


@transaction.atomic
def gateway_forget(token: ApiToken) -> None:
    """Take away the gateway of a token of probes with its calls; the ledger keeps what they were."""
    GatewayCall.objects.filter(gateway__token=token).delete()
    OpenClawGateway.objects.filter(token=token).delete()
