"""Forms of the road from a file to a live snapshot: import, publish, roll back. Rules live in services."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import MaxLengthValidator
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.console.forms import ConsoleForm
from apps.policies.models.releasing import HOURS_MOST
from apps.policies.upgrading import releases_beside

FILE_LIMIT_BYTES = 7 * 1024 * 1024  # two of them fit into one request
TEXT_LIMIT = 3 * 1024 * 1024
MESSAGE_LIMIT = 4000


class _FileField(forms.FileField):
    """A document as a file, up to a size."""

    def clean(self, data: Any, initial: Any = None) -> Any:
        file = super().clean(data, initial)
        if isinstance(file, UploadedFile) and (file.size or 0) > FILE_LIMIT_BYTES:
            limit = filesizeformat(FILE_LIMIT_BYTES)
            raise forms.ValidationError(_("The file is larger than %(limit)s.") % {"limit": limit})
        return file


def _file(label: Any) -> forms.FileField:
    widget = forms.FileInput(attrs={"accept": ".json,.json5,.jsonc,application/json,text/plain"})
    return _FileField(label=label, required=False, allow_empty_file=True, widget=widget)


def _text(label: Any, rows: int) -> forms.CharField:
    attrs = {"rows": rows, "spellcheck": "false", "autocomplete": "off", "class": "form-control mono code-input"}
    too_long = MaxLengthValidator(TEXT_LIMIT, gettext_lazy("The text is too long; send it as a file."))
    return forms.CharField(
        label=label, required=False, strip=False, widget=forms.Textarea(attrs=attrs), validators=[too_long]
    )


class ImportForm(ConsoleForm):
    """`openclaw.json`, the exec approvals and the guards document, each as a file or as text; the file wins."""

    file = _file(gettext_lazy("openclaw.json as a file"))
    text = _text(gettext_lazy("openclaw.json as text"), 12)
    approvals_file = _file(gettext_lazy("Exec approvals as a file"))
    approvals_text = _text(gettext_lazy("Exec approvals as text"), 6)
    guards_file = _file(gettext_lazy("Grants and filters as a file"))
    guards_text = _text(gettext_lazy("Grants and filters as text"), 6)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and self.document is None and self.approvals is None and self.guards is None:
            raise forms.ValidationError(_("Choose a file, or paste a text."))
        return cleaned

    @property
    def document(self) -> str | bytes | None:
        return self._chosen("file", "text")

    @property
    def approvals(self) -> str | bytes | None:
        return self._chosen("approvals_file", "approvals_text")

    @property
    def guards(self) -> str | bytes | None:
        return self._chosen("guards_file", "guards_text")

    def _chosen(self, file_name: str, text_name: str) -> str | bytes | None:
        file = self.cleaned_data.get(file_name)
        if isinstance(file, UploadedFile):
            file.seek(0)
            content: bytes = file.read()
            return content
        text: str = self.cleaned_data.get(text_name) or ""
        return text if text.strip() else None


def _message() -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Message"),
        max_length=MESSAGE_LIMIT,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": gettext_lazy("Why this change?")}),
    )


class _ReasonForm(ConsoleForm):
    """Why something goes live, and what was live when it was reviewed."""

    message = _message()
    expected_live = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)


class PublishForm(_ReasonForm):
    """Why a draft goes live, and when, if not now; `expected_draft` is the one that was reviewed."""

    expected_draft = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    publish_at = forms.DateTimeField(
        label=gettext_lazy("Publish at (UTC)"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )

    def clean_publish_at(self) -> datetime | None:
        at: datetime | None = self.cleaned_data["publish_at"]
        return None if at is None else at.replace(tzinfo=UTC)


class RollbackForm(_ReasonForm):
    """Why an earlier publication goes live again."""


class PromoteForm(_ReasonForm):
    """Why what another environment has live goes live here, and which publication of it was looked at."""

    publication = forms.CharField(max_length=64, widget=forms.HiddenInput)


class PublishRuleForm(ConsoleForm):
    """Whether publishing takes a second person."""

    needs_second_person = forms.BooleanField(label=gettext_lazy("A second person must confirm"), required=False)
    hours = forms.IntegerField(label=gettext_lazy("A request waits at most (hours)"), min_value=1, max_value=HOURS_MOST)


class DialectForm(ConsoleForm):
    """Which release an environment is to speak."""

    release = forms.ChoiceField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, environment: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        field: Any = self.fields["release"]
        field.choices = [(release, release) for release in releases_beside(environment)]
