"""Who may see a gateway and its alarms, and who may enrol or revoke one."""

from uuid import UUID

from apps.accounts.access import Permission, Principal, may, may_environment, require
from apps.openclaw_gateways.errors import AlarmNotFoundError, GatewayNotFoundError
from apps.openclaw_gateways.models import Alarm, OpenClawGateway


def gateway_access(principal: Principal, gateway_id: UUID, *, write: bool = False) -> OpenClawGateway:
    """Give a gateway to who may see it, or with `write` to who may revoke it.

    Raises:
        GatewayNotFoundError: there is none, or its existence is not this principal's business.
        PermissionDeniedError: it may be seen but not changed.
    """
    found = OpenClawGateway.objects.select_related("environment", "token__created_by").filter(pk=gateway_id).first()
    if found is None or not may_environment(principal, found.environment.slug):
        raise GatewayNotFoundError("no such gateway")
    if not may(principal, Permission.POLICY_READ):
        raise GatewayNotFoundError("no such gateway")
    if write:
        require(principal, Permission.GATEWAYS_MANAGE)
    return found


def alarm_access(principal: Principal, alarm_id: UUID) -> Alarm:
    """Give an alarm to who may clear it.

    Raises:
        AlarmNotFoundError: there is none, or its existence is not this principal's business.
        PermissionDeniedError: it may be seen but not cleared.
    """
    found = Alarm.objects.select_related("gateway__environment").filter(pk=alarm_id).first()
    if found is None or not may_environment(principal, found.gateway.environment.slug):
        raise AlarmNotFoundError("no such alarm")
    if not may(principal, Permission.POLICY_READ):
        raise AlarmNotFoundError("no such alarm")
    require(principal, Permission.GATEWAYS_MANAGE)
    return found
