"""Guardrails as their pages show them: what draft and live make of each, and where to look at what fails."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.console.situations import situation_of
from apps.console.vocabulary import agent_words, plain_words, vocabulary_of
from apps.firewall.engine.guardrail_form import GuardrailForm, GuardrailFormError
from apps.firewall.engine.guardrails import GuardrailCheck
from apps.firewall.engine.snapshot import Snapshot, SnapshotError
from apps.policies.channels import groups_known, senders_known
from apps.policies.errors import SnapshotUntrustedError
from apps.policies.guardrail_words import counterexample_words, sentence
from apps.policies.guardrails import CheckedGuardrail, forms_checked, guardrails, guardrails_checked
from apps.policies.selectors import draft_snapshot, live_snapshot, publication_snapshot

if TYPE_CHECKING:
    from apps.policies.models import Guardrail, Publication
    from apps.registry.models import Environment

    # Views take the type from here: models are not theirs.
    GuardrailRecord: TypeAlias = Guardrail

NO_SHELL: Final = GuardrailForm(requires="never", tools=("group:runtime",), place="group", sender="non_owner")
STARTS: Final[Sequence[tuple[str, Promise, GuardrailForm]]] = (
    ("no-shell-in-groups", _("No stranger runs commands in groups"), NO_SHELL),
    (
        "no-deep-spawn",
        _("Sub-agents never spawn past depth 2"),
        GuardrailForm(requires="never", tools=("sessions_spawn",), min_depth=2),
    ),
    ("exec-asks", _("Every agent asks before it runs commands"), GuardrailForm(requires="asks", tools=("exec",))),
    (
        "owners-only-gateway",
        _("Only owners change the gateway"),
        GuardrailForm(requires="never", tools=("gateway", "cron"), sender="non_owner"),
    ),
    (
        "no-files-for-strangers",
        _("Strangers in groups write no files outside a sandbox"),
        GuardrailForm(
            requires="never", tools=("write", "edit", "apply_patch"), place="group", sender="non_owner", sandboxed=False
        ),
    ),
    (
        "owners-answer",
        _("Owners can always send messages"),
        GuardrailForm(requires="always", tools=("message",), sender="owner", min_depth=0),
    ),
)
SHOWN_ACCEPTANCES: Final = 20
WORDS_MOST: Final = 500
TONES: Final = {"holds": "allow", "off": "", "accepted": "ask", "fails": "ask", "blocks": "deny", "unchecked": "deny"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What one snapshot makes of a guardrail, in words.

    Attributes:
        state: a key of `TONES`.
        url: of the explorer, in the context that shows what is wrong; empty where its form cannot say it.
    """

    state: str
    check: GuardrailCheck | None = None
    why: str = ""
    url: str = ""

    @property
    def tone(self) -> str:
        return TONES[self.state]


@dataclass(frozen=True, slots=True)
class GuardrailRow:
    """A guardrail with what draft and live make of it; None where there is no such snapshot."""

    record: "GuardrailRecord"
    sentence: str
    draft: Shown | None
    live: Shown | None
    checked: CheckedGuardrail | None


@dataclass(frozen=True, slots=True)
class Guarding:
    """Every guardrail; `error` says why the draft cannot be checked."""

    rows: Sequence[GuardrailRow]
    error: str = ""

    @property
    def stopping(self) -> int:
        return sum(row.checked is not None and row.checked.stops for row in self.rows)

    @property
    def accepted(self) -> int:
        return sum(row.checked is not None and row.checked.acceptance is not None for row in self.rows)


def guarding(environment: "Environment", *, with_live: bool = False) -> Guarding:
    """Hold every guardrail against the draft, and where wanted against what is live."""
    error = ""
    draft: dict[object, CheckedGuardrail] = {}
    live: dict[object, CheckedGuardrail] = {}
    records = list(guardrails(environment))
    if records:
        try:
            draft = _checked(environment, draft_snapshot(environment))
        except SnapshotError as exc:
            error = exc.message
        live = _live(environment) if with_live else {}
    rows = [
        GuardrailRow(
            record,
            sentence_of(record),
            shown(draft[record.pk], "draft") if record.pk in draft else None,
            shown(live[record.pk], "live") if record.pk in live else None,
            draft.get(record.pk),
        )
        for record in records
    ]
    return Guarding(rows, error)


def guarding_of(environment: "Environment", publication: "Publication") -> Guarding:
    """Hold every guardrail of today against what was published, to which somebody may want to go back."""
    try:
        found = guardrails_checked(environment, publication_snapshot(publication))
    except (SnapshotError, SnapshotUntrustedError) as exc:
        return Guarding([], exc.message)
    rows = [GuardrailRow(each.guardrail, sentence_of(each.guardrail), shown(each, ""), None, each) for each in found]
    return Guarding(rows)


def stopping_count(environment: "Environment") -> int:
    """Count the guardrails by which the draft cannot be published."""
    return guarding(environment).stopping


def acceptances(record: "GuardrailRecord") -> Sequence[object]:
    """List who accepted failures of a guardrail, the last first."""
    return list(record.acceptances.all()[:SHOWN_ACCEPTANCES])


def sentence_of(record: "GuardrailRecord") -> str:
    """Say what a guardrail demands; nothing where its form cannot be read."""
    try:
        return sentence(GuardrailForm.from_json(record.form))
    except GuardrailFormError:
        return ""


def shown(checked: CheckedGuardrail, at: str) -> Shown:
    """Put into words what a snapshot makes of a guardrail.

    Args:
        at: by which word the explorer knows the snapshot; empty where it knows it by none.
    """
    if checked.error:
        return Shown("unchecked", why=checked.error)
    if checked.check is None:
        return Shown("off")
    if checked.acceptance is not None:
        return _failing("accepted", checked.check, at)
    return _failing("blocks" if checked.guardrail.is_blocking else "fails", checked.check, at)


def trial(environment: "Environment", form: GuardrailForm) -> list[tuple[str, Shown]]:
    """Hold a form that nobody saved against draft and live."""
    found = [("draft", _draft(environment)), ("live", _live_or_none(environment))]
    return [
        (at, _failing("fails", forms_checked(snapshot, [form])[0], at))
        for at, snapshot in found
        if snapshot is not None
    ]


def vocabularies(environment: "Environment") -> list[tuple[str, list[dict[str, Any]]]]:
    """Give the words that each list of the form suggests, by the id of the element that holds them."""
    draft = _draft(environment)
    groups = [f"{channel}/{key}" for channel, key in groups_known(environment, limit=WORDS_MOST)]
    return [
        ("tool-words", [] if draft is None else vocabulary_of(draft, frozenset())),
        ("agent-words", [] if draft is None else agent_words(draft)),
        ("channel-words", plain_words("channel", [] if draft is None else draft.engine.channels)),
        ("group-words", plain_words("channel", groups)),
        ("sender-words", plain_words("sender", senders_known(environment, limit=WORDS_MOST))),
    ]


def _failing(state: str, check: GuardrailCheck, at: str) -> Shown:
    example = check.counterexample
    if example is None:
        return Shown("holds", check)
    situation = situation_of(example.context)
    url = situation.url(reverse("explorer"), at=at, tool=example.tool) if situation is not None and at else ""
    return Shown(state, check, counterexample_words(example), url)


def _checked(environment: "Environment", snapshot: Snapshot) -> dict[object, CheckedGuardrail]:
    return {each.guardrail.pk: each for each in guardrails_checked(environment, snapshot)}


def _live(environment: "Environment") -> dict[object, CheckedGuardrail]:
    snapshot = _live_or_none(environment)
    return {} if snapshot is None else _checked(environment, snapshot)


def _draft(environment: "Environment") -> Snapshot | None:
    try:
        return draft_snapshot(environment)
    except SnapshotError:
        return None


def _live_or_none(environment: "Environment") -> Snapshot | None:
    try:
        return live_snapshot(environment)
    except SnapshotUntrustedError:
        return None
