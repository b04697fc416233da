"""What the palette offers: pages, actions, records, tools, people, calls; each only to whom its page is open.

The text decides the order: what begins with it, then what has a word that does, then what holds it elsewhere.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, permissions_of
from apps.accounts.selectors import users_named
from apps.audit.beginnings import calls_begun
from apps.console.changes import KINDS
from apps.console.environments import environments_of
from apps.console.gate import ConsoleRequest
from apps.console.menu import AUDIT_TABS, SEARCH_TABS, Link, links_of, menu_of
from apps.console.record_pages import PAGES, record_url
from apps.firewall.identifiers import show_id
from apps.policies.naming import checks_named, records_named
from apps.registry.naming import catalogue_named
from apps.rows import rank_of_name

TEXT_LIMIT: Final = 200
SHOWN: Final = 24
PEOPLE_LIMIT: Final = 4
CALLS_LIMIT: Final = 4


@dataclass(frozen=True, slots=True)
class Option:
    """One line: a link, or a button of one of the forms that stand beside the list.

    Attributes:
        id: of its element, unique in the list.
        note: what it is, at the end of the line.
        form: "sign-out", "environment", "language", or "theme" for the switch that needs no server.
    """

    id: str
    label: str
    icon: str
    note: str
    url: str = ""
    form: str = ""
    value: str = ""
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """Something to do on a page that has a place for it."""

    label: Promise
    icon: str
    url_name: str
    anchor: str
    permission: Permission


ACTIONS: Final = (
    Action(gettext_lazy("Publish the draft"), "rocket", "publish", "", Permission.PUBLISH),
    Action(gettext_lazy("Add agent"), "plus", "agents", "new-agent", Permission.POLICY_WRITE),
    Action(gettext_lazy("Add profile"), "plus", "profiles", "new-profile", Permission.POLICY_WRITE),
    Action(gettext_lazy("Stop with the kill switch"), "power", "halts", "h-stop", Permission.CALLS_STOP),
)
PART_WORDS: Final = {
    "tool": (gettext_lazy("Tool"), "tool", "tool"),
    "plugin": (gettext_lazy("Plugin"), "puzzle", "plugin"),
    "tool_group": (gettext_lazy("Tool group"), "folders", "tool-group"),
}

CHECK_WORDS: Final = {
    "guardrail": (gettext_lazy("Guardrail"), "shield-check", "guardrail"),
    "policy_test": (gettext_lazy("Policy test"), "test-pipe", "policy-test"),
}


def palette_of(request: HttpRequest, text: str = "") -> list[Option]:
    """List what a person may go to or do, best first; without a text the pages and the actions."""
    asked: Any = request
    text = " ".join(text.replace("\0", " ").split())[:TEXT_LIMIT]
    near = [*_pages(asked), *_actions(asked)]
    if not text:
        return near
    ranked = [replace(option, rank=rank) for option in near if (rank := rank_of_name(option.label, text)) is not None]
    found = [*_records(asked, text), *_catalogue(asked, text), *ranked, *_people(asked, text)]
    # ids are typed or pasted on purpose, so calls come first
    best = [*_calls(asked, text), *sorted(found, key=lambda option: option.rank)][:SHOWN]
    return [*best, *_in_audit(asked, text)]


def _pages(request: ConsoleRequest) -> Iterator[Option]:
    named: list[tuple[str, Link]] = [(str(part.label), link) for part in menu_of(request) for link in part.links]
    seen = {link.url for _section, link in named}
    for section in (AUDIT_TABS, SEARCH_TABS):
        named += [(str(section.label), link) for link in links_of(request, section) if link.url not in seen]
    for section_label, link in named:
        yield Option(f"palette-{link.url_name}", str(link.label), link.icon, section_label or _("Page"), link.url)


def _actions(request: ConsoleRequest) -> Iterator[Option]:
    may, note = permissions_of(request.user), _("Action")
    for number, action in enumerate(ACTIONS):
        if action.permission in may and (url := _url(action.url_name)):
            url += f"#{action.anchor}" if action.anchor else ""
            yield Option(f"palette-do-{number}", str(action.label), action.icon, note, url)
    for number, environment in enumerate(environments_of(request)):
        if request.environment and environment.slug != request.environment.slug:
            label = _("Look at %(environment)s") % {"environment": environment.name}
            yield Option(
                f"palette-see-{number}", label, "world", _("Environment"), form="environment", value=environment.slug
            )
    for code, name in settings.LANGUAGES:
        if code != get_language():
            yield Option(f"palette-say-{code}", name, "language", _("Language"), form="language", value=code)
    yield Option("palette-theme", _("Switch theme"), "moon", note, form="theme")
    yield Option("palette-sign-out", _("Sign out"), "logout", note, form="sign-out")


def _records(request: ConsoleRequest, text: str) -> Iterator[Option]:
    if request.environment is None or Permission.POLICY_READ not in permissions_of(request.user):
        return
    for record in records_named(request.environment, text, PAGES):
        if record.kind == "provider" and not record.beside and not _url("global"):
            continue  # those of every agent have no page yet
        kind, icon = KINDS[record.kind]
        note = f"{kind} · {record.beside}" if record.beside else str(kind)
        url = record_url(record.kind, record.id)
        yield Option(f"palette-{record.id.hex}", record.name, icon, note, url, rank=record.rank)
    for check in checks_named(request.environment, text):
        kind, icon, url_name = CHECK_WORDS[check.kind]
        yield Option(f"palette-{check.id.hex}", check.name, icon, str(kind), _url(url_name, check.id), rank=check.rank)


def _catalogue(request: ConsoleRequest, text: str) -> Iterator[Option]:
    if request.environment is None or Permission.POLICY_READ not in permissions_of(request.user):
        return
    for number, part in enumerate(catalogue_named(request.environment, text)):
        kind, icon, url_name = PART_WORDS[part.kind]
        note = f"{kind} · {part.beside}" if part.beside else str(kind)
        yield Option(f"palette-part-{number}", part.name, icon, note, _url(url_name, part.name), rank=part.rank)


def _people(request: ConsoleRequest, text: str) -> Iterator[Option]:
    if Permission.USERS_MANAGE not in permissions_of(request.user):
        return
    for user in users_named(text, limit=PEOPLE_LIMIT):
        note = f"{_('Person')} · {user.username}"
        rank: int = user.rank  # type: ignore[attr-defined]
        yield Option(f"palette-{user.pk.hex}", str(user), "users", note, _url("user", user.pk), rank=rank)


def _calls(request: ConsoleRequest, text: str) -> Iterator[Option]:
    if request.environment is None or Permission.AUDIT_READ not in permissions_of(request.user):
        return
    for call in calls_begun(request.environment.slug, text, limit=CALLS_LIMIT):
        note = " · ".join(filter(None, [_("Call"), call.tool, call.agent]))
        yield Option(
            f"palette-{call.id.hex}", show_id("call", call.id), "list-search", note, _url("audit-call", call.id)
        )


def _in_audit(request: ConsoleRequest, text: str) -> Iterable[Option]:
    if Permission.AUDIT_READ not in permissions_of(request.user):
        return []
    url = f"{reverse('audit')}?{urlencode({'q': text})}"
    return [Option("palette-search", text, "list-search", _("Find in audit"), url)]


def _url(name: str, *values: Any) -> str:
    """Return the address of a page; empty while there is no such page."""
    try:
        return reverse(name, args=values)
    except NoReverseMatch:
        return ""
