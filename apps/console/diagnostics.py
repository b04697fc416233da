"""What an import has to say, put together by kind: what a person must know first stands first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

SHOWN = 40


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of remark: its title and what it means."""

    title: Promise | str
    meaning: Promise | str
    icon: str
    action: tuple[str, Promise | str] | None = None
    """The page on which something can be done about it, by its name in the URLs, and what the link says."""


KINDS: Mapping[str, Kind] = {
    "include_not_read": Kind(_("Included files"), _("What they say is not part of the draft."), "alert-triangle"),
    "secret_unknown": Kind(_("Masked secrets"), _("A mask stands where the value is not known here."), "lock"),
    "secret_sealed": Kind(
        _("Secrets sealed"), _("Kept encrypted; people see their length and short hash only."), "lock"
    ),
    "comments_dropped": Kind(_("Comments"), _("They do not survive an export."), "message"),
    "retired_agent_list": Kind(_("Old list of agents"), _("Written in the current form from now on."), "repeat"),
    "retired_default_marker": Kind(_("Default markers"), _("Dropped: each call names its agent."), "repeat"),
    "retired_exec_pair": Kind(_("Old exec settings"), _("Written in the current form from now on."), "repeat"),
    "later_release": Kind(
        _("Written by a newer OpenClaw"), _("The environment's release still decides."), "alert-triangle"
    ),
    "unknown_key": Kind(_("Misspelt keys"), _("They decide nothing."), "alert-triangle"),
    "dead_place": Kind(_("Rules in places that OpenClaw does not read"), _("They decide nothing."), "alert-triangle"),
    "not_of_release": Kind(
        _("Keys that OpenClaw refuses"),
        _("They stay in the draft. An export leaves them out, because OpenClaw rejects a file that has them."),
        "alert-triangle",
    ),
    "unread_key": Kind(_("Keys that OpenClaw does not read"), _("They decide nothing."), "alert-triangle"),
    "unknown_agent": Kind(_("Unknown agents"), _("What is said of them decides nothing."), "alert-triangle"),
    "no_agents": Kind(_("No agents"), _("No list in the document admits a command."), "alert-triangle"),
    "out_of_range": Kind(
        _("Numbers out of range"), _("Each is replaced by the nearest allowed one."), "alert-triangle"
    ),
    "not_enforced": Kind(
        _("Enforced by OpenClaw alone"), _("Kept and exported; no decision here rests on it."), "alert-triangle"
    ),
    "server_unknown": Kind(
        _("MCP servers"),
        _("Their tools come from a source; until there is one, every call of them is refused."),
        "alert-triangle",
        ("source-new", _("Add a source")),
    ),
    "default_agent_named": Kind(_("Default agent"), _("Written as the release looks for it."), "repeat"),
    "kept_verbatim": Kind(
        _("Kept as it is"), _("An export gives it back unchanged; what of it decides here is named."), "file-text"
    ),
}
_LAST = len(KINDS)


@dataclass(frozen=True, slots=True)
class Group:
    """The remarks of one kind; `left_off` more of them are not shown."""

    kind: Kind
    is_warning: bool
    items: tuple[Mapping[str, str], ...]
    count: int

    @property
    def left_off(self) -> int:
        return self.count - len(self.items)


def groups_of(found: Iterable[Mapping[str, str]]) -> list[Group]:
    """Group remarks by code, warnings first."""
    by_code: dict[str, list[Mapping[str, str]]] = {}
    for item in found:
        by_code.setdefault(item["code"], []).append(item)
    groups = [
        (
            code,
            Group(
                KINDS.get(code, Kind(code.replace("_", " "), "", "info-circle")),
                any(item.get("severity") == "warning" for item in items),
                tuple(items[:SHOWN]),
                len(items),
            ),
        )
        for code, items in by_code.items()
    ]
    order = list(KINDS)
    groups.sort(key=lambda pair: (not pair[1].is_warning, order.index(pair[0]) if pair[0] in KINDS else _LAST))
    return [group for _code, group in groups]
