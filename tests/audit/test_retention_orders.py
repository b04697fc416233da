"""Whatever order records are written, held, purged and erased in: floors and holds hold, and every chain verifies."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from apps.audit.errors import ErasureHeldError, RetentionInvalidError
from apps.audit.models import Content, Entry, Erasure, Hold
from apps.audit.retention.classes import retention_class, retention_set
from apps.audit.retention.erasing import erasure_request, erasure_run
from apps.audit.retention.holds import hold_lift, hold_place
from apps.audit.retention.purging import purge_run
from apps.audit.services import entries_record
from apps.audit.verification import verify_chains
from apps.firewall.identifiers import new_id
from tests.audit.drafts import denial, intent

SENDERS = ("7", "8")
CHANNEL = "telegram"
CLASSES = {"calls": intent, "denials": denial}
FLOOR_DAYS = 30


def now() -> datetime:
    return datetime.now(UTC)


class Ends(RuleBasedStateMachine):
    """What is written is known here by id; what may be gone is worked out from what was done, nothing else."""

    @initialize()
    def begin(self) -> None:
        self.run = new_id().hex  # what another run wrote of its senders is none of this one's
        self.written: dict[UUID, tuple[str, str, int]] = {}
        self.holds: list[tuple[Hold, str]] = []
        self.kept: dict[str, int | None] = dict.fromkeys((*CLASSES, "content"))
        self.erased: set[UUID] = set()
        for name in self.kept:
            retention_set(None, name, days=None, at=now())
        for hold in Hold.objects.filter(lifted_at=None):
            hold_lift(None, hold, reason="another run", at=now())

    @rule(name=st.sampled_from(sorted(CLASSES)), sender=st.sampled_from(SENDERS), days=st.sampled_from((0, 20, 40, 90)))
    def write(self, name: str, sender: str, days: int) -> None:
        at = now() - timedelta(days=days, minutes=1)
        said: dict[str, Any] = {"sender": f"{self.run}-{sender}", "session_key": f"{self.run}-s{sender}"}
        drafts = [CLASSES[name](**said, params={"n": n}, at=at) for n in range(2)]
        for receipt in entries_record(drafts):
            self.written[receipt.id] = (name, sender, days)

    @rule(name=st.sampled_from((*sorted(CLASSES), "content")), days=st.sampled_from((6, 29, 30, 60, None)))
    def keep(self, name: str, days: int | None) -> None:
        floor = retention_class(name).floor_days
        assert floor is not None
        if days is not None and days < floor:
            with pytest.raises(RetentionInvalidError):
                retention_set(None, name, days=days, at=now())
            return
        retention_set(None, name, days=days, at=now())
        self.kept[name] = days

    @rule(sender=st.sampled_from(SENDERS))
    def hold(self, sender: str) -> None:
        self.holds.append((hold_place(None, reason="case", sender=f"{self.run}-{sender}", at=now()), sender))

    @precondition(lambda self: self.holds)
    @rule()
    def lift(self) -> None:
        hold, _ = self.holds.pop()
        hold_lift(None, hold, reason="closed", at=now())

    @rule(name=st.sampled_from((*sorted(CLASSES), "content")))
    def purge(self, name: str) -> None:
        before = self.left()
        assert purge_run(name, at=now()).is_done
        after = self.left()
        for entry_id in before:
            of, sender, days = self.written[entry_id]
            limit = self.kept[name]
            may_go = limit is not None and days >= limit and sender not in self.held()
            is_meant = may_go and name in {of, "content"}
            has_entry, has_content = after.get(entry_id, (False, False))
            assert has_entry == (not (is_meant and name == of))
            assert has_content == (before[entry_id][1] and not is_meant)

    @rule(sender=st.sampled_from(SENDERS))
    def erase(self, sender: str) -> None:
        of_sender = {key for key in self.left() if self.written[key][1] == sender}
        if sender in self.held() and of_sender:
            with pytest.raises(ErasureHeldError):
                self.request(sender)
            return
        erasure = self.request(sender)
        assert erasure_run(erasure.pk, at=now())
        left = self.left()
        assert all(left[key] == (True, False) for key in of_sender)  # the entries stay, their contents are gone

    def request(self, sender: str) -> Erasure:
        return erasure_request(None, channel=CHANNEL, sender=f"{self.run}-{sender}", reason="asked to", at=now())

    @invariant()
    def nothing_young_is_gone(self) -> None:
        left = self.left()
        assert all(key in left for key, (_, _, days) in self.written.items() if days < FLOOR_DAYS)

    @invariant()
    def every_chain_verifies(self) -> None:
        report = verify_chains(processes=1)
        assert report.is_intact, report.problems

    def held(self) -> set[str]:
        return {sender for _, sender in self.holds}

    def left(self) -> dict[UUID, tuple[bool, bool]]:
        entries = Entry.objects.filter(id__in=list(self.written)).values_list("id", flat=True)
        contents = set(Content.objects.filter(entry_id__in=list(self.written)).values_list("entry_id", flat=True))
        return {key: (True, key in contents) for key in entries}


@pytest.mark.usefixtures("transactional_db", "empty_ledger", "fresh_writer")
@pytest.mark.slow
def test_floors_and_holds_hold_in_any_order() -> None:
    chosen: Any = hypothesis_settings(max_examples=8, stateful_step_count=12, deadline=None, derandomize=True)
    run_state_machine_as_test(Ends, settings=chosen)  # each step asserts what may be gone, and that the rest is there
    report = verify_chains(processes=1)
    assert report.is_intact, report.problems
