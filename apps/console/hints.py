"""What of a request deserves a second look, as people read it: from the line, and from the past."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.console.templatetags.console import ago_text

HOST_CODES: Final = frozenset({"host_new", "host_seen"})


@dataclass(frozen=True, slots=True)
class HintKind:
    icon: str
    level: str
    label: Promise


# What the engine's evidence means to a person.
HINTS: dict[str, HintKind] = {
    "network": HintKind("world", "ask", _("Network")),
    "writes_outside_workspace": HintKind("folder-x", "ask", _("Writes outside the workspace")),
    "destructive": HintKind("trash", "deny", _("Destructive")),
    "secret_in_arguments": HintKind("key", "deny", _("Secret in the arguments")),
    "download_to_shell": HintKind("download", "deny", _("Runs downloaded code")),
    "pipe_to_shell": HintKind("terminal-2", "deny", _("Pipes into a shell")),
    "shell_wrapper": HintKind("terminal-2", "ask", _("A line for a shell")),
    "look_alike": HintKind("eye", "deny", _("Letters that look like others")),
    "invisible_character": HintKind("eye-off", "deny", _("Invisible character")),
    "shell_syntax": HintKind("terminal-2", "ask", _("Shell syntax")),
    "reserved_word": HintKind("terminal-2", "ask", _("Shell syntax")),
    "assignment": HintKind("terminal-2", "ask", _("Sets a variable")),
    "wrapper": HintKind("terminal-2", "ask", _("Runs another program")),
    "shell": HintKind("terminal-2", "ask", _("Starts a shell")),
    "inline_code": HintKind("braces", "ask", _("Code in the arguments")),
    "variables": HintKind("adjustments", "ask", _("Sets variables")),
    "hook_rewrote": HintKind("pencil", "ask", _("Changed by a plugin")),
    "sender_new": HintKind("user-question", "ask", _("First message from this sender")),
    "shape_denied": HintKind("history", "ask", _("Denied before")),
    "shape_seen": HintKind("history", "", _("Seen before")),
    "shape_new": HintKind("history", "", _("New kind of command")),
}
OTHER = HintKind("info-circle", "ask", _("Note"))


@dataclass(frozen=True, slots=True)
class Hint:
    """One hint: `text` is the piece of the line that shows it, `note` what the ledger knows of it."""

    icon: str
    level: str
    label: Promise
    text: str
    note: str = ""


def hints_of(evidence: Sequence[Mapping[str, Any]]) -> list[Hint]:
    """Put kept evidence into words; what is known of a host stands with the hint that names it."""
    hosts = {str(item.get("text", "")): item for item in evidence if item.get("code") in HOST_CODES}
    return [_hint(item, hosts) for item in evidence if item.get("code") not in HOST_CODES]


def _hint(item: Mapping[str, Any], hosts: Mapping[str, Mapping[str, Any]]) -> Hint:
    code, text = str(item.get("code", "")), str(item.get("text", ""))
    kind = HINTS.get(code, OTHER)
    known = hosts.get(text) if code == "network" else item
    return Hint(kind.icon, kind.level, kind.label, text, "" if known is None else _note(known))


def _note(item: Mapping[str, Any]) -> str:
    if item.get("code") == "host_new":
        return gettext("never seen before")
    if "count" not in item or "last" not in item:
        return ""
    number, last = int(item["count"]), ago_text(datetime.fromisoformat(str(item["last"])))
    if item.get("code") == "shape_denied":
        return gettext("%(number)s of %(total)s times, last %(ago)s") % {
            "number": number,
            "total": int(item["of"]),
            "ago": last,
        }
    words = ngettext("%(number)s time, last %(ago)s", "%(number)s times, last %(ago)s", number)
    return words % {"number": number, "ago": last}
