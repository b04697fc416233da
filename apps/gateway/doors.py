"""Every way to run a call, and what is known of its record: what a page and programs show of the probes."""

from dataclasses import dataclass
from datetime import datetime

from kombu.exceptions import OperationalError as BrokerError

from apps.accounts.access import Permission, Principal, require
from apps.gateway.coverage import DOORS, STALE, probes_begin
from apps.gateway.errors import ProbesBusyError
from apps.gateway.models import DoorProbe

State = DoorProbe.State
NEVER, LOST = "never", "failed"


@dataclass(frozen=True, slots=True)
class Door:
    """One way to run a call. `why` says by a code why it stands as it does, empty where nothing is to be said."""

    name: str
    state: str
    why: str = ""
    probe: DoorProbe | None = None


def doors(at: datetime) -> list[Door]:
    """List every way to run a call as it stands now."""
    probes = {row.door: row for row in DoorProbe.objects.all()}
    return [_probed(name, probes.get(name), at) for name in DOORS]


def probes_ask(by: Principal, *, at: datetime) -> None:
    """Have every door tried now, by the worker.

    Raises:
        PermissionDeniedError.
        ProbesBusyError: they are tried already, or no worker can be asked.
    """
    from apps.gateway.tasks import probes_run_task  # tasks are above services

    require(by, Permission.AUDIT_MANAGE)
    if not probes_begin(by=str(by), at=at):
        raise ProbesBusyError("the doors are being tried already")
    try:
        probes_run_task.delay()
    except BrokerError as exc:
        DoorProbe.objects.filter(state=State.RUNNING).update(state=State.FAILED, reason="no_worker", finished_at=at)
        raise ProbesBusyError("no worker can be asked to try the doors") from exc


def is_running(shown: list[Door]) -> bool:
    return any(door.state == State.RUNNING for door in shown)


def unrecorded() -> list[str]:
    """Name the doors whose last probe the ledger does not hold whole: each is an alarm."""
    return list(DoorProbe.objects.filter(state=State.MISSING).order_by("door").values_list("door", flat=True))


def _probed(name: str, probe: DoorProbe | None, at: datetime) -> Door:
    if probe is None:
        return Door(name, NEVER, "not_yet")
    if probe.state == State.RUNNING and probe.started_at < at - STALE:
        return Door(name, LOST, "no_worker", probe)
    return Door(name, probe.state, probe.reason, probe)
