"""That a call came through a run's tool search: how, which run, and what the run's caller offers to run itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]
Through: TypeAlias = Literal["direct", "hydrated", "tool_call", "code", "control"]
"""A visible tool; a hidden one by its exact name; through `tool_call`; from code; a control tool itself."""

CLIENT: Final = "client"
"""The plugin of tools that a run's caller runs itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """How a call came out of a run.

    Args:
        run: its id, as shown.
        source: `core`, `plugin`, `mcp` or `client`; empty for control tools.
        rank: the best place of the tool in what the run had searched; None where no search found it.
        parent: id of the call whose code made this one, as shown.
        offered: definitions of the tools that the run's caller runs itself, for a call of one of them: the policy is
            asked as if they were published.
        is_absent: the run does not offer the tool in this way, whatever the policy says of its name.
        asked: what the caller named the tool by, which may be an id; a refusal that says there is none names that.
    """

    run: str
    through: Through
    source: str = ""
    rank: int | None = None
    parent: str = ""
    offered: tuple[JsonObject, ...] = ()
    is_absent: bool = False
    asked: str = ""

    @property
    def is_control(self) -> bool:
        return self.through == "control"

    def shown(self) -> dict[str, Any]:
        """Tell the record of it."""
        told = {"run": self.run, "through": self.through, "source": self.source, "parent": self.parent}
        return {name: value for name, value in told.items() if value} | (
            {} if self.rank is None else {"rank": self.rank}
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "through": self.through,
            "source": self.source,
            "rank": self.rank,
            "parent": self.parent,
            "offered": [dict(each) for each in self.offered],
            "is_absent": self.is_absent,
            "asked": self.asked,
        }

    @classmethod
    def from_json(cls, values: JsonObject) -> "Bridge":
        return cls(**{**values, "offered": tuple(values["offered"])})
