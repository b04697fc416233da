"""A registry within one program: registering, calling, where a tool stands, and when it is loaded."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from apps.firewall.tools.authoring.errors import AuthoringError
from apps.firewall.tools.authoring.lifecycle import STEPS, Standing, Step, StepRefusedError
from apps.firewall.tools.authoring.registry import NameTakenError, NotReadyError, UnknownToolError
from apps.firewall.tools.definition_json import DefinitionInvalidError
from apps.firewall.tools.loading import Loading
from apps.firewall.tools.running import ToolOutcome
from openclaw_admin.tools import BaseTool, ToolContext, ToolError, ToolRegistry, tool, tool_factory

ADD = {
    "name": "add",
    "description": "Add two numbers.",
    "parameters": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
        "required": ["a"],
    },
}


class Counter(BaseTool):
    """Count calls."""

    log: list[str] = []

    async def initialise(self) -> None:
        self.log.append("initialise")
        await asyncio.sleep(0)

    async def execute(self, step: int = 1) -> dict[str, Any]:
        self.log.append("execute")
        return {"step": step, "who": self.context.session.get("agent_id"), "units": self.config.get("units")}

    def close(self) -> None:
        self.log.append("close")


@pytest.fixture(autouse=True)
def log() -> Iterator[list[str]]:
    Counter.log.clear()
    yield Counter.log


def code(outcome: ToolOutcome) -> str:
    assert outcome.error is not None, outcome
    return outcome.error["code"]


async def test_a_registered_handler_gets_checked_params_and_becomes_active() -> None:
    registry = ToolRegistry()
    registry.register(ADD, lambda a, b: {"sum": a + b}, permissions=["calc:execute"])

    outcome = await registry.call("add", {"a": "2"})

    assert outcome.result == {"sum": 3}
    assert registry.definition("add").permissions == ("calc:execute",)
    assert (registry.standing("add").state, registry.standing("add").calls) == ("active", 1)
    assert code(await registry.call("add", {"b": "x"})) == "parameter_validation_failed"
    assert registry.standing("add").success_rate == 0.5


async def test_a_handler_may_be_async_and_may_fail_in_its_own_words() -> None:
    registry = ToolRegistry()

    async def divide(a: int, b: int) -> dict[str, float]:
        if b == 0:
            raise ToolError("`b` is zero: nothing can be divided by it", code="division_by_zero")
        return {"quotient": a / b}

    registry.register({**ADD, "name": "divide"}, divide)

    assert (await registry.call("divide", {"a": 4, "b": 2})).result == {"quotient": 2.0}
    assert code(await registry.call("divide", {"a": 4, "b": 0})) == "division_by_zero"
    assert code(await registry.call("subtract", {})) == "tool_not_found"


async def test_a_handler_that_takes_too_long_or_raises_is_a_failed_call() -> None:
    registry = ToolRegistry()

    async def wait(**_: Any) -> None:
        await asyncio.sleep(60)

    registry.register({"name": "wait", "timeout": 0.01}, wait)
    registry.register({"name": "break"}, lambda: 1 / 0)

    assert code(await registry.call("wait", {})) == "tool_timed_out"
    assert code(await registry.call("break", {})) == "tool_raised"


async def test_a_class_is_initialised_once_and_closed_when_it_goes(log: list[str]) -> None:
    registry = ToolRegistry()
    registry.register_tool(Counter, config={"units": "metric"})

    results = await asyncio.gather(*(registry.call("counter", {}, session={"agent_id": who}) for who in "ab"))
    await registry.close()

    assert [each.result for each in results] == [{"step": 1, "who": who, "units": "metric"} for who in "ab"]
    assert log == ["initialise", "execute", "execute", "close"]
    assert registry.names() == []


def test_an_author_keeps_a_tool_in_sight_by_the_decorator_and_by_a_class() -> None:
    @tool(catalog_mode="direct_only")
    def clock_read() -> Any:
        """Tell the time."""

    class ScreenTool(BaseTool):
        """Look at the screen."""

        catalog_mode = "direct_only"

        async def execute(self) -> dict[str, Any]:
            return {}

    registry = ToolRegistry()
    made = [*registry.register_tool(clock_read), *registry.register_tool(ScreenTool), *registry.register_tool(Counter)]

    assert [each.catalog_mode for each in made] == ["direct_only", "direct_only", "searchable"]


async def test_what_a_factory_makes_belongs_to_one_session() -> None:
    @tool_factory
    def make(session: dict[str, Any]) -> Any:
        @tool(name="who")
        def who() -> Any:
            return {"agent": session.get("agent_id")}

        return who

    registry = ToolRegistry()
    registry.register_tool(make)

    assert (await registry.call("who", {}, session={"agent_id": "a"})).result == {"agent": "a"}
    assert (await registry.call("who", {}, session={"agent_id": "b"})).result == {"agent": "b"}


async def test_the_lifecycle_is_walked_as_described(log: list[str]) -> None:
    registry = ToolRegistry()
    registry.register_tool(Counter)

    registry.initialize_tool("counter")
    assert registry.standing("counter").state == "initialised"
    await registry.call("counter", {})
    registry.disable_tool("counter", reason="maintenance")
    refused = await registry.call("counter", {})
    assert (code(refused), registry.names()) == ("tool_disabled", [])
    assert refused.error is not None
    assert refused.error["message"] == "the tool `counter` is disabled: maintenance"
    registry.enable_tool("counter")
    registry.deprecate_tool("counter", successor="tally")
    answer = await registry.call("counter", {})
    assert answer.result is not None
    assert answer.result["warnings"] == [
        {"path": "", "code": "tool_deprecated", "message": "`counter` is deprecated: use `tally`"}
    ]
    registry.unregister("counter")

    with pytest.raises(UnknownToolError):
        registry.standing("counter")
    assert log.count("close") == log.count("initialise") == 2


def test_a_deprecated_tool_comes_back_deprecated() -> None:
    registry = ToolRegistry()
    registry.register(ADD, print)
    registry.deprecate_tool("add", successor="plus")

    registry.disable_tool("add")
    registry.enable_tool("add")

    assert registry.standing("add").state == "deprecated"
    with pytest.raises(StepRefusedError, match="the tool `add` is deprecated: it cannot enable"):
        registry.enable_tool("add")


def test_names_are_unique_and_definitions_checked() -> None:
    registry = ToolRegistry()
    registry.register(ADD, print)

    with pytest.raises(NameTakenError):
        registry.register(ADD, print)
    with pytest.raises(DefinitionInvalidError):
        registry.register({"name": "no good"}, print)
    assert ToolRegistry.get_instance() is ToolRegistry.get_instance()


def test_eager_loading_tells_of_a_broken_tool_at_once_and_keeps_none_of_it() -> None:
    class Broken(BaseTool):
        def initialise(self) -> None:
            raise OSError("no database")

        def execute(self) -> None: ...

    registry = ToolRegistry(Loading(strategy="eager"))

    with pytest.raises(NotReadyError, match="`broken` could not be prepared: OSError: no database"):
        registry.register_tool(Broken)
    assert registry.names() == []


async def test_lazy_loading_keeps_so_many_and_closes_the_one_unused_for_longest(log: list[str]) -> None:
    registry = ToolRegistry(Loading(strategy="lazy", max_cache_size=2))
    for name in ("one", "two", "three"):
        registry.register_tool(type("Named", (Counter,), {"name": name}))
    assert log == []

    for name in ("one", "two", "one", "three"):
        await registry.call(name, {})

    assert log.count("initialise") == 3
    assert log.count("close") == 1
    await registry.call("one", {})
    assert log.count("initialise") == 3
    await registry.call("two", {})
    assert log.count("initialise") == 4


async def test_without_a_cache_each_call_loads_and_closes(log: list[str]) -> None:
    registry = ToolRegistry(Loading(strategy="lazy", cache_loaded=False))
    registry.register_tool(Counter)

    await registry.call("counter", {})
    await registry.call("counter", {})

    assert log == ["initialise", "execute", "close"] * 2


async def test_on_demand_each_profile_knows_its_own_tools() -> None:
    registry = ToolRegistry(Loading(strategy="on-demand", profiles={"basic": ("add",), "advanced": ("divide",)}))
    for name in ("add", "divide", "root"):
        registry.register({**ADD, "name": name}, lambda a, b: {"name": "called"})

    assert (registry.names(), registry.names("basic"), registry.names("none")) == (["add", "divide"], ["add"], [])
    assert (await registry.call("add", {"a": 1}, profile="basic")).result == {"name": "called"}
    assert code(await registry.call("divide", {"a": 1}, profile="basic")) == "tool_not_found"
    assert code(await registry.call("root", {"a": 1})) == "tool_not_found"


async def test_a_tool_file_makes_a_registry_that_loads_modules_when_they_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "embedded_greetings.py").write_text(
        dedent(
            """
            from openclaw_admin.tools import ToolContext, tool
            @tool
            def greet(name: str, context: ToolContext):
                "Greet."
                return {"text": context.config["word"] + " " + name}
            """
        )
    )
    (tmp_path / "tools.yaml").write_text(
        dedent(
            """
            tools:
              - {name: greet_person, module: embedded_greetings, class: greet, config: {word: "${WORD}"}}
              - {name: gone, module: embedded_gone}
              - {name: idle, module: embedded_greetings, enabled: false}
            tool_loading: {strategy: lazy}
            """
        )
    )

    registry = ToolRegistry.from_file(tmp_path / "tools.yaml", secrets={"WORD": "hello"})

    assert registry.names() == ["gone", "greet_person"]
    assert "embedded_greetings" not in sys.modules
    assert (await registry.call("greet_person", {"name": "Ada"})).result == {"text": "hello Ada"}
    assert code(await registry.call("gone", {})) == "not_a_tool"
    assert registry.definition("greet_person").name == "greet_person"
    with pytest.raises(AuthoringError):
        registry.definition("gone")


async def test_an_async_preparation_that_fails_is_tried_again_by_the_next_call() -> None:
    tries: list[int] = []

    class Shy(BaseTool):
        async def initialise(self) -> None:
            tries.append(1)
            if len(tries) == 1:
                raise OSError("not yet")

        def execute(self) -> str:
            return "now"

    registry = ToolRegistry()
    registry.register_tool(Shy)

    assert code(await registry.call("shy", {})) == "initialise_failed"
    assert (await registry.call("shy", {})).error is None


async def test_a_tool_that_fails_to_close_is_reported_and_holds_nobody() -> None:
    class Stuck(BaseTool):
        def execute(self, context: ToolContext) -> str:
            return context.call_id

        def close(self) -> None:
            raise OSError("still busy")

    registry = ToolRegistry()
    registry.register_tool(Stuck)
    assert (await registry.call("stuck", {}, call_id="c1")).result == {"content": [{"type": "text", "text": "c1"}]}

    with pytest.warns(RuntimeWarning, match="the tool `stuck` did not close: OSError: still busy"):
        registry.unregister("stuck")


class Walk(RuleBasedStateMachine):
    """Any steps in any order: a tool is only ever where the table leads, and a disabled one never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.standing = Standing()
        self.refused = False

    @rule(step=st.sampled_from(sorted(STEPS)))
    def take(self, step: Step) -> None:
        before = self.standing.state
        try:
            self.standing.take(step, "t")
        except StepRefusedError:
            assert before not in STEPS[step]
            assert self.standing.state == before
        else:
            assert self.standing.state == STEPS[step][before]

    @invariant()
    def what_is_gone_stays_gone(self) -> None:
        if self.standing.state == "unregistered":
            assert not any("unregistered" in befores for befores in STEPS.values())


TestWalk = Walk.TestCase
TestWalk.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
