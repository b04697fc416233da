"""What the pages of bulk edits show: the form, what a change would do, how far one is and what came of each row."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.console.blast import blast_of
from apps.console.forms import ConsoleForm
from apps.policies.bulk.asking import bulk_edits, bulk_rows
from apps.policies.bulk.changes import BulkChange, snapshot_with
from apps.policies.errors import BulkEditInvalidError
from apps.policies.kinds import EXEC_MODES
from apps.policies.selectors import agents, draft_snapshot

if TYPE_CHECKING:
    from apps.policies.models import Agent, BulkEdit
    from apps.registry.models import Environment

SHOWN: Final = 20
ROWS_SHOWN: Final = 1000
BOXES_SHOWN: Final = 100
INHERIT: Final = ("", _("Inherit"))
ACTIONS: Final = (
    ("add", _("Add a name to a list")),
    ("remove", _("Remove a name from a list")),
    ("profile", _("Take a profile")),
    ("exec_mode", _("Judge commands so")),
)
LISTS: Final = (("allow", _("Allow")), ("also_allow", _("Also allow")), ("deny", _("Deny")))
RESULTS: Final = {
    "waiting": ("clock", "off"),
    "done": ("check", "allow"),
    "unchanged": ("equal", "off"),
    "changed": ("git-merge", "ask"),
    "refused": ("x", "deny"),
    "gone": ("circle-minus", "off"),
}


class BulkForm(ConsoleForm):
    """One change, and for whom."""

    action = forms.ChoiceField(label=_("What to change"), choices=ACTIONS)
    list = forms.ChoiceField(label=_("List"), choices=LISTS, required=False)
    entry = forms.CharField(label=_("Tool, group or plugin"), max_length=512, required=False)
    profile = forms.ChoiceField(label=_("Profile"), required=False)
    mode = forms.ChoiceField(label=_("Mode of commands"), required=False, choices=[INHERIT, *EXEC_MODES])
    words = forms.CharField(label=_("Id, name or label"), max_length=200, required=False)
    everyone = forms.BooleanField(label=_("All agents that match"), required=False)
    agents = forms.MultipleChoiceField(required=False)

    def __init__(self, *args: Any, environment: "Environment", profiles: Sequence[str], **kwargs: Any) -> None:
        self.environment, self.profiles = environment, profiles
        self.known = list(agents(environment).select_related("environment"))
        super().__init__(*args, **kwargs)
        self.fields["profile"].choices = [INHERIT, *((name, name) for name in profiles)]  # type: ignore[attr-defined]
        self.fields["agents"].choices = [(agent.key, agent.key) for agent in self.known]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if not given.get("agents") and not (given.get("everyone") and self.matching):
            self.add_error("agents", gettext("Choose at least one agent."))
        value = {"profile": given.get("profile"), "exec_mode": given.get("mode")}.get(str(given.get("action")), "")
        try:
            self.change = BulkChange.read(self.environment, given | {"value": value})
        except BulkEditInvalidError as error:
            for detail in error.details:
                name = detail["path"] if detail["path"] in self.fields else "action"
                self.add_error(name, detail["message"])
        return given

    @cached_property
    def matching(self) -> "Sequence[Agent]":
        """The agents whose id, name or one of whose labels holds the words; all of them without words."""
        words = str(self["words"].value() or "").strip().replace("\0", " ")
        if not words:
            return self.known
        found = set(agents(self.environment, words=words).values_list("pk", flat=True))
        return [agent for agent in self.known if agent.pk in found]

    @property
    def chosen(self) -> "Sequence[Agent]":
        """The agents that the change is for, in the order of the draft: those that are ticked, and all that match if so
        wanted.
        """
        wanted = set(self.cleaned_data["agents"])
        if self.cleaned_data["everyone"]:
            wanted |= {agent.key for agent in self.matching}
        return [agent for agent in self.known if agent.key in wanted]

    @property
    def boxes(self) -> "Sequence[tuple[Agent, bool]]":
        """The agents to tick: those that are ticked already, and the first of those that match."""
        ticked, near = set(self["agents"].value() or ()), {agent.key for agent in self.matching[:BOXES_SHOWN]}
        return [(agent, agent.key in ticked) for agent in self.known if agent.key in ticked or agent.key in near]

    @property
    def left(self) -> int:
        """How many match that have no box."""
        return max(0, len(self.matching) - BOXES_SHOWN)

    def unjudged(self) -> "BulkForm":
        """Give a form that holds the same, and finds no fault with it yet."""
        data: Any = self.data
        form = BulkForm(environment=self.environment, profiles=self.profiles)
        form.initial = {name: data.get(name, "") for name in self.fields} | {"agents": data.getlist("agents")}
        return form


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change would do; `seen` names the draft that it would change."""

    agents: int
    seen: str
    blast: Any


def preview_of(form: BulkForm) -> Preview:
    """Compare the draft with what it would be."""
    before = draft_snapshot(form.environment)
    after = snapshot_with(form.environment, form.chosen, form.change)
    return Preview(len(form.chosen), before.digest, blast_of(before, after))


def is_as_seen(form: BulkForm, seen: str) -> bool:
    """Say whether the draft is the one of the preview."""
    return draft_snapshot(form.environment).digest == seen


@dataclass(frozen=True, slots=True)
class Done:
    """A bulk edit in the list: what it changes, in words."""

    edit: "BulkEdit"

    @property
    def words(self) -> str:
        change = self.edit.change
        names = {"entry": change["entry"], "list": dict(LISTS).get(change["list"], ""), "value": change["value"] or "–"}
        return _WORDS[change["action"]] % names


_WORDS: Final = {
    "add": _("add %(entry)s to “%(list)s”"),
    "remove": _("remove %(entry)s from “%(list)s”"),
    "profile": _("profile %(value)s"),
    "exec_mode": _("mode of commands %(value)s"),
}


def past_edits(environment: "Environment") -> list[Done]:
    return [Done(edit) for edit in bulk_edits(environment)[:SHOWN]]


@dataclass(frozen=True, slots=True)
class Row:
    """One agent with what came of it."""

    key: str
    label: str
    reason: str
    icon: str
    level: str


def progress_of(edit: "BulkEdit") -> dict[str, Any]:
    """Show how far a bulk edit is, row by row; those with something to read come first."""
    rows = list(bulk_rows(edit))
    rows.sort(key=lambda row: row.result not in {"refused", "changed", "gone"})
    shown = [Row(row.key, row.get_result_display(), row.reason, *RESULTS[row.result]) for row in rows[:ROWS_SHOWN]]
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.get_result_display()] = counts.get(row.get_result_display(), 0) + 1
    return {"edit": edit, "words": Done(edit).words, "rows": shown, "counts": counts.items()}
