"""What a person says of a system that gets the ledger's entries as they come."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.audit.models import Stream
from apps.console.forms import ConsoleForm


class StreamForm(ConsoleForm):
    """A stream's fields; `secret` is never shown again."""

    name = forms.CharField(label=_("Name"), max_length=100)
    kind = forms.ChoiceField(label=_("Kind"), choices=Stream.Kind.choices)
    url = forms.CharField(
        label=_("Address"),
        max_length=2000,
        help_text=_("syslog+tls://host:6514, https://host/path, https://collector:4318/v1/logs, https://store/bucket"),
    )
    secret = forms.CharField(
        label=_("Secret"),
        required=False,
        max_length=2000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_("Value of the header Authorization, such as Bearer …; KEY:SECRET of an object store."),
    )
    prefix = forms.CharField(  # type: ignore[assignment]  # no form of ours is shown with Django's prefix
        label=_("Folder in the store"), required=False, max_length=200
    )
    region = forms.CharField(label=_("Region of the store"), required=False, max_length=64, initial="us-east-1")
    ca = forms.CharField(
        label=_("Certificates to trust (PEM)"),
        required=False,
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Empty trusts those of the system."),
    )
    with_content = forms.BooleanField(label=_("Params, results and errors, masked"), required=False, initial=True)


class StreamAddForm(StreamForm):
    from_beginning = forms.BooleanField(label=_("Begin with the first record there is"), required=False)


def stream_initial(stream: Stream) -> dict[str, Any]:
    """Give what a form begins with: all but the secret."""
    names = ("name", "kind", "url", "prefix", "region", "ca", "with_content")
    return {name: getattr(stream, name) for name in names}
