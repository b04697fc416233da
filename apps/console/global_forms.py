"""The form of what applies to every agent."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.policy_forms import INHERIT, DraftForm, NamesField, names_wanted

LISTS: Final = ("also_allow", "allow", "deny")
PREFIXES: Final = ("", "sandbox_", "subagent_")
ALL_LISTS: Final = tuple(prefix + name for prefix in PREFIXES for name in LISTS)
SINGLE: Final = ("profile", "max_spawn_depth", "refuse_unproven_groups")
DEPTH_LIMIT: Final = 5


class GlobalForm(DraftForm):
    """Profile and lists of every agent, those of the sandbox and of sub-agents, and who is an owner."""

    profile = forms.CharField(max_length=128, required=False, strip=False, label=_("Profile"))
    also_allow = NamesField(label=_("Also allow"))
    allow = NamesField(label=_("Allow"))
    deny = NamesField(label=_("Deny"))
    sandbox_also_allow = NamesField(label=_("Sandbox: also allow"))
    sandbox_allow = NamesField(label=_("Sandbox: allow"))
    sandbox_deny = NamesField(label=_("Sandbox: deny"))
    subagent_also_allow = NamesField(label=_("Sub-agents: also allow"))
    subagent_allow = NamesField(label=_("Sub-agents: allow"))
    subagent_deny = NamesField(label=_("Sub-agents: deny"))
    max_spawn_depth = forms.IntegerField(
        label=_("Deepest sub-agent"), required=False, min_value=1, max_value=DEPTH_LIMIT
    )
    owners = NamesField(label=_("Owners"))
    refuse_unproven_groups = forms.ChoiceField(
        label=_("Groups the session key does not confirm"),
        required=False,
        choices=[("True", _("Refuse the call")), ("False", _("Decide without the group's rules"))],
    )

    def __init__(self, *args: Any, record: Any, **kwargs: Any) -> None:
        self.record = record
        kwargs.setdefault("initial", {"version": record.version} | self._stored())
        super().__init__(*args, auto_id="f-%s", **kwargs)

    def clean_refuse_unproven_groups(self) -> bool:
        chosen = self.cleaned_data["refuse_unproven_groups"]
        return bool(self.record.refuse_unproven_groups) if not chosen else chosen == "True"

    def _stored(self) -> dict[str, Any]:
        names = {name: getattr(self.record, name) for name in (*ALL_LISTS, *SINGLE)}
        return names | {"owners": [str(owner) for owner in self.record.owners or ()]}

    def values(self) -> dict[str, Any]:
        """Return what is typed; what was not sent, or cannot be read, as it is stored."""
        values = self._stored()
        self.full_clean()
        if self.is_bound:
            values |= {
                name: self.cleaned_data[name] for name in values if name in self.data and name in self.cleaned_data
            }
        if values["profile"] in {INHERIT, ""}:
            values["profile"] = None
        return values

    def changes(self) -> dict[str, Any]:
        typed = self.values()
        lists = {name: typed[name] or [] for name in ALL_LISTS}
        wanted = {name: typed[name] for name in SINGLE}
        return wanted | names_wanted(self.record, lists) | {"owners": self._owners(typed["owners"])}

    def _owners(self, typed: list[str]) -> list[Any] | None:
        """Return the owners as the document wrote them: some channels write their senders as numbers."""
        known = {str(owner): owner for owner in self.record.owners or ()}
        found = [known.get(name, name) for name in typed]
        return found or (None if self.record.owners else self.record.owners)
