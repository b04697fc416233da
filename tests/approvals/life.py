"""The machine that drives the life of approvals: asking, repeating, answering, waiting, sweeping, running.

Rows and files are real; beside them runs a model that knows what must be. Each of its complaints has words of its own:
a rule that is missing is found by the complaint that is meant for it.
"""

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from apps.accounts.models import ApiToken, User
from apps.approvals.drafts import ApprovalDraft, GrantScope
from apps.approvals.errors import (
    ApprovalAlreadyDecidedError,
    ApprovalCancelledError,
    ApprovalClaimedError,
    ApprovalExpiredError,
    ApprovalFrozenError,
    ApprovalNotAllowedError,
    ApprovalSupersededError,
    OwnRequestError,
)
from apps.approvals.freezing import approvals_freeze
from apps.approvals.models import Approval, Grant
from apps.approvals.running import CLAIM_WINDOW, approval_claim, approval_drifted, approval_finish
from apps.approvals.selectors import approvals_pending, grants_for
from apps.approvals.services import (
    approval_cancel,
    approval_request,
    approval_resolve,
    approval_supersede,
    approvals_expire,
)
from apps.approvals.states import ALLOWED, STATE_OF, TRANSITIONS, Decision, State
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.call import Action
from apps.firewall.runtime.executors.identifying import identities
from apps.firewall.runtime.stages import binding
from apps.registry.models import Environment

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
REFUSALS = (ApprovalAlreadyDecidedError, ApprovalExpiredError, ApprovalCancelledError, ApprovalSupersededError)
SHELL = "/bin/sh"
REQUESTER = 3
FEW = 2  # requests, so that much happens to each

TWICE = "a request was answered twice"
LATE = "an answer counted after the deadline"
OWN = "somebody allowed their own call"
STOPPED = "something was allowed while it was stopped"
CHANGED = "something ran that is not what was asked about"
ENDED_GRANT = "a grant matched after its end"
ASTRAY = "a row is not as the model says"


APPROVALS = Bundle("approvals")
EVENTS: dict[str, "Event"] = {}


@dataclass(frozen=True, slots=True)
class Event:
    """One kind of thing that happens, with what it may choose from: the requests there are, or values.

    Args:
        below: it makes a request, while there are fewer than this.
    """

    choices: Mapping[str, Bundle[Any] | Sequence[Any]]
    below: int | None


def event(*, below: int | None = None, **choices: Bundle[Any] | Sequence[Any]) -> Callable[[Any], Any]:
    """Make a method a rule of the machine, and known to lives that are lived without it."""
    drawn: dict[str, Any] = {
        name: each if isinstance(each, Bundle) else st.sampled_from(each) for name, each in choices.items()
    }

    def mark(method: Any) -> Any:
        EVENTS[method.__name__] = Event(choices, below)
        if below is None:
            happening: Any = rule(**drawn)
            return happening(method)
        asking: Any = rule(target=APPROVALS, **drawn)
        while_few: Any = precondition(lambda self: len(self.state) < below)
        return while_few(asking(method))

    return mark


class LifeOfApprovals(RuleBasedStateMachine):
    """Several requests, three operators and the requester, runners that come and go, one clock; a model beside it."""

    approvals = APPROVALS

    def __init__(self) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = START
        self.state: dict[UUID, State] = {}
        self.deadline: dict[UUID, datetime] = {}
        self.frozen: dict[UUID, datetime] = {}
        self.decided_at: dict[UUID, datetime] = {}
        self.asked: dict[UUID, str] = {}
        self.taken: set[UUID] = set()
        self.finished: set[UUID] = set()
        self.grant_ends: dict[UUID, datetime] = {}

    @initialize()
    def people(self) -> None:
        self.environment = Environment.objects.create(slug=f"e{new_id().hex[-12:]}", name="E")
        self.people_ = [User.objects.create(username=f"o{new_id().hex[-12:]}", role="operator") for _ in range(4)]
        self.token = ApiToken.objects.create(
            name="agent", secret_hash=new_id().hex, created_by=self.people_[REQUESTER], scopes=["calls_make"]
        )

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)
        self.folder.cleanup()

    @event(below=FEW, timeout_s=(300, 60, 900))
    def ask(self, timeout_s: int) -> Any:
        name = f"{len(self.state)}.sh"
        Path(self.folder.name, name).write_text("echo 0")
        return self._ask(name, timeout_s)

    @event(below=2 * FEW, approval=APPROVALS, timeout_s=(300, 60, 900))
    def ask_again(self, approval: Approval, timeout_s: int) -> Any:
        """Repeat a question: it joins what waits unless something about it has changed."""
        waiting = [
            pk
            for pk, state in self.state.items()
            if state is State.REQUESTED and Approval.objects.get(pk=pk).argv == approval.argv
        ]
        again = self._ask(approval.argv[1], timeout_s, is_new=False)
        for pk in waiting:
            if not self._is_in_time(pk):
                self._move(pk, State.EXPIRED)
            elif self.asked[pk] != self._content(approval.argv[1]):
                self._move(pk, State.SUPERSEDED)
            else:
                assert again.pk == pk, ASTRAY
        if again.pk not in self.state:
            self._keep(again)
        return again

    @event(seconds=(1, 59, 60, 240, 1000))
    def wait(self, seconds: int) -> None:
        self._let_pass(seconds)

    @event(
        approval=APPROVALS,
        who=range(4),
        decision=(Decision.ALLOW_ALWAYS, Decision.ALLOW_ONCE, Decision.DENY),
        days=(1, None),
    )
    def answer(self, approval: Approval, who: int, decision: Decision, days: int | None) -> None:
        before, wanted = self.state[approval.pk], STATE_OF[decision]
        scope = GrantScope(days=days) if decision is Decision.ALLOW_ALWAYS else None
        by = self.people_[who]
        try:
            answered = approval_resolve(approval, decision=decision, by=by, at=self.now, scope=scope)
        except OwnRequestError:
            assert who == REQUESTER and decision is not Decision.DENY
            return
        except ApprovalFrozenError:
            assert approval.pk in self.frozen and decision is not Decision.DENY
            return
        except ApprovalClaimedError as exc:  # what was sealed is gone: it had been answered before
            raise AssertionError(TWICE) from exc
        except REFUSALS:
            assert before is not wanted and (before is not State.REQUESTED or not self._is_in_time(approval.pk))
            return
        assert before in {State.REQUESTED, wanted}, TWICE
        assert before is wanted or self._is_in_time(approval.pk), LATE
        assert before is wanted or who != REQUESTER or decision is Decision.DENY, OWN
        assert approval.pk not in self.frozen or decision is Decision.DENY, STOPPED
        assert answered.state == wanted
        if before is State.REQUESTED:
            self._move(approval.pk, wanted)
            for grant in Grant.objects.filter(approval=approval):
                self.grant_ends[grant.pk] = (
                    datetime.max.replace(tzinfo=UTC) if days is None else self.now + timedelta(days)
                )

    @event()
    def sweep(self) -> None:
        due = {pk for pk in self._waiting() if not self._is_in_time(pk)}
        assert approvals_expire(self.now) == len(due), LATE
        for pk in due:
            self._move(pk, State.EXPIRED)

    @event(is_stopped=(True, False))
    def stop(self, is_stopped: bool) -> None:
        """Press the kill switch, or lift it: the time of what waits stands still, and goes on where it stood."""
        held = Q(agent="bot") if is_stopped else Q()
        freezing = {pk for pk in self._waiting() if is_stopped and pk not in self.frozen and self._is_in_time(pk)}
        assert approvals_freeze(self.environment, held, at=self.now) == len(freezing), ASTRAY
        if is_stopped:
            self.frozen |= dict.fromkeys(freezing, self.now)
            return
        for pk, since in self.frozen.items():
            self.deadline[pk] += self.now - since
        self.frozen.clear()

    @event(approval=APPROVALS, is_cancelled=(False, True))
    def withdraw(self, approval: Approval, is_cancelled: bool) -> None:
        was = self.state[approval.pk]
        if is_cancelled:
            approval_cancel(approval, at=self.now)
        else:
            assert approval_supersede(approval, reason="the policy changed", at=self.now) == (was is State.REQUESTED)
        if was is State.REQUESTED:
            self._move(approval.pk, State.CANCELLED if is_cancelled else State.SUPERSEDED)

    def change_the_script(self, approval: Approval) -> None:
        path = Path(self.folder.name, approval.argv[1])
        path.write_text(f"{path.read_text()}1")

    @event(approval=APPROVALS)
    def change(self, approval: Approval) -> None:
        self.change_the_script(approval)

    @event(approval=APPROVALS, is_changed=(False, True))
    def run(self, approval: Approval, is_changed: bool) -> None:
        """Take an allowed action as a runner does, and run it if nothing has changed, also in the last moment."""
        if is_changed:
            self.change_the_script(approval)
        pk = approval.pk
        is_allowed = self.state[pk] in ALLOWED and self.now < self.decided_at[pk] + CLAIM_WINDOW
        try:
            claim = approval_claim(pk, boot=new_id(), at=self.now)
        except (ApprovalNotAllowedError, ApprovalClaimedError):
            assert not is_allowed or pk in self.taken or pk in self.finished
            return
        assert is_allowed and pk not in self.taken and pk not in self.finished, "an action was taken twice"
        self.taken.add(pk)
        parts = binding.changed_parts(Action.from_json(claim.action), self._action(approval.argv[1], approval.call_id))
        if parts:
            approval_drifted(pk, parts=parts)
            return
        assert self._content(approval.argv[1]) == self.asked[pk], CHANGED

    @event(approval=APPROVALS)
    def finish(self, approval: Approval) -> None:
        approval_finish(approval.pk, at=self.now)
        if self.state[approval.pk] is not State.REQUESTED:
            self.finished.add(approval.pk)

    @event()
    def restart(self) -> None:
        """A process that starts anew reads what waits: every request, each with its deadline."""
        found = {each.pk: each.expires_at for each in approvals_pending(self.environment)}
        assert found == {pk: self.deadline[pk] for pk, state in self.state.items() if state is State.REQUESTED}

    @event()
    def days_pass(self) -> None:
        self._let_pass(2 * 86_400)

    def _waiting(self) -> list[UUID]:
        return [pk for pk, state in self.state.items() if state is State.REQUESTED]

    def _is_in_time(self, pk: UUID) -> bool:
        return pk in self.frozen or self.now < self.deadline[pk]

    def _let_pass(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        self._look_for_grants()

    def _look_for_grants(self) -> None:
        found = {grant.pk for grant in grants_for(self.environment, "bot", at=self.now)}
        assert found <= self.grant_ends.keys()
        assert all(self.now < self.grant_ends[pk] for pk in found), ENDED_GRANT
        assert found == {pk for pk, end in self.grant_ends.items() if self.now < end}

    @invariant()
    def rows_are_as_the_model_says(self) -> None:
        for approval in Approval.objects.filter(pk__in=self.state):
            assert approval.state == self.state[approval.pk], ASTRAY
            assert (approval.decided_at is None) == (approval.state == State.REQUESTED)
            assert (approval.claimed_at is not None) == (approval.pk in self.taken), ASTRAY
            if approval.is_pending:
                assert approval.expires_at == self.deadline[approval.pk], ASTRAY
                assert approval.frozen_at == self.frozen.get(approval.pk), ASTRAY
            if approval.state not in ALLOWED and not approval.is_pending:
                assert approval.sealed_action is None

    @invariant()
    def each_end_is_told_once_and_each_always_is_granted_once(self) -> None:
        ended = [pk for pk, state in self.state.items() if state is not State.REQUESTED]
        kinds = ["approval_answered", "approval_expired", "approval_cancelled", "approval_superseded"]
        assert Entry.objects.filter(approval_id__in=self.state, kind__in=kinds).count() == len(ended), TWICE
        always = [pk for pk, state in self.state.items() if state is State.ALLOWED_ALWAYS]
        assert Grant.objects.filter(approval_id__in=self.state).count() == len(always), TWICE

    def _ask(self, script: str, timeout_s: int, *, is_new: bool = True) -> Approval:
        call_id = new_id()
        action = self._action(script, call_id)
        approval = approval_request(
            ApprovalDraft(
                environment=self.environment,
                call_id=call_id,
                kind="exec",
                tool="exec",
                action=action.to_json(),
                agent="bot",
                actor=self.token.actor,
                requester=self.people_[REQUESTER].actor,
                question={"session": "agent:bot:main", "argv": action.argv},
                argv=action.argv or (),
                resolved_path=SHELL,
            ),
            at=self.now,
            timeout_s=timeout_s,
        )
        if is_new:
            self._keep(approval)
        return approval

    def _keep(self, approval: Approval) -> None:
        self.state[approval.pk] = State.REQUESTED
        self.deadline[approval.pk] = approval.expires_at
        self.asked[approval.pk] = self._content(approval.argv[1])

    def _content(self, script: str) -> str:
        return Path(self.folder.name, script).read_text()

    def _action(self, script: str, call_id: UUID) -> Action:
        argv = ["sh", script]
        return Action(
            call_id=str(call_id),
            environment=self.environment.slug,
            agent="bot",
            actor=self.token.actor,
            requester=self.people_[REQUESTER].actor,
            trace_id="",
            tool="exec",
            params={"command": f"sh {script}"},
            context={"session_key": "agent:bot:main"},
            snapshot="",
            argv=argv,
            executable=SHELL,
            cwd=self.folder.name,
            files=identities(SHELL, argv, self.folder.name),
        )

    def _move(self, pk: UUID, state: State) -> None:
        assert state in TRANSITIONS[self.state[pk]], ASTRAY
        self.state[pk] = state
        self.decided_at[pk] = self.now
        self.frozen.pop(pk, None)


def live(mind: Random, *, steps: int, events: Collection[str] = EVENTS) -> None:
    """Live one life of these events, each choice by this mind, looking after each whether all is as it must be.

    Unlike a search of Hypothesis it depends on nothing but the seed: not on what else is loaded or was found before.
    """
    machine = LifeOfApprovals()
    approvals: list[Approval] = []
    try:
        machine.people()
        for _ in range(steps):
            name = mind.choice([name for name in events if _is_possible(EVENTS[name], machine, approvals)])
            chosen = {
                part: mind.choice(approvals if isinstance(each, Bundle) else each)
                for part, each in EVENTS[name].choices.items()
            }
            made = getattr(machine, name)(**chosen)
            approvals += [] if made is None else [made]
            machine.rows_are_as_the_model_says()
            machine.each_end_is_told_once_and_each_always_is_granted_once()
    finally:
        machine.teardown()


def _is_possible(event: Event, machine: LifeOfApprovals, approvals: list[Approval]) -> bool:
    has_room = event.below is None or len(machine.state) < event.below
    return has_room and bool(approvals or APPROVALS not in event.choices.values())
