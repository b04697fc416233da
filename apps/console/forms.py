"""Forms of the console: what a person may write where. Rules live in services."""

from typing import Any, Protocol

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.accounts.access import Permission, permissions_of
from apps.accounts.models import Role, Theme, User
from apps.approvals.states import Decision
from apps.console.cards import DAYS


class Refusal(Protocol):
    """An error of any room; `details` name places in what was refused."""

    message: str
    details: list[dict[str, str]]


class ConsoleForm(forms.Form):
    """A form whose inputs wear the console's classes."""

    error_css_class = "is-invalid"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.setdefault("class", _class_of(field.widget))

    def take_refusal(self, error: Refusal) -> None:
        """Show what a service refused beside the fields it names, the rest above the form."""
        for detail in error.details or [{"path": "", "message": error.message}]:
            self.add_error(self.field_of(detail["path"]), detail["message"])

    def field_of(self, path: str) -> str | None:
        """Name the field that stands for a place in a record, if one does."""
        name = path.split(".")[0]
        return name if name in self.fields else None


def _class_of(widget: forms.Widget) -> str:
    if isinstance(widget, forms.CheckboxInput | forms.CheckboxSelectMultiple | forms.RadioSelect):
        return "form-check-input"
    return "form-select" if isinstance(widget, forms.Select) else "form-control"


def _password(label: Any, autocomplete: str) -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=256,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": autocomplete}),
    )


class PasswordForm(ConsoleForm):
    """A new password by a one-time link."""

    password = _password(_("New password"), "new-password")


class PasswordChangeForm(ConsoleForm):
    """A new password for somebody who knows the old one."""

    old_password = _password(_("Current password"), "current-password")
    password = _password(_("New password"), "new-password")


class JoinForm(ConsoleForm):
    """What an invited person chooses."""

    username = forms.CharField(
        label=_("User name"), max_length=64, widget=forms.TextInput(attrs={"autocomplete": "username"})
    )
    display_name = forms.CharField(
        label=_("Name"), max_length=100, required=False, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    password = _password(_("Password"), "new-password")


class PreferencesForm(ConsoleForm):
    """How a person wants the console."""

    display_name = forms.CharField(label=_("Name"), max_length=100, required=False)
    language = forms.ChoiceField(
        label=_("Language"), required=False, choices=[("", _("As the browser")), *settings.LANGUAGES]
    )
    theme = forms.ChoiceField(label=_("Theme"), choices=Theme.choices)
    single_keys = forms.BooleanField(
        label=_("Single keys on the approvals page"),
        help_text=_("When off, j, k, a, A, d, e and ? do nothing there. Ctrl K and Esc always work."),
        required=False,
    )


class EnvironmentForm(forms.Form):
    environment = forms.SlugField(max_length=63)
    next = forms.CharField(max_length=2000, required=False)


class LanguageForm(forms.Form):
    language = forms.ChoiceField(choices=settings.LANGUAGES)
    next = forms.CharField(max_length=2000, required=False)


class InviteForm(ConsoleForm):
    """Whom to invite."""

    display_name = forms.CharField(label=_("Name"), max_length=100, required=False)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.VIEWER)


class RoleForm(ConsoleForm):
    role = forms.ChoiceField(label=_("Role"), required=False, choices=[("", _("No role")), *Role.choices])


class ResolveForm(forms.Form):
    """An operator's answer to a request."""

    decision = forms.ChoiceField(choices=[(decision.value, decision.value) for decision in Decision])
    reason = forms.CharField(max_length=500, required=False)
    scope = forms.CharField(max_length=16, required=False)
    agents = forms.ChoiceField(choices=[("this", "this"), ("every", "every")], required=False)
    days = forms.ChoiceField(choices=DAYS, required=False)
    confirmed = forms.BooleanField(required=False)


SCOPES: tuple[tuple[str, Any], ...] = (
    (Permission.CALLS_MAKE, _("make tool calls for agents")),
    (Permission.DECISIONS_ASK, _("ask for decisions without calling")),
    (Permission.POLICY_READ, _("read policies and snapshots")),
    (Permission.POLICY_WRITE, _("change the draft")),
    (Permission.PUBLISH, _("publish and roll back")),
    (Permission.EXPLAIN, _("learn which layer and rule decided")),
    (Permission.APPROVALS_READ, _("see requests")),
    (Permission.APPROVALS_RESOLVE, _("decide requests")),
    (Permission.AUDIT_READ, _("read the ledger")),
    (Permission.AUDIT_EXPORT, _("export the ledger")),
    (Permission.METRICS_READ, _("read the figures of this installation at /metrics")),
    (Permission.AUDIT_MANAGE, _("keep, hold and erase records, and the keys of the ledger")),
    (Permission.SESSIONS_MANAGE, _("end sessions and set their budgets")),
    (Permission.CALLS_STOP, _("stop calls with the kill switch")),
    (Permission.USERS_MANAGE, _("manage people")),
    (Permission.TOKENS_MANAGE, _("manage tokens")),
    (Permission.GATEWAYS_MANAGE, _("enrol and revoke OpenClaw Gateways")),
)
DAYS = (
    ("30", _("30 days")),
    ("90", _("90 days")),
    ("365", _("One year")),
    ("", _("No end")),
)


class TokenForm(ConsoleForm):
    """A new token: what for, how long, for whom."""

    name = forms.CharField(label=_("Name"), max_length=100)
    scopes = forms.MultipleChoiceField(label=_("Scopes"), widget=forms.CheckboxSelectMultiple)
    days = forms.ChoiceField(label=_("Works for"), choices=DAYS, required=False, initial="90")
    environment = forms.ChoiceField(label=_("Environment"), required=False)
    agents = forms.CharField(
        label=_("Agents"),
        max_length=2000,
        required=False,
        help_text=_("Ids separated by blanks; empty means every agent."),
    )

    def __init__(self, *args: Any, slugs: list[str], by: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        grantable = permissions_of(by)
        scopes, environment = self.fields["scopes"], self.fields["environment"]
        assert isinstance(scopes, forms.MultipleChoiceField)  # noqa: S101 - declared above
        assert isinstance(environment, forms.ChoiceField)  # noqa: S101 - declared above
        scopes.choices = [(scope, label) for scope, label in SCOPES if scope in grantable]
        environment.choices = [("", _("All")), *((slug, slug) for slug in slugs)]
