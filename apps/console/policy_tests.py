"""What the pages of policy tests show: rows with the answers of draft and live, a case that is typed, coverage."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.audit.selectors import call_record
from apps.console.policy_test_forms import LAYERS, PolicyTestForm, context_initial, suggested_name
from apps.console.record_pages import record_url
from apps.console.situations import Situation, situation_of
from apps.firewall.engine.context import CallContext, ContextError
from apps.firewall.engine.snapshot import Snapshot, SnapshotError
from apps.firewall.identifiers import read_id, show_id
from apps.firewall.runtime.cases import CASE_LAYERS, CaseAnswer, PolicyCase, answer_case
from apps.firewall.runtime.executors.workspaces import HostFiles
from apps.policies.covering import CoveredRecord
from apps.policies.proving import ProofRun, ProvenCase, policy_tests, policy_tests_known, policy_tests_run
from apps.policies.recorded_cases import case_fields
from apps.policies.selectors import draft_snapshot, live_snapshot

if TYPE_CHECKING:
    from apps.policies.models import PolicyTest
    from apps.registry.models import Environment

    # Views take the type from here: models are not theirs.
    TestRecord: TypeAlias = PolicyTest

SHOWN: Final = 100
RECORDS_SHOWN: Final = 12
FILTERS: Final[Mapping[str, Promise]] = {
    "": _("All"),
    "failing": _("Failing"),
    "passing": _("Passing"),
    "off": _("Off"),
}
KINDS: Final[Mapping[str, Promise]] = {
    "global": _("Global"),
    "profile": _("Profiles"),
    "agent": _("Agents"),
    "provider": _("Providers"),
    "group": _("Channel groups"),
    "sender": _("Rules by sender"),
    "exec": _("Exec settings"),
    "allowlist": _("Allowlist entries"),
    "permission_grant": _("Permissions"),
}
KIND_TONES: Final[Mapping[str, str]] = {"allowed": "allow", "denied": "deny", "asks": "ask"}


@dataclass(frozen=True, slots=True)
class ShownCase:
    """What one snapshot answers to a case, in the words of the page."""

    answer: CaseAnswer
    has_passed: bool | None = None

    @property
    def tone(self) -> str:
        return KIND_TONES[self.answer.verdict]

    @property
    def layer(self) -> Promise | str:
        return LAYERS.get(self.answer.layer, self.answer.layer)


@dataclass(frozen=True, slots=True)
class TestRow:
    """One policy test in the list; what it is answered, where it is asked."""

    record: "PolicyTest"
    where: str
    draft: ShownCase | None
    live: ShownCase | None

    @property
    def tone(self) -> str:
        return KIND_TONES[self.record.verdict]

    @property
    def layer(self) -> Promise | str:
        return LAYERS.get(self.record.layer, self.record.layer)


@dataclass(frozen=True, slots=True)
class TestsShown:
    """The list: what is found of all of them, and how they stand."""

    rows: Sequence[TestRow]
    total: int
    found: int
    draft: ProofRun | None
    live: ProofRun | None
    shown: str = ""
    query: str = ""
    filters: Sequence[tuple[str, Promise]] = field(default_factory=lambda: tuple(FILTERS.items()))

    @property
    def passed(self) -> int:
        return 0 if self.draft is None else len(self.draft.cases) - len(self.draft.failed)


def tests_shown(environment: "Environment", *, shown: str, query: str, is_all: bool = False) -> TestsShown:
    """List policy tests with what draft and live answer to them.

    Args:
        shown: one of `FILTERS`; anything else means all of them.
        query: letters of name or tool.
        is_all: more than fit on a page, too.
    """
    shown = shown if shown in FILTERS else ""
    records = list(policy_tests(environment))
    draft, live = _draft_run(environment, records), _live_run(environment, records)
    drafted, lived = _by_test(draft), _by_test(live)
    found = [
        record for record in records if _is_wanted(record, drafted.get(record.pk), shown) and _is_named(record, query)
    ]
    rows = [
        TestRow(record, where_of(record.context), _shown(drafted.get(record.pk)), _shown(lived.get(record.pk)))
        for record in (found if is_all else found[:SHOWN])
    ]
    return TestsShown(rows, len(records), len(found), draft, live, shown, query)


def draft_run(environment: "Environment") -> ProofRun | None:
    """Ask the draft every policy test; None while it has no canonical form."""
    return _draft_run(environment, list(policy_tests(environment)))


def _draft_run(environment: "Environment", records: Sequence["PolicyTest"]) -> ProofRun | None:
    try:
        return policy_tests_known(draft_snapshot(environment), records)
    except SnapshotError:
        return None


def _live_run(environment: "Environment", records: Sequence["PolicyTest"]) -> ProofRun | None:
    live = live_snapshot(environment)
    return None if live is None else policy_tests_known(live, records)


def _by_test(run: ProofRun | None) -> dict[UUID, ProvenCase]:
    return {} if run is None else {case.test.pk: case for case in run.cases}


def _shown(case: ProvenCase | None) -> ShownCase | None:
    return None if case is None else ShownCase(case.answer, case.has_passed)


def _is_wanted(record: "PolicyTest", case: ProvenCase | None, shown: str) -> bool:
    if shown == "off":
        return not record.is_enabled
    if shown in {"failing", "passing"}:
        return case is not None and case.has_passed is (shown == "passing")
    return True


def _is_named(record: "PolicyTest", query: str) -> bool:
    return query.casefold() in f"{record.name}\n{record.tool}".casefold()


def where_of(context: Mapping[str, Any]) -> str:
    """Say in a few words in which context a case is asked."""
    read = CallContext.from_json(context)
    situation = situation_of(read)
    if situation is not None:
        return situation.title
    parts = (read.agent_id, read.session_key, read.channel, read.sender_id)
    return " · ".join(part for part in parts if part)


def failing_rows(run: ProofRun | None) -> list[TestRow]:
    """Give the rows of the tests that a snapshot fails."""
    failed = [] if run is None else run.failed
    return [TestRow(case.test, where_of(case.test.context), _shown(case), None) for case in failed]


# --- one test ---


@dataclass(frozen=True, slots=True)
class CaseTrial:
    """A case as it is typed, asked of draft and live; `mistake` where it cannot be."""

    draft: ShownCase | None = None
    live: ShownCase | None = None
    mistake: str = ""


def case_trial(environment: "Environment", form: PolicyTestForm) -> CaseTrial:
    """Ask draft and live the case that a form holds, as far as it is filled in."""
    case = _typed(form)
    if case is None:
        return CaseTrial()
    try:
        context = CallContext.from_json(case["context"])
    except ContextError as error:
        return CaseTrial(mistake=error.message)
    asked = PolicyCase(
        name="", context=context, tool=case["tool"], verdict=case["verdict"], params=case["params"], layer=case["layer"]
    )
    live = live_snapshot(environment)
    return CaseTrial(
        draft=_answered(draft_snapshot(environment), asked),
        live=None if live is None else _answered(live, asked),
    )


def _typed(form: PolicyTestForm) -> dict[str, Any] | None:
    """Give what is needed to ask; None while the form does not say it."""
    if form.is_bound:
        form.is_valid()  # reads what was sent, unless that is done: a refusal of the service stays
        given = form.cleaned_data
        names = ("tool", "verdict", "params", "layer", "context")
        return {name: given[name] for name in names} if all(name in given for name in names) else None
    initial = form.initial
    if not initial.get("tool"):
        return None
    context = initial.get("context") or initial["situation"].context().to_json()
    texts = {"verdict": initial.get("verdict") or "denied", "layer": initial.get("layer") or ""}
    return {"tool": initial["tool"], "params": initial.get("params"), "context": context, **texts}


def _answered(snapshot: Snapshot, case: PolicyCase) -> ShownCase:
    answer = answer_case(snapshot, case, files=HostFiles())
    is_right = case.verdict == answer.verdict and case.layer in ("", answer.layer)
    return ShownCase(answer, is_right)


def call_initial(environment: "Environment", call: str) -> dict[str, Any] | None:
    """Fill the form from a recorded call of an environment; None when there is none."""
    try:
        record = call_record(read_id("call", call))
    except ValueError:
        return None
    if record is None or record.environment != environment.slug:
        return None
    fields = case_fields(record, live_snapshot(environment))
    context = CallContext.from_json(fields.pop("context"))
    found = context_initial(context)
    name = suggested_name(record.tool, found["situation"], fields["verdict"])
    lacks = sorted(record.context.lacks) if record.context.lacks else []
    return found | fields | {"call": show_id("call", record.id), "origin": "call", "name": name, "lacks": lacks}


def situation_initial(environment: "Environment", given: Mapping[str, str]) -> dict[str, Any]:
    """Fill the form from a situation and a tool of the explorer, with the verdict that is answered now.

    Raises:
        ContextError: the situation cannot be read.
    """
    situation, tool = Situation.read(given), given.get("tool", "")[:512]
    found: dict[str, Any] = {"situation": situation, "tool": tool, "verdict": "denied"}
    if not tool:
        return found
    live = live_snapshot(environment)
    snapshot = draft_snapshot(environment) if given.get("at") == "draft" or live is None else live
    case = PolicyCase(name="", context=situation.context(), tool=tool, verdict="denied")
    answer = answer_case(snapshot, case, files=HostFiles())
    layer = answer.layer if answer.layer in CASE_LAYERS else ""
    name = suggested_name(tool, situation, answer.verdict)
    return found | {"verdict": answer.verdict, "layer": layer, "name": name, "origin": "explorer"}


def origin_of(environment: "Environment", origin: str, call: str) -> dict[str, Any]:
    """Say what a new test is made from, as far as it is true."""
    if origin == "call":
        try:
            record = call_record(read_id("call", call))
        except ValueError:
            record = None
        if record is not None and record.environment == environment.slug:
            return {"origin": "call", "call": record.id}
    return {"origin": "explorer"} if origin == "explorer" else {}


# --- coverage ---


@dataclass(frozen=True, slots=True)
class CoveredRow:
    record: CoveredRecord
    url: str


@dataclass(frozen=True, slots=True)
class CoveredKind:
    """The records of one kind: how many decided a case, the busiest of those, and the first that decided none."""

    label: Promise | str
    total: int
    count: int
    covered: Sequence[CoveredRow]
    without: Sequence[CoveredRow]

    @property
    def percent(self) -> int:
        return round(100 * self.count / self.total)

    @property
    def left(self) -> int:
        return self.total - self.count - len(self.without)


def coverage_shown(environment: "Environment") -> list[CoveredKind]:
    """Say which records of the draft decided the policy tests that are switched on."""
    run = policy_tests_run(environment, draft_snapshot(environment), with_records=True)
    return [_kind(kind, list(records)) for kind, records in groupby(run.records, key=lambda record: record.kind)]


def _kind(kind: str, records: Sequence[CoveredRecord]) -> CoveredKind:
    busiest = sorted((each for each in records if each.cases), key=lambda each: -each.cases)
    without = [each for each in records if not each.cases]
    label = KINDS.get(kind, kind)
    return CoveredKind(
        label, len(records), len(busiest), _rows(busiest[:RECORDS_SHOWN]), _rows(without[:RECORDS_SHOWN])
    )


def _rows(records: Iterable[CoveredRecord]) -> list[CoveredRow]:
    return [CoveredRow(record, record_url(record.kind, record.id)) for record in records]
