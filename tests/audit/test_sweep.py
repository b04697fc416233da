"""Intents whose process is gone get one outcome: unknown."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection, connections

from apps.audit.models import Boot, Content, Entry
from apps.audit.sealing import seal_entry
from apps.audit.services import entry_record, sweep_orphans
from apps.audit.writer import Writer
from apps.firewall.identifiers import new_id
from tests.audit.drafts import denial, intent, outcome

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_ledger")]

PROCESS = """
import os, sys, django
django.setup()
from django.db import connections
settings = connections["default"].settings_dict
settings["NAME"] = sys.argv[1]
if sys.argv[2]:
    settings["OPTIONS"]["options"] = sys.argv[2]
from apps.audit.services import entry_record
from tests.audit.drafts import intent
from uuid import UUID
entry_record(intent(UUID(sys.argv[3]), approval_id=None))
os.kill(os.getpid(), 9)
"""


def later() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=5)


def outcomes(call_id: UUID) -> list[str]:
    return list(Entry.objects.filter(call_id=call_id, kind="call_outcome").values_list("status", flat=True))


def record(process: Writer, *drafts: object) -> None:
    for draft in drafts:
        process.submit(seal_entry(draft)).result(timeout=60)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_call_of_a_killed_process_ends_as_unknown() -> None:
    call_id = new_id()
    settings = connections["default"].settings_dict
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "openclaw_admin.settings"}
    arguments = [settings["NAME"], settings["OPTIONS"].get("options", ""), str(call_id)]
    killed = subprocess.run([sys.executable, "-c", PROCESS, *arguments], env=environment, check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert sweep_orphans(datetime.now(UTC) - timedelta(minutes=5)) == 0
    assert sweep_orphans(later()) == 1
    assert outcomes(call_id) == ["unknown"]


def test_an_orphan_keeps_what_its_intent_said(another_process: Writer) -> None:
    call = intent(trace_id="4bf92f")
    record(another_process, call)
    sweep_orphans(later())
    ended = Entry.objects.get(call_id=call.call_id, kind="call_outcome")
    assert (ended.agent, ended.tool, ended.session_key) == ("bot", "read", "agent:bot:main")
    assert (ended.snapshot_digest, ended.trace_id, ended.actor) == ("9f3c", "4bf92f", "system")
    error = Content.objects.get(entry_id=ended.id).error
    assert error is not None and error["code"] == "process_gone"


def test_a_call_that_ended_is_left_alone(another_process: Writer) -> None:
    ran, refused = intent(), intent()
    assert ran.call_id is not None and refused.call_id is not None
    record(another_process, ran, outcome(ran.call_id), refused, denial(refused.call_id))
    assert sweep_orphans(later()) == 0


def test_a_process_with_a_running_lease_is_left_alone(another_process: Writer) -> None:
    call = intent()
    record(another_process, call)
    assert sweep_orphans(datetime.now(UTC)) == 0


def test_the_sweeper_never_ends_its_own_process() -> None:
    receipt = entry_record(intent())
    assert sweep_orphans(later()) == 0
    assert Boot.objects.get(id=receipt.chain_id).ended_at is None


def test_a_process_that_said_good_bye_is_swept_at_once() -> None:
    call = intent()
    process = Writer()
    record(process, call)
    process.close()
    assert sweep_orphans(datetime.now(UTC)) == 1


def test_sweeping_again_finds_nothing(another_process: Writer) -> None:
    call = intent()
    record(another_process, call)
    assert [sweep_orphans(later()), sweep_orphans(later())] == [1, 0]
    assert call.call_id is not None
    assert outcomes(call.call_id) == ["unknown"]


def test_two_sweepers_that_race_write_each_outcome_once(another_process: Writer) -> None:
    calls = [intent() for _ in range(20)]
    record(another_process, *calls)

    def sweep(_: int) -> int:
        try:
            return sweep_orphans(later())
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as sweepers:
        swept = list(sweepers.map(sweep, range(4)))
    assert sum(swept) == 20
    assert all(call.call_id is not None and outcomes(call.call_id) == ["unknown"] for call in calls)


def test_a_process_that_was_only_slow_goes_on_in_a_new_chain(another_process: Writer) -> None:
    call = intent()
    assert call.call_id is not None
    record(another_process, call)
    first = another_process.boot_id
    sweep_orphans(later())
    record(another_process, outcome(call.call_id))
    assert another_process.boot_id != first
    assert sorted(outcomes(call.call_id)) == ["completed", "unknown"]
