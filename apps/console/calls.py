"""What the audit page shows of a call: one line, and the drawer."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise, cached_property
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.audit.drafts import EntryKind
from apps.audit.verification import entry_is_intact
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.layers import layers_of

if TYPE_CHECKING:
    from apps.audit.rows import CallRecord, EntryRow

BRIEF_LIMIT = 160
LIKE_LETTERS = 80
RESULT_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class StatusKind:
    dot: str
    label: Promise


STATUSES: dict[str, StatusKind] = {
    "completed": StatusKind("ok", _("ok")),
    "failed": StatusKind("bad", _("failed")),
    "unknown": StatusKind("warn", _("unknown")),
    "denied": StatusKind("off", _("denied")),
    "joined": StatusKind("off", pgettext_lazy("status of a call", "duplicate")),
    "expired": StatusKind("off", _("timed out")),
    "cancelled": StatusKind("off", _("cancelled")),
    "superseded": StatusKind("off", _("superseded")),
    "awaiting_approval": StatusKind("warn", _("waiting")),
    "approved": StatusKind("warn", _("approved")),
    "running": StatusKind("warn", _("running")),
}

PHASES: dict[str, tuple[Promise, str]] = {
    "decide": (_("Policy"), ""),
    "validate": (_("Validate"), ""),
    "host_env": (_("Variables of the command"), ""),
    "permissions": (_("Permissions"), ""),
    "content": (_("Content filters"), ""),
    "session": (_("Session"), ""),
    "limits": (_("Limits"), ""),
    "before_hooks": (_("Hooks"), ""),
    "check_again": (_("Check of what hooks changed"), ""),
    "command_input": (_("Input of a command"), ""),
    "sandbox": (_("Sandbox"), ""),
    "approval": (_("Approval"), ""),
    "approval_wait": (_("Approval wait"), "wait"),
    "execute": (_("Run"), "run"),
    "session_end": (_("Session"), ""),
    "limits_end": (_("Limits"), ""),
    "content_result": (_("Content filters"), ""),
    "results": (_("Results"), ""),
    "after_hooks": (_("Hooks"), ""),
    # of entries from before the stages had these names
    "policy": (_("Policy"), ""),
    "hooks": (_("Hooks"), ""),
    "run": (_("Run"), "run"),
}

APPROVAL_STATES: dict[str, Promise] = {
    "requested": _("waiting"),
    "allowed_once": _("allowed once"),
    "allowed_always": _("allowed always"),
    "denied": _("denied"),
    "expired": _("timed out"),
    "cancelled": _("withdrawn"),
    "superseded": _("superseded"),
}


@dataclass(frozen=True, slots=True)
class Phase:
    """One bar: where it starts and how wide it is, in percent."""

    label: Promise | str
    css: str
    start: str
    width: str
    duration_ms: int


def layer_number(key: str, dialect: str) -> int | None:
    """Find a layer's place in a release; None for what is not a layer."""
    keys = [layer.key for layer in layers_of(DIALECTS[dialect])] if dialect in DIALECTS else []
    return keys.index(key) + 1 if key in keys else None


class ShownCall:
    """A call as the list and the drawer show it."""

    def __init__(self, call: "CallRecord", *, dialect: str) -> None:
        self.call = call
        self.dialect = dialect

    @cached_property
    def status(self) -> StatusKind:
        return STATUSES.get(self.call.status, StatusKind("off", _("–")))

    @property
    def brief(self) -> str:
        """The words of the params that tell most: the command, a path, else the JSON."""
        params = self.call.params
        if isinstance(params, dict):
            for name in ("command", "argv", "path", "file_path", "url", "query"):
                value = params.get(name)
                if isinstance(value, str) and value:
                    return Truncator(value).chars(BRIEF_LIMIT)
                if isinstance(value, list) and value:
                    return Truncator(" ".join(map(str, value))).chars(BRIEF_LIMIT)
        if not params:
            return ""
        return Truncator(json.dumps(params, ensure_ascii=False)).chars(BRIEF_LIMIT)

    @property
    def is_today(self) -> bool:
        return timezone.localdate(self.call.at) == timezone.localdate()

    @property
    def layer_number(self) -> int | None:
        return layer_number(self.call.layer, self.dialect) if self.call.decision == "deny" else None

    @property
    def like_url(self) -> str:
        """Where calls of this tool with the first words of this one are listed."""
        query = {"span": "all", "tool": self.call.tool, "agent": self.call.agent, "text": self.brief[:LIKE_LETTERS]}
        return f"{reverse('audit')}?{urlencode({name: value for name, value in query.items() if value})}"

    @property
    def texts(self) -> dict[str, str]:
        """What the plain columns of the list hold, by their names."""
        call = self.call
        return {
            "layer": call.layer,
            "rule": call.rule,
            "session": call.session_key,
            "channel": call.channel,
            "sender": call.sender,
            "actor": call.actor,
            "trace": call.trace_id,
        }

    @property
    def approver(self) -> str:
        return self.call.approval_by.partition(":")[2] or self.call.approval_by

    @property
    def approval_label(self) -> Promise | str:
        return APPROVAL_STATES.get(self.call.approval_state, self.call.approval_state)

    @property
    def total_ms(self) -> int | None:
        if self.call.duration_ms is not None:
            return self.call.duration_ms
        return sum(self.call.phases.values()) or None

    @property
    def phases(self) -> list[Phase]:
        return list(self._phases())

    def _phases(self) -> Iterator[Phase]:
        known = [(name, ms) for name, ms in self.call.phases.items() if isinstance(ms, int)]
        if self.call.approval_wait_ms and "approval_wait" not in self.call.phases:
            known.insert(0, ("approval_wait", self.call.approval_wait_ms))
        order = list(PHASES)
        known.sort(key=lambda item: order.index(item[0]) if item[0] in order else len(order))
        total = sum(ms for _name, ms in known) or 1
        before = 0
        for name, ms in known:
            label, css = PHASES.get(name, (name, ""))
            yield Phase(label, css, f"{before * 100 / total:.2f}", f"{max(ms * 100 / total, 0.6):.2f}", ms)
            before += ms

    @cached_property
    def result(self) -> Any:
        """The result; a text longer than the limit is cut, the export holds all of it."""
        result = self.call.result
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return text[:RESULT_LIMIT] if len(text) > RESULT_LIMIT else result

    @property
    def is_cut(self) -> bool:
        return self.result is not self.call.result

    @property
    def command_end(self) -> "EntryRow | None":
        """The record of how the command ended that the call left running; None while it runs, or without one."""
        return next((each for each in self.call.entries if each.kind == EntryKind.COMMAND_ENDED), None)

    @property
    def command_status(self) -> StatusKind:
        end = self.command_end
        return STATUSES["running" if end is None else end.status]

    @property
    def is_intact(self) -> bool:
        return all(entry_is_intact(entry) for entry in self.call.entries)

    @property
    def last_entry(self) -> "EntryRow":
        return self.call.entries[-1]

    @property
    def ends(self) -> tuple[str, str]:
        return self.last_entry.prev_hash.hex()[:8], self.last_entry.hash.hex()[:8]


SPANS: dict[str, tuple[Promise, timedelta | None]] = {
    "1h": (_("Last hour"), timedelta(hours=1)),
    "6h": (_("Last 6 hours"), timedelta(hours=6)),
    "24h": (_("Last 24 hours"), timedelta(hours=24)),
    "7d": (_("Last 7 days"), timedelta(days=7)),
    "30d": (_("Last 30 days"), timedelta(days=30)),
    "all": (_("All time"), None),
}
DEFAULT_SPAN = "24h"


def since_of(span: str, at: datetime) -> datetime | None:
    """Turn a chosen span into the instant it starts; an unknown one is the default."""
    _label, length = SPANS.get(span, SPANS[DEFAULT_SPAN])
    return None if length is None else at - length
