"""What is told of a request: who asks for which tool, until when, and where to answer. Never what would run."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, override

from apps.approvals.models import Approval
from apps.audit.masking import Masker
from apps.audit.models import Export
from apps.firewall.identifiers import show_id
from apps.notifications.models import ToldAlarm, ToldRelease
from apps.registry.models import Environment

LETTERS = 80
_RELEASES: Final[Mapping[str, tuple[Promise, Promise]]] = {
    "waiting": (
        gettext_lazy("%(who)s wants to publish in %(environment)s"),
        gettext_lazy("A second person must confirm it. Look at the review."),
    ),
    "scheduled": (
        gettext_lazy("Your request in %(environment)s was confirmed"),
        gettext_lazy("It goes live at its time, if nothing has moved by then."),
    ),
    "done": (gettext_lazy("Your request in %(environment)s is live"), gettext_lazy("Gateways take it up now.")),
    "withdrawn": (gettext_lazy("A request in %(environment)s was withdrawn"), gettext_lazy("Nothing goes live.")),
    "refused": (
        gettext_lazy("A request in %(environment)s was refused by the checks"),
        gettext_lazy("Nothing goes live."),
    ),
    "stale": (gettext_lazy("A request in %(environment)s was overtaken"), gettext_lazy("Nothing goes live.")),
    "expired": (gettext_lazy("Nobody confirmed a request in %(environment)s"), gettext_lazy("Nothing goes live.")),
}
"""Title and text by the state of a request."""
_ALARMS: Final[Mapping[str, Promise]] = {
    "ungoverned": gettext_lazy("A call ran unasked at the gateway %(gateway)s"),
    "not_asking": gettext_lazy("The gateway %(gateway)s does not ask about calls"),
    "silent": gettext_lazy("The gateway %(gateway)s stopped reporting"),
    "not_loaded": gettext_lazy("The gateway %(gateway)s was enrolled and has never reported"),
}
"""Title by the kind of an alarm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A message for a person, in their language."""

    title: str
    text: str
    path: str

    @property
    def url(self) -> str:
        return f"{settings.PUBLIC_URL}{self.path}"


def words_for(approval: Approval | None, language: str, at: datetime) -> Words:
    """Say in a person's language what waits; without a request that this is a try."""
    with override(language or settings.LANGUAGE_CODE):
        if approval is None:
            text = _("Asked for at %(at)s UTC. Whatever you read this in works.") % {"at": _clock(at)}
            return Words(title=_("A try of your notifications"), text=text, path=reverse("notifications"))
        asked = {"agent": plain(approval.agent), "tool": plain(approval.tool)}
        where = {"environment": plain(approval.environment.name), "until": _clock(approval.expires_at)}
        return Words(
            title=_("%(agent)s asks for %(tool)s") % asked,
            text=_("Nobody has answered yet. In %(environment)s it is denied at %(until)s UTC.") % where,
            path=approval_path(approval),
        )


def words_for_export(export: Export, language: str) -> Words:
    """Say in a person's language that their export has ended, and how. Never what it holds."""
    with override(language or settings.LANGUAGE_CODE):
        path, form = reverse("audit-exports"), export.shown_format
        if export.state == Export.State.FAILED:
            text = _("%(format)s: nothing was left behind. Ask for it again, or for less.") % {"format": form}
            return Words(title=_("Your export failed"), text=text, path=path)
        rows = ngettext("%(format)s with %(number)d row", "%(format)s with %(number)d rows", export.rows_done)
        told = rows % {"format": form, "number": export.rows_done}
        if export.expires_at is not None:
            until = export.expires_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
            told = _("%(what)s. Its file is kept until %(until)s UTC.") % {"what": told, "until": until}
        return Words(title=_("Your export is ready"), text=told, path=path)


def words_for_release(release: ToldRelease, environment: Environment, language: str) -> Words:
    """Say in a person's language what became of a release. Never what it changes."""
    with override(language or settings.LANGUAGE_CODE):
        place = {"environment": plain(environment.name)}
        if release.publication is not None:
            said = {"version": str(release.publication), "who": plain(release.publication.actor)} | place
            title = _("Emergency: %(who)s went back alone in %(environment)s") % said
            text = _("%(version)s is live again without a second person. Look at what it changed.") % said
            return Words(title=title, text=text, path=reverse("snapshot", args=[release.publication.pk]))
        request = release.request
        said = {"who": plain("" if request is None else request.actor)} | place
        headline, note = _RELEASES[release.state]
        outcome = plain(request.outcome) if request is not None and request.outcome else str(note)
        return Words(title=str(headline) % said, text=outcome, path=reverse("publish"))


def words_for_alarm(alarm: ToldAlarm, environment: Environment, language: str) -> Words:
    """Say in a person's language what is wrong with a gateway."""
    with override(language or settings.LANGUAGE_CODE):
        said = {"gateway": plain(alarm.name), "environment": plain(environment.name)}
        headline = _ALARMS.get(alarm.kind, _ALARMS["ungoverned"])
        text = _("In %(environment)s. What it runs meanwhile may not have been asked about.") % said
        return Words(title=str(headline) % said, text=text, path=reverse("gateway", args=[alarm.gateway]))


def told_to_programs(approval: Approval | None, at: datetime, alarm: ToldAlarm | None = None) -> dict[str, Any]:
    """Write what a webhook is told."""
    if alarm is not None:
        path = reverse("gateway", args=[alarm.gateway])
        gateway = {"id": show_id("gw", alarm.gateway), "name": plain(alarm.name), "url": f"{settings.PUBLIC_URL}{path}"}
        told = {"id": show_id("alarm", alarm.alarm), "kind": alarm.kind, "gateway": gateway}
        return {"event": "gateway.alarm", "alarm": told}
    if approval is None:
        return {"event": "notification.test", "at": at.isoformat()}
    return {
        "event": "approval.waiting",
        "approval": {
            "id": approval.shown_id,
            "url": f"{settings.PUBLIC_URL}{approval_path(approval)}",
            "environment": approval.environment.slug,
            "agent": plain(approval.agent),
            "tool": plain(approval.tool),
            "kind": approval.kind,
            "severity": approval.severity,
            "requested_at": approval.requested_at.isoformat(),
            "expires_at": approval.expires_at.isoformat(),
            "escalated": approval.escalated_at is not None,
        },
    }


def approval_path(approval: Approval) -> str:
    """Give the path of a request's own page."""
    return reverse("approval-card", args=[approval.pk])


def plain(text: str) -> str:
    """Write what strangers named as one line that hides nothing: masked, no control or bidi characters, cut."""
    shown = "".join(letter if letter.isprintable() else "�" for letter in Masker().text(text))
    return shown if len(shown) <= LETTERS else f"{shown[: LETTERS - 1]}…"


def _clock(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%H:%M:%S")
