"""What the page of notifications shows: a person's choices and browsers, webhooks, what became of messages."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.accounts.access import Permission, may
from apps.console.forms import ConsoleForm
from apps.keys.push import push_public_key
from apps.notifications.models import Quiet
from apps.notifications.people import browsers_of, preference_of
from apps.notifications.selectors import deliveries_recent, deliveries_tried
from apps.notifications.webhooks import webhooks

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.notifications.models import Webhook as Webhook
    from apps.registry.models import Environment

LANGUAGES = (("", _("As in the settings")), *settings.LANGUAGES)


class ChoicesForm(ConsoleForm):
    """How a person wants to be told."""

    email = forms.EmailField(label=_("E-mail"), required=False, max_length=254)
    language = forms.ChoiceField(label=_("Language of messages"), required=False, choices=LANGUAGES)
    quiet = forms.ChoiceField(label=_("Tell me of"), required=False, choices=Quiet.choices)


class BrowserForm(forms.Form):
    """A browser that subscribed."""

    endpoint = forms.CharField(max_length=1000)
    p256dh = forms.CharField(max_length=200)
    auth = forms.CharField(max_length=100)
    browser = forms.CharField(max_length=100, required=False)


class WebhookForm(ConsoleForm):
    """An address that is told."""

    name = forms.CharField(label=_("Name"), max_length=64)
    url = forms.CharField(label=_("Address"), max_length=1000)
    secret = forms.CharField(
        label=_("Secret"),
        required=False,
        max_length=500,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )


class WebhookChangeForm(WebhookForm):
    """A webhook that exists. An empty secret keeps the one it has."""

    is_active = forms.BooleanField(label=_("Switched on"), required=False)
    drops_secret = forms.BooleanField(label=_("Remove the secret"), required=False)
    version = forms.IntegerField(widget=forms.HiddenInput)

    def values(self) -> dict[str, Any]:
        """Give what the service takes."""
        cleaned = self.cleaned_data
        secret = "" if cleaned["drops_secret"] else cleaned["secret"] or None
        return {name: cleaned[name] for name in ("name", "url", "is_active")} | {"secret": secret}


def choices_initial(person: "User") -> dict[str, Any]:
    """Give the form's values of a person."""
    chosen = preference_of(person)
    return {"email": chosen.email, "language": chosen.language, "quiet": chosen.quiet}


def webhook_initial(row: "Webhook") -> dict[str, Any]:
    """Give the form's values of a webhook; its secret is never shown."""
    return {name: getattr(row, name) for name in ("name", "url", "is_active", "version")}


def page_of(person: "User", environment: "Environment") -> dict[str, Any]:
    """Gather what the page shows besides its forms."""
    return {
        "browsers": browsers_of(person),
        "push_key": push_public_key(),
        "has_mail": bool(settings.EMAIL_HOST),
        "may_hear": may(person, Permission.APPROVALS_RESOLVE),
        "may_see_webhooks": may(person, Permission.POLICY_READ),
        "webhooks": webhooks(environment),
        "deliveries": deliveries_recent(environment) if may(person, Permission.APPROVALS_READ) else [],
        "may_see_deliveries": may(person, Permission.APPROVALS_READ),
        "environment_name": environment.name,
    } | tried_of(person)


def tried_of(person: "User") -> dict[str, Any]:
    """Gather what came of a person's last try."""
    tried = deliveries_tried(person)
    return {"tried": tried, "is_open": any(each.is_open for each in tried)}
