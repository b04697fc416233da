"""A tool as a class, and one that a factory makes only where it is offered."""

import random
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from openclaw_admin.tools import BaseTool, json_result, tool, tool_factory


class RollDiceTool(BaseTool):
    """Roll dice and tell each result and their sum."""

    version = "1.2.0"
    category = "games"
    timeout = 5

    def initialise(self) -> None:
        self.random = random.SystemRandom()

    def execute(self, count: Annotated[int, Field(ge=1, le=100, description="How many dice.")] = 1) -> dict[str, Any]:
        rolled = [self.random.randint(1, 6) for _ in range(count)]
        return json_result({"rolled": rolled, "sum": sum(rolled)})


@tool_factory
def make_coin(config: Mapping[str, Any], session: Mapping[str, Any], sandboxed: bool) -> Any:
    """Offer a coin, but not in sandboxed sessions."""
    if sandboxed:
        return None
    sides = config.get("sides", ["heads", "tails"])

    @tool(name="toss_coin", description="Toss a coin and tell which side is up.")
    def toss_coin() -> dict[str, str]:
        return {"side": random.SystemRandom().choice(sides), "tossed_for": str(session.get("agent_id", ""))}

    return toss_coin
