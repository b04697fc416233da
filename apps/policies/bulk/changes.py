"""What a bulk edit changes: one entry of one list, the profile, or how commands are judged."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.policies.compiler import draft_source
from apps.policies.errors import BulkEditInvalidError, RecordInvalidError
from apps.policies.models import Agent, ExecMode
from apps.policies.profiles import known_profiles
from apps.registry.models import Environment

ACTIONS: Final = ("add", "remove", "profile", "exec_mode")
LISTS: Final = ("allow", "also_allow", "deny")
ENTRY_LETTERS: Final = 512


@dataclass(frozen=True, slots=True)
class BulkChange:
    """One change, for each agent the same.

    Attributes:
        action: of `ACTIONS`.
        list: of `LISTS`, for `add` and `remove`; `entry` is the name in it.
        value: the profile or the mode; empty makes the agent inherit it.
    """

    action: str
    list: str = ""
    entry: str = ""
    value: str = ""

    @classmethod
    def read(cls, environment: Environment, given: Mapping[str, Any]) -> "BulkChange":
        """Read a change.

        Raises:
            BulkEditInvalidError: names each member that is wrong.
        """
        texts = {name: str(given.get(name) or "").strip() for name in ("action", "list", "entry", "value")}
        wrong = dict(_mistakes(environment, **texts))
        if wrong:
            details = [{"path": name, "code": "invalid", "message": message} for name, message in wrong.items()]
            raise BulkEditInvalidError(_("the change has mistakes"), details)
        of_list = texts["action"] in {"add", "remove"}
        kept = ("action", "list", "entry") if of_list else ("action", "value")
        return cls(**{name: texts[name] for name in kept})

    def to_json(self) -> dict[str, str]:
        return asdict(self)

    def wanted(self, record: Any) -> dict[str, Any]:
        """Say which fields an agent, or its exec settings, would have; those that stay are there as they are.

        Raises:
            RecordInvalidError: an allow list would lose its last entry, and so allow everything.
        """
        if self.action == "profile":
            return {"profile": self.value or None}
        if self.action == "exec_mode":
            return {"mode": self.value or None}
        stored: list[str] | None = getattr(record, self.list)
        if (self.entry in (stored or ())) is (self.action == "add"):
            return {self.list: stored}
        if self.action == "add":
            return {self.list: [*(stored or ()), self.entry]}
        left = [each for each in stored or () if each != self.entry]
        if not left and self.list == "allow":
            raise RecordInvalidError(_("without its last entry the list would allow everything"))
        return {self.list: left or None}


def snapshot_with(environment: Environment, agents: Sequence[Agent], change: BulkChange) -> Snapshot:
    """Compile the draft as it would be; agents that would refuse the change stay as they are."""
    source = draft_source(environment)
    known = {agent.key: agent for agent in agents}
    for each in source.agents or ():
        if each.id in known and change.action != "exec_mode":
            try:
                wanted = change.wanted(known[each.id])
            except RecordInvalidError:
                continue
            if all(getattr(known[each.id], name) == value for name, value in wanted.items()):
                continue
            members: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in wanted.items()
            }
            each.policy = replace(each.policy or Policy(), **members)
    return build_snapshot(source)


def _mistakes(environment: Environment, *, action: str, list: str, entry: str, value: str) -> Any:  # noqa: A002 - the member's name
    if action not in ACTIONS:
        yield "action", _("choose what to change")
    if action in {"add", "remove"}:
        if list not in LISTS:
            yield "list", _("choose a list")
        if not entry or len(entry) > ENTRY_LETTERS or "\0" in entry:
            yield "entry", _("write one name of at most %(most)s letters") % {"most": ENTRY_LETTERS}
    if action == "profile" and value and value not in known_profiles(environment):
        yield "value", _("there is no such profile")
    if action == "exec_mode" and value and value not in ExecMode.values:
        yield "value", _("there is no such mode")
