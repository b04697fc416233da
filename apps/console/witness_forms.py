"""What a person says of a witness."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm

KINDS = (
    ("file", _("A file")),
    ("http", _("A program, by a signed post")),
    ("rfc3161", _("A time-stamping authority (RFC 3161)")),
)


class WitnessForm(ConsoleForm):
    name = forms.CharField(label=_("Name"), max_length=63, help_text=_("Lower-case letters, digits and hyphens."))
    kind = forms.ChoiceField(label=_("Kind"), choices=KINDS)
    target = forms.CharField(
        label=_("File or address"),
        max_length=2000,
        help_text=_("The name of a file in the folder of witnesses, or an address under https."),
    )
    roots_pem = forms.CharField(
        label=_("Certificates of the authority (PEM)"),
        required=False,
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
