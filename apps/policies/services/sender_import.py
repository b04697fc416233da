"""Rules by sender from a table: what it would do, told row by row, and doing it whole or not at all."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.engine.dialect import Dialect, dialect_named
from apps.policies.actors import By, logged_as
from apps.policies.document.bulk import insert_all, update_lists
from apps.policies.document.findings import show_path
from apps.policies.document.sender_table import LISTS, Mistake, TableRow, read_table, text_meant
from apps.policies.errors import DocumentInvalidError
from apps.policies.lint.reach import sender_identity
from apps.policies.locks import draft_lock
from apps.policies.models import Agent, ChannelGroup, SenderRule
from apps.policies.places import Places
from apps.registry.models import Environment

OUTCOMES: Final = ("added", "changed", "unchanged", "refused")
DETAILS_LIMIT: Final = 200


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """What becomes of one row.

    Attributes:
        outcome: one of `OUTCOMES`.
        mistake: why it is refused.
        remark: what is to be known of a row that is taken.
    """

    line: int
    key: str
    outcome: str
    mistake: Mistake | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class SenderReport:
    """What a table does, or did; `counts` by outcome."""

    rows: tuple[RowOutcome, ...]
    counts: Mapping[str, int]
    is_applied: bool = False

    @property
    def may_be_applied(self) -> bool:
        return not self.counts["refused"] and bool(self.counts["added"] or self.counts["changed"])


def senders_check(
    environment: Environment, content: str | bytes, *, agent: Agent | None = None, group: ChannelGroup | None = None
) -> SenderReport:
    """Say what a table of rules would do to an agent, a group, or everybody; nothing is written.

    Raises:
        DocumentInvalidError: the table as a whole cannot be read.
    """
    return _Plan(environment, read_table(content), agent, group).report()


def senders_import(
    environment: Environment,
    content: str | bytes,
    *,
    by: By,
    agent: Agent | None = None,
    group: ChannelGroup | None = None,
) -> SenderReport:
    """Take a table of rules into the draft, whole or not at all; rules that it does not name stay.

    Doing it again changes nothing, so a job may begin anew.

    Raises:
        DocumentInvalidError: the table cannot be read, or rows are refused; nothing has changed.
    """
    rows = read_table(content)
    with transaction.atomic():
        environment = draft_lock(environment)
        plan = _Plan(environment, rows, agent, group)
        report = plan.report()
        refused = [row for row in report.rows if row.mistake is not None]
        if refused:
            raise DocumentInvalidError(_("the table has mistakes"), [_detail(row) for row in refused[:DETAILS_LIMIT]])
        if report.may_be_applied:
            with logged_as(by, reason="import"):
                plan.write()
            _tell(environment, by, plan.place(), report.counts)
        return SenderReport(report.rows, report.counts, is_applied=True)


def _misread(key: str) -> str:
    """Remark on a key that looks as if a program had read it in another encoding."""
    meant = text_meant(key)
    if not meant:
        return ""
    return _("looks like `%(key)s`, read in another encoding: save the file as CSV in UTF-8") % {"key": meant}


def _detail(row: RowOutcome) -> dict[str, str]:
    mistake = row.mistake or Mistake("", "", "")
    path = ".".join(part for part in (f"line {row.line}", mistake.field) if part)
    return {"path": path, "code": mistake.code, "message": mistake.message}


def _tell(environment: Environment, by: By, place: str, counts: Mapping[str, int]) -> None:
    announce("draft.changed", id=environment.pk, environment=environment.slug)
    changes = {"action": "import", "kind": "sender", "record": place, "counts": dict(counts)}
    entry_record(
        EntryDraft(kind=EntryKind.POLICY_CHANGE, actor=actor_of(by), environment=environment.slug, changes=changes)
    )


class _Plan:
    """The rows of a table beside the rules that are there."""

    def __init__(
        self, environment: Environment, rows: Iterable[TableRow], agent: Agent | None, group: ChannelGroup | None
    ) -> None:
        self.environment = environment
        self.agent, self.group = agent, group
        self.dialect: Dialect = dialect_named(environment.dialect)
        self.stored: dict[str, SenderRule] = {rule.key: rule for rule in self._scope()}
        self.added: list[TableRow] = []
        self.changed: list[SenderRule] = []
        self._lines: dict[str, int] = {}
        self._meant = {sender_identity(self.dialect, key): key for key in reversed(self.stored)}
        self._outcomes = tuple(self._outcome(row) for row in rows)

    def report(self) -> SenderReport:
        counted = Counter(row.outcome for row in self._outcomes)
        return SenderReport(self._outcomes, {outcome: counted[outcome] for outcome in OUTCOMES})

    def place(self) -> str:
        """Say where the rules stand."""
        rule = SenderRule(environment=self.environment, agent=self.agent, group=self.group)
        return show_path(Places(self.environment).of(rule))

    def write(self) -> None:
        """Write what is added and changed."""
        last = self._scope().aggregate(last=Max("position"))["last"]
        first = 0 if last is None else last + 1
        parents = {"environment": self.environment, "agent": self.agent, "group": self.group}
        made = [
            SenderRule(key=row.key, position=position, **parents, **row.lists)
            for position, row in enumerate(self.added, first)
        ]
        insert_all(SenderRule, made)
        update_lists(SenderRule, self.changed, LISTS)

    def _scope(self) -> Any:
        rows = SenderRule.objects.filter(environment=self.environment, agent=self.agent, group=self.group)
        return rows.order_by("position", "id")

    def _outcome(self, row: TableRow) -> RowOutcome:
        mistake = row.mistake or self._refusal(row)
        if mistake is not None:
            return RowOutcome(row.line, row.key, "refused", mistake)
        self._lines[row.key] = row.line
        identity = sender_identity(self.dialect, row.key)
        meant = self._meant.setdefault(identity, row.key)
        remark = _misread(row.key)
        if meant != row.key:
            remark = _("means the same sender as `%(key)s`") % {"key": meant}
        rule = self.stored.get(row.key)
        if rule is None:
            self.added.append(row)
            return RowOutcome(row.line, row.key, "added", None, remark)
        if all(getattr(rule, name) == names for name, names in row.lists.items()):
            return RowOutcome(row.line, row.key, "unchanged", None, remark)
        for name, names in row.lists.items():
            setattr(rule, name, names)
        if rule.allow and rule.also_allow:
            message = _("the rule has `allow` and would have `also_allow` beside it")
            return RowOutcome(row.line, row.key, "refused", Mistake("also_allow", "allow_and_also", message))
        rule.version += 1
        self.changed.append(rule)
        return RowOutcome(row.line, row.key, "changed", None, remark)

    def _refusal(self, row: TableRow) -> Mistake | None:
        if row.key in self._lines:
            message = _("line %(line)s has the same key") % {"line": self._lines[row.key]}
            return Mistake("key", "repeated", message)
        if not sender_identity(self.dialect, row.key):
            return Mistake("key", "never_reached", _("can match nobody"))
        return None
