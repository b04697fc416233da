"""What a card of the approvals page shows: command, hints, scopes of an "always", who decided."""

import json
import shlex
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.approvals.drafts import GRANT_DAYS, GrantScope
from apps.approvals.rules import is_own, may_be_allowed
from apps.approvals.scopes import ALWAYS_OFF, always_is_off, reaches_of
from apps.approvals.states import Decision, State
from apps.approvals.unbound import unbound_reason
from apps.console.clipping import Clipped, clipped_value
from apps.console.commands import BRIEF_LIMIT, Piece, clipped, drawn, guessed_spans, spans_of
from apps.console.hints import Hint, hints_of
from apps.console.line_parts import ASKS, BAD, LEGEND, MARKS, ShownPart, is_dangerous, level_of, shown_parts

if TYPE_CHECKING:
    from apps.accounts.access import Principal
    from apps.approvals.models import Approval, Grant

WARN_S, CRITICAL_S = 45, 15


@dataclass(frozen=True, slots=True)
class Scope:
    """One way to answer "always". `pattern` is empty for the exact action."""

    value: str
    label: Promise
    pattern: str
    is_broad: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """What an answer "always" would save, before it is confirmed.

    Attributes:
        words: what runs without approval from then on.
        until: when that ends; None without an end.
    """

    scope: Scope
    words: str
    every_agent: bool
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Verdict:
    css: str
    icon: str
    label: Promise


VERDICTS: dict[str, Verdict] = {
    State.ALLOWED_ONCE: Verdict("allow", "check", _("Allowed once")),
    State.ALLOWED_ALWAYS: Verdict("allow", "repeat", _("Allowed always")),
    State.DENIED: Verdict("deny", "x", _("Denied")),
    State.EXPIRED: Verdict("deny", "clock-x", _("Timed out, denied")),
    State.CANCELLED: Verdict("off", "circle-minus", _("Withdrawn")),
    State.SUPERSEDED: Verdict("off", "circle-minus", _("Superseded")),
}

REACH: dict[str, Promise] = {
    "exact": _("These exact arguments"),
    "first": _("Same first argument"),
    "any": _("Any arguments"),
}
NO_END = "never"
DAYS: tuple[tuple[str, Promise], ...] = (
    ("1", _("1 day")),
    ("7", _("7 days")),
    (str(GRANT_DAYS), _("30 days")),
    ("90", _("90 days")),
    (NO_END, _("without an end")),
)

REASONS = (_("Untrusted source"), _("Not needed"), _("Ask the user first"))


def scopes_of(approval: "Approval") -> list[Scope]:
    """List how far an "always" may reach for a request, the narrowest first."""
    return [Scope(reach.name, REACH[reach.name], reach.arg_pattern, reach.is_broad) for reach in reaches_of(approval)]


def grant_scope(approval: "Approval", value: str, *, every_agent: bool = False, days: str = "") -> GrantScope:
    """Turn chosen reaches into what the service takes; an unknown choice is the narrowest.

    Args:
        days: of `DAYS`; empty for the usual ones.
    """
    chosen = {scope.value: scope for scope in scopes_of(approval)}.get(value)
    return GrantScope(
        arg_pattern=chosen.pattern if chosen is not None else "",
        every_agent=every_agent,
        days=None if days == NO_END else int(days or GRANT_DAYS),
    )


class Card:
    """One request as one person sees it now."""

    def __init__(
        self,
        approval: "Approval",
        *,
        may_resolve: bool,
        by: "Principal | None" = None,
        at: datetime | None = None,
        is_mine: bool = False,
    ) -> None:
        self.approval = approval
        self.at = at or timezone.now()
        self.may_resolve = may_resolve
        self.is_mine = is_mine
        self.is_own = by is not None and is_own(approval, by)

    @property
    def can_decide(self) -> bool:
        return self.may_resolve and self.approval.is_pending

    @property
    def is_frozen(self) -> bool:
        """Say whether the kill switch holds it."""
        return self.approval.is_pending and not may_be_allowed(self.approval)

    @property
    def left_s(self) -> int:
        return max(0, int((self.approval.expires_at - (self.approval.frozen_at or self.at)).total_seconds()))

    @property
    def total_s(self) -> int:
        return max(1, int((self.approval.expires_at - self.approval.requested_at).total_seconds()))

    @property
    def share(self) -> str:
        return f"{self.left_s * 100 / self.total_s:.1f}"

    @property
    def level(self) -> str:
        if self.left_s <= CRITICAL_S:
            return "crit"
        return "warn" if self.left_s <= WARN_S else "ok"

    @property
    def left_text(self) -> str:
        return f"{self.left_s // 60}:{self.left_s % 60:02d}"

    @cached_property
    def hints(self) -> list[Hint]:
        return hints_of(self.approval.evidence)

    @property
    def is_high_risk(self) -> bool:
        return self.approval.severity == "high" or any(hint.level == "deny" for hint in self.hints)

    @property
    def line(self) -> str:
        """The whole line, masked."""
        return self.approval.command or " ".join(self.approval.argv)

    @cached_property
    def _pieces(self) -> list[Piece]:
        line, parts = self.line, self.approval.parts
        dangers = tuple(hint.text for hint in self.hints if hint.level == "deny" and hint.text)
        if parts:
            levels = [level_of(part, line[part["start"] : part["end"]], dangers) for part in parts]
            return drawn(line, spans_of(parts, levels))
        spans = guessed_spans(line)
        return drawn(
            line,
            [
                replace(span, level=BAD if is_dangerous(line[span.start : span.end], dangers) else ASKS)
                for span in spans
            ],
        )

    @cached_property
    def pieces(self) -> list[Piece]:
        """The line as it is drawn on the card."""
        return clipped(self._pieces)

    @cached_property
    def brief(self) -> list[Piece]:
        """The beginning of the line, for one row."""
        return clipped(self._pieces, head=BRIEF_LIMIT, tail=0)

    @cached_property
    def params(self) -> Clipped:
        return clipped_value(self.approval.params)

    @property
    def cut(self) -> int:
        """How many characters of what is asked for the card leaves out."""
        return sum(piece.cut for piece in self.pieces) if self.is_command else self.params.left_out

    @cached_property
    def parts(self) -> list[ShownPart]:
        """Each command with what was said of it."""
        return shown_parts(self.approval.parts)

    @property
    def has_numbers(self) -> bool:
        return sum(piece.number > 0 for piece in self._pieces) > 1

    @cached_property
    def legend(self) -> list[tuple[str, Promise]]:
        """What the marks of this line mean, as far as it has them."""
        used = {piece.level for piece in self._pieces if piece.number}
        return [(level, label) for level, label in LEGEND if level in used] if self.has_numbers else []

    @property
    def marks(self) -> dict[str, Promise]:
        return MARKS

    @property
    def asking_parts(self) -> int:
        return sum(not part.is_allowed for part in self.parts)

    @property
    def is_command(self) -> bool:
        return self.approval.kind == "exec"

    @cached_property
    def scopes(self) -> list[Scope]:
        return scopes_of(self.approval)

    @cached_property
    def exact_words(self) -> str:
        """Exactly what is asked for: the program's path with its arguments, or the parameters."""
        approval = self.approval
        if self.is_command:
            words = [approval.resolved_path or next(iter(approval.argv), ""), *approval.argv[1:]]
            return shlex.join(words) if approval.argv else approval.command
        return f"{approval.tool} {json.dumps(approval.params, ensure_ascii=False)}"

    @cached_property
    def scope_rows(self) -> list[tuple[Scope, str]]:
        """Each scope of an "always" with what it would let run."""
        return [(scope, self._words_of(scope)) for scope in self.scopes]

    def _words_of(self, scope: Scope) -> str:
        return f"{self.approval.resolved_path} {scope.pattern}" if scope.pattern else self.exact_words

    def standing(self, chosen: str, *, every_agent: bool, days: str) -> Standing | None:
        """Return what an "always" would save; None where the request offers none."""
        scope = next((each for each in self.scopes if each.value == chosen), next(iter(self.scopes), None))
        if scope is None:
            return None
        return Standing(scope, self._words_of(scope), every_agent, self._until(days or self.usual_days))

    def _until(self, days: str) -> datetime | None:
        return None if days == NO_END else self.at + timedelta(days=int(days))

    @property
    def days(self) -> list[tuple[str, Promise, datetime | None]]:
        """The choices of how long, each with the moment at which it would end."""
        return [(value, label, self._until(value)) for value, label in DAYS]

    @property
    def usual_days(self) -> str:
        return str(GRANT_DAYS)

    @property
    def may_always(self) -> bool:
        return Decision.ALLOW_ALWAYS in self.approval.decisions and not self.is_own and not self.is_frozen

    @property
    def may_once(self) -> bool:
        return Decision.ALLOW_ONCE in self.approval.decisions and not self.is_own and not self.is_frozen

    @property
    def always_off(self) -> Promise | str:
        """Say why the request offers no "always"."""
        return ALWAYS_OFF.get(always_is_off(self.approval), "")

    @cached_property
    def not_bound(self) -> list[str]:
        """Say what an answer is not bound to."""
        return [unbound_reason(item) for item in self.approval.not_bound]

    @property
    def grant(self) -> "Grant | None":
        """The rule that this answer made, as long as nobody revoked it and it has not run out."""
        if self.approval.state != State.ALLOWED_ALWAYS:
            return None
        standing = (grant for grant in self.approval.grants.all() if grant.revoked_at is None)
        return next((grant for grant in standing if grant.expires_at is None or grant.expires_at > self.at), None)

    @property
    def verdict(self) -> Verdict | None:
        return VERDICTS.get(self.approval.state)

    @property
    def reasons(self) -> tuple[Promise, ...]:
        return REASONS
