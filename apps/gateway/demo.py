"""The demo as a whole: what it brought and what its scripted agents did, seen before it goes, and removed at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.access import Permission, Principal, actor_of, require
from apps.accounts.models import ApiToken
from apps.accounts.services.tokens import token_end
from apps.approvals.models import Approval
from apps.approvals.selectors import approvals_pending
from apps.approvals.services import approval_cancel
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.models import Entry
from apps.audit.services import entry_record
from apps.policies.demo_records import DemoRecords, DemoStay, demo_records
from apps.policies.selectors import live_publication
from apps.policies.services.demo import demo_records_remove
from apps.registry.models import Environment
from apps.registry.services import environment_default
from apps.runs.models import ToolRun
from apps.sessions.models import Session

AGENTS_NAME: Final = "demo agents"
GONE: Final = "the demo was removed"
_OF_NOBODY: Final = ("", "system")


@dataclass(frozen=True, slots=True)
class Demo:
    """What of the demo goes, and what of it stays.

    Attributes:
        goes: how many of each kind: of records, and `token`, `run`, `waiting`, `session`.
        live: the publication that is live and speaks of agents of the demo; empty when none does.
    """

    goes: Mapping[str, int]
    stays: tuple[DemoStay, ...]
    live: str

    @property
    def is_here(self) -> bool:
        return bool(self.goes or self.stays)


def demo_found(environment: Environment) -> Demo:
    """Say what removing the demo would do; nothing is written."""
    return _told(environment, demo_records(environment), _Traces(environment).counts)


def demo_remove(environment: Environment, *, by: Principal | None, at: datetime) -> Demo:
    """Remove the demo in one transaction: its records that nobody changed, and what its scripted agents left.

    What the ledger holds stays, and so do publications: both are only ever added to. Doing it again changes nothing.

    Args:
        by: None at the command line.
    Returns:
        What went, and what stayed.
    Raises:
        PermissionDeniedError.
    """
    if by is not None:
        require(by, Permission.POLICY_WRITE)
    with transaction.atomic():
        records = demo_records_remove(environment, by=by)
        told = _told(environment, records, _Traces(environment).remove(at))
        if told.goes:
            changes = {"action": "remove", "kind": "demo", "counts": dict(told.goes), "stays": len(told.stays)}
            entry_record(
                EntryDraft(
                    kind=EntryKind.POLICY_CHANGE,
                    actor=actor_of(by),
                    environment=environment.slug,
                    changes=changes,
                )
            )
    return told


def _told(environment: Environment, records: DemoRecords, traces: Mapping[str, int]) -> Demo:
    live = live_publication(environment)
    speaks = live is not None and not records.agents.isdisjoint(_agents_of(live.document))
    return Demo({**records.counts, **traces}, records.stays, str(live) if speaks else "")


def _agents_of(document: Mapping[str, Any]) -> set[str]:
    agents: Mapping[str, Any] = document.get("agents") or {}
    listed = {str(each.get("id", "")) for each in agents.get("list") or ()}
    return listed | set(agents.get("entries") or {})


class _Traces:
    """What the scripted agents left, beside the ledger: only the command line makes tokens of that name for nobody."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        # They call in the first environment; their tokens are good for all.
        played = environment_default().pk == environment.pk
        self.tokens = list(ApiToken.objects.filter(name=AGENTS_NAME, created_by=None)) if played else []
        self.actors = [token.actor for token in self.tokens]

    @property
    def counts(self) -> dict[str, int]:
        found = {
            "token": len(self.tokens),
            "run": self._runs().count(),
            "waiting": self._waiting().count(),
            "session": len(self._sessions()),
        }
        return {kind: number for kind, number in found.items() if number}

    def remove(self, at: datetime) -> dict[str, int]:
        counts, sessions = self.counts, self._sessions()
        for approval in self._waiting():
            approval_cancel(approval, at=at, reason=GONE)
        Session.objects.filter(pk__in=sessions).delete()
        self._runs().delete()
        for token in self.tokens:
            token_end(token, at=at).delete()
        return counts

    def _runs(self) -> QuerySet[ToolRun]:
        return ToolRun.objects.filter(environment=self.environment, actor__in=self.actors)

    def _waiting(self) -> QuerySet[Approval]:
        return approvals_pending(self.environment).filter(actor__in=self.actors)

    def _sessions(self) -> list[Any]:
        """Those in which nobody else has called."""
        keys = set(self._runs().order_by().values_list("session_key", flat=True).distinct())
        others = Entry.objects.filter(environment=self.environment.slug, session_key__in=keys)
        others = others.exclude(actor__in=[*self.actors, *_OF_NOBODY]).filter(call_id__isnull=False)
        keys -= set(others.values_list("session_key", flat=True).distinct())
        found = Session.objects.filter(environment=self.environment, key__in=keys)
        return list(found.values_list("pk", flat=True))
