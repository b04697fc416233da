"""The menu: one table. An entry shows when its page exists and the person may open it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.accounts.access import Permission, permissions_of


@dataclass(frozen=True, slots=True)
class Entry:
    """One page in the menu; `stem` is how the url names of its pages begin."""

    url_name: str
    label: Promise
    icon: str
    stem: str
    permission: Permission | None = None
    is_quick: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    label: Promise | str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """An entry as the template shows it."""

    url: str
    url_name: str
    label: Promise
    icon: str
    is_current: bool
    is_quick: bool


@dataclass(frozen=True, slots=True)
class ShownSection:
    label: Promise | str
    links: tuple[Link, ...]


MENU: tuple[Section, ...] = (
    Section(
        "",
        (
            Entry("overview", _("Overview"), "layout-dashboard", "overview", Permission.POLICY_READ, is_quick=True),
            Entry("approvals", _("Approvals"), "checklist", "approval", Permission.APPROVALS_READ, is_quick=True),
            Entry("grants", _("Standing approvals"), "repeat", "grant", Permission.APPROVALS_READ),
            Entry("halts", _("Kill switch"), "power", "halt", Permission.POLICY_READ),
            Entry("sessions", _("Sessions"), "messages", "session", Permission.AUDIT_READ),
            Entry("audit", _("Audit"), "list-search", "audit", Permission.AUDIT_READ, is_quick=True),
            Entry("async-calls", _("Asynchronous calls"), "stack-2", "async-call", Permission.AUDIT_READ),
            Entry("explorer", _("Explorer"), "zoom-question", "explorer", Permission.EXPLAIN, is_quick=True),
        ),
    ),
    Section(
        _("Catalog"),
        (
            Entry("tools", _("Tools"), "tool", "tool", Permission.POLICY_READ),
            Entry("tool-search", _("Tool search"), "target", "tool-search", Permission.AUDIT_READ),
            Entry("plugins", _("Plugins"), "puzzle", "plugin", Permission.POLICY_READ),
            Entry("hooks", _("Hooks"), "webhook", "hook", Permission.POLICY_READ),
            Entry("tool-groups", _("Tool groups"), "folders", "tool-group", Permission.POLICY_READ),
            Entry("sources", _("Discovery"), "route", "source", Permission.POLICY_READ),
        ),
    ),
    Section(
        _("Policy"),
        (
            Entry("global", _("Global & providers"), "world", "global", Permission.POLICY_READ),
            Entry("profiles", _("Profiles"), "id-badge-2", "profile", Permission.POLICY_READ),
            Entry("agents", _("Agents"), "robot", "agent", Permission.POLICY_READ),
            Entry("groups", _("Channel groups"), "messages", "group", Permission.POLICY_READ),
            Entry("permissions", _("Permissions"), "key", "permission", Permission.POLICY_READ),
            Entry("filters", _("Content filters"), "filter", "filter", Permission.POLICY_READ),
            Entry("exec-rules", _("Exec rules"), "terminal-2", "exec-rule", Permission.POLICY_READ),
            Entry("limits", _("Limits"), "gauge", "limit", Permission.POLICY_READ),
            Entry("sandbox", _("Sandbox"), "shield-half", "sandbox", Permission.POLICY_READ),
            Entry("policy-tests", _("Policy tests"), "test-pipe", "policy-test", Permission.POLICY_READ),
            Entry("suggestions", _("Suggestions"), "sparkles", "suggestion", Permission.AUDIT_READ),
            Entry("guardrails", _("Guardrails"), "shield-check", "guardrail", Permission.POLICY_READ),
        ),
    ),
    Section(
        _("Release"),
        (
            Entry("import", _("Import"), "file-import", "import", Permission.POLICY_WRITE),
            Entry("publish", _("Review and publish"), "git-branch", "publish", Permission.POLICY_READ),
            Entry("replays", _("Replays"), "player-track-next", "replay", Permission.AUDIT_READ),
            Entry("shadows", _("Shadow rules"), "eye", "shadow", Permission.POLICY_READ),
            Entry("snapshots", _("Snapshots"), "versions", "snapshot", Permission.POLICY_READ),
            Entry("gateways", _("Gateways"), "server-2", "gateway", Permission.POLICY_READ),
        ),
    ),
    Section(
        _("Access"),
        (
            Entry("users", _("People"), "users", "user", Permission.USERS_MANAGE),
            Entry("tokens", _("API tokens"), "key", "token", Permission.TOKENS_MANAGE),
            Entry("notifications", _("Notifications"), "bell", "notification"),
            Entry("settings", _("Settings"), "settings", "settings"),
        ),
    ),
)

# The pages of the ledger, one strip above each of them. One shows once its url exists.
AUDIT_TABS = Section(
    _("Audit"),
    (
        Entry("audit", _("Calls"), "list-search", "audit", Permission.AUDIT_READ),
        Entry("audit-reports", _("Reports"), "chart-bar", "audit-report", Permission.AUDIT_READ),
        Entry("audit-coverage", _("Coverage"), "shield-check", "audit-coverage", Permission.AUDIT_READ),
        Entry("audit-integrity", _("Integrity"), "link", "audit-integrity", Permission.AUDIT_READ),
        Entry("audit-retention", _("Retention"), "clock-x", "audit-retention", Permission.AUDIT_MANAGE),
        Entry("audit-exports", _("Exports and streams"), "download", "audit-export", Permission.AUDIT_READ),
    ),
)

# The pages of tool search, as those of the ledger.
SEARCH_TABS = Section(
    _("Tool search"),
    (
        Entry("tool-search", _("Figures"), "target", "tool-search", Permission.AUDIT_READ),
        Entry("tool-search-runs", _("Runs"), "target", "tool-search-run", Permission.AUDIT_READ),
        Entry("tool-search-quality", _("Quality"), "target", "tool-search-quality", Permission.AUDIT_READ),
        Entry("tool-search-try", _("Try it"), "target", "tool-search-try", Permission.EXPLAIN),
        Entry("tool-search-settings", _("Mode"), "target", "tool-search-settings", Permission.POLICY_READ),
    ),
)


def _is_current(entry: Entry, url_name: str) -> bool:
    """Say whether a page belongs to an entry: the stem, alone or followed by a plural or a part."""
    rest = url_name.removeprefix(entry.stem)
    return url_name.startswith(entry.stem) and (rest in {"", "s"} or rest.startswith(("-", "s-")))


def _current(sections: Iterable[Section], url_name: str) -> Entry | None:
    """Find the entry that a page belongs to: the one with the longest stem, `tool-group` before `tool`."""
    found = [entry for section in sections for entry in section.entries if _is_current(entry, url_name)]
    return max(found, key=lambda entry: len(entry.stem), default=None)


def _links(request: HttpRequest, section: Section, among: Iterable[Section]) -> Iterator[Link]:
    allowed = permissions_of(request.user)
    url_name = (request.resolver_match.url_name if request.resolver_match else "") or ""
    current = _current(among, url_name)
    for entry in section.entries:
        if entry.permission is not None and entry.permission not in allowed:
            continue
        try:
            url = reverse(entry.url_name)
        except NoReverseMatch:
            continue
        yield Link(url, entry.url_name, entry.label, entry.icon, entry is current, entry.is_quick)


def menu_of(request: HttpRequest) -> list[ShownSection]:
    """List the sections that hold at least one page the person may open."""
    if not request.user.is_authenticated:
        return []
    shown = [ShownSection(section.label, tuple(_links(request, section, MENU))) for section in MENU]
    return [section for section in shown if section.links]


def links_of(request: HttpRequest, section: Section) -> list[Link]:
    """List the pages of one section that the person may open."""
    return list(_links(request, section, [section]))


def audit_tabs(request: HttpRequest) -> list[Link]:
    """List the pages of the ledger that the person may open."""
    return links_of(request, AUDIT_TABS)


def search_tabs(request: HttpRequest) -> list[Link]:
    """List the pages of tool search that the person may open."""
    return links_of(request, SEARCH_TABS)
