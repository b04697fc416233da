"""Forms of what guards calls: grants of permissions, filters of content."""

from collections.abc import Iterable
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Role
from apps.console.policy_forms import DraftForm, NamesField
from apps.firewall.engine.content import ContentFilter as EngineFilter
from apps.firewall.engine.grants import Grant
from apps.policies.guards import engine_filter, engine_grant
from apps.policies.models import ContentAction, ContentFilter, ContentWhere, PermissionGrant

KINDS: Final = ("path", "domain", "database")


def _text(label: Any, placeholder: str = "", *, limit: int, is_needed: bool = False) -> forms.CharField:
    attrs = {"placeholder": placeholder, "spellcheck": "false", "autocomplete": "off", "autocapitalize": "off"}
    return forms.CharField(label=label, max_length=limit, required=is_needed, widget=forms.TextInput(attrs=attrs))


class GrantForm(DraftForm):
    """One grant of permissions."""

    key = _text(_("Name"), limit=64, is_needed=True)
    permissions = NamesField(label=_("Permissions"), required=True)
    agent = _text(_("Agent"), "support-*", limit=128)
    token = forms.ChoiceField(label=_("Token"), required=False)
    sender = _text(_("Sender"), "id:1001", limit=512)
    role = forms.ChoiceField(
        label=_("Role of the person behind the call"), required=False, choices=[("", _("Any")), *Role.choices]
    )
    session = _text(_("Session"), "agent:support:*", limit=512)
    owner = forms.BooleanField(label=_("Only for senders who are known to be owners"), required=False)
    path = NamesField(label=_("Paths"))
    domain = NamesField(label=_("Domains"))
    database = NamesField(label=_("Databases"))

    def __init__(self, *args: Any, tokens: Iterable[tuple[str, str]] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [("", _("Any")), *tokens]
        chosen = str(self["token"].value() or "")
        if chosen and chosen not in {value for value, _label in known}:
            known.append((chosen, chosen))
        self.fields["token"].choices = known  # type: ignore[attr-defined]

    @classmethod
    def initial_of(cls, grant: PermissionGrant) -> dict[str, Any]:
        """Fill the form from a record."""
        names = ("version", "key", "permissions", "agent", "token", "sender", "role", "session", "owner")
        return {name: getattr(grant, name) for name in names} | dict(grant.resources)

    def changes(self) -> dict[str, Any]:
        """Return the wanted values by field of the record."""
        names = ("key", "permissions", "agent", "token", "sender", "role", "session", "owner")
        wanted = {name: self.cleaned_data[name] for name in names}
        return wanted | {"resources": {kind: self.cleaned_data[kind] for kind in KINDS if self.cleaned_data[kind]}}

    def grant(self) -> Grant:
        """Return what was typed as the engine takes it, unsaved."""
        return engine_grant(PermissionGrant(**self.changes()))


class FilterForm(DraftForm):
    """One content filter."""

    key = _text(_("Name"), limit=64, is_needed=True)
    pattern = _text(_("Expression"), r"\b[0-9]{16}\b", limit=512, is_needed=True)
    where = forms.ChoiceField(label=_("Looks at"), choices=ContentWhere.choices, initial=ContentWhere.BOTH)
    action = forms.ChoiceField(label=_("What happens"), choices=ContentAction.choices, initial=ContentAction.MASK)
    tools = NamesField(label=_("Tools"))
    message = _text(_("Message to the caller"), limit=500)

    FIELDS: Final = ("key", "pattern", "where", "action", "tools", "message")

    @classmethod
    def initial_of(cls, record: ContentFilter) -> dict[str, Any]:
        """Fill the form from a record."""
        return {name: getattr(record, name) for name in ("version", *cls.FIELDS)}

    def changes(self) -> dict[str, Any]:
        """Return the wanted values by field of the record."""
        return {name: self.cleaned_data[name] for name in self.FIELDS}

    def filter(self) -> EngineFilter:
        """Return what was typed as the engine takes it, unsaved."""
        return engine_filter(ContentFilter(**self.changes()))
