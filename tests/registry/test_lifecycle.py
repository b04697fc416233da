"""The life of a tool: the table, who may do what by it, and that nothing else moves a tool."""

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from pytest_django import DjangoDbBlocker

from apps.accounts.access import PERMISSIONS, Permission
from apps.accounts.errors import PermissionDeniedError
from apps.firewall.identifiers import new_id
from apps.registry import services
from apps.registry.errors import ToolStateError
from apps.registry.lifecycle import MOVES, move_of, moves_from
from apps.registry.models import OFFERED_STATES, Environment, Tool, ToolState

pytestmark = pytest.mark.django_db
TOOLS_PAGE = Path(__file__).parents[2] / "docs" / "tools.md"
WITHDRAWN = {ToolState.QUARANTINED, ToolState.DISABLED, ToolState.UNREGISTERED}
EVERY_WAY = [(start, to) for start, to in product(ToolState.values, repeat=2) if start != to]


def test_the_table_knows_every_state() -> None:
    assert set(MOVES) == set(ToolState)
    assert {to for ways in MOVES.values() for to in ways} <= set(ToolState)


def test_the_table_of_the_documentation_is_this_one() -> None:
    row = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", flags=re.MULTILINE)
    listed = {state: (people, look) for state, people, look in row.findall(TOOLS_PAGE.read_text()) if state in MOVES}
    for state, ways in MOVES.items():
        people = {to for to, move in ways.items() if move.permission is not None}
        look = {to for to, move in ways.items() if move.by_discovery}
        assert (_words(listed[state][0]), _words(listed[state][1])) == (people, look), state


def _words(cell: str) -> set[str]:
    return set() if cell == "-" else set(cell.split(", "))


def test_every_offered_tool_can_be_withdrawn_in_each_way() -> None:
    for state in OFFERED_STATES:
        assert set(MOVES[state]) >= WITHDRAWN


def test_bringing_back_what_was_withdrawn_takes_the_right_to_publish() -> None:
    for state in (ToolState.QUARANTINED, ToolState.DISABLED, ToolState.DEPRECATED):
        move = move_of(state, ToolState.ACTIVE)
        assert move is not None
        assert move.permission == Permission.PUBLISH


def test_discovery_never_lifts_what_a_person_disabled() -> None:
    assert not any(move.by_discovery for move in MOVES[ToolState.DISABLED].values())


def test_what_people_may_do_is_listed_for_them() -> None:
    assert moves_from(ToolState.DISABLED, frozenset({Permission.POLICY_WRITE})) == ("quarantined", "unregistered")
    assert moves_from(ToolState.DISABLED, PERMISSIONS["viewer"]) == ()


@pytest.mark.parametrize(("start", "to"), EVERY_WAY)
def test_a_tool_goes_the_ways_of_the_table_and_no_other(
    environment: Environment, admin: Any, start: str, to: str
) -> None:
    tool = Tool.objects.get(environment=environment, name="exec")
    Tool.objects.filter(pk=tool.pk).update(state=start)
    move = move_of(start, to)
    if move is None or move.permission is None:
        with pytest.raises(ToolStateError):
            services.tool_set_state(tool, state=to, by=admin)
    else:
        assert services.tool_set_state(tool, state=to, by=admin).state == to


def test_a_successor_is_a_tool_that_is_offered(environment: Environment) -> None:
    tool = Tool.objects.get(environment=environment, name="exec")
    for successor in ("nothing", "exec"):
        with pytest.raises(ToolStateError) as caught:
            services.tool_set_state(tool, state="deprecated", successor=successor)
        assert caught.value.details[0]["path"] == "successor"


def test_a_token_moves_what_its_scopes_allow(environment: Environment, token: Any) -> None:
    row, _ = token("policy_write")
    tool = Tool.objects.get(environment=environment, name="exec")
    services.tool_set_state(tool, state="disabled", by=row)
    with pytest.raises(PermissionDeniedError):
        services.tool_set_state(tool, state="active", by=row)


class Life(RuleBasedStateMachine):
    """People, looks and drifts in any order: a tool's state is always one that the table explains."""

    @initialize()
    def begin(self) -> None:
        from tests.registry.conftest import found

        self.environment = services.environment_create(slug=f"life-{new_id()}")
        command = {"command": ["/bin/true"]}
        self.source = services.source_create(self.environment, key="files", kind="mcp_stdio", settings=command)
        self.found = found
        self.words = 0
        self.was = ""
        self.look(is_there=True, changes=False)

    @property
    def tool(self) -> Tool:
        return Tool.objects.get(environment=self.environment, name="files__list")

    @rule(is_there=st.booleans(), changes=st.booleans())
    def look(self, is_there: bool, changes: bool) -> None:
        from apps.firewall.tools.discovery.found import Look

        before = Tool.objects.filter(environment=self.environment, name="files__list").first()
        self.words += changes
        tools = (self.found("files__list", description=f"Version {self.words}."),) if is_there else ()
        services.run_take(services.run_start(self.source), Look(found=tools))
        if before is not None and before.state != self.tool.state:
            move = move_of(before.state, self.tool.state)
            assert move is not None
            assert move.by_discovery
        if before is not None and before.state in OFFERED_STATES and self.tool.state in OFFERED_STATES:
            assert self.tool.description == before.description, "an accepted definition changed by itself"

    @rule(state=st.sampled_from(ToolState.values))
    def move(self, state: str) -> None:
        before = self.tool.state
        try:
            services.tool_set_state(self.tool, state=state)
        except services_errors():
            assert self.tool.state == before
        else:
            move = move_of(before, state)
            assert state == before or (move is not None and move.permission is not None)

    def pending(self) -> Any:
        from apps.registry.selectors import drift_pending

        return drift_pending(self.tool)

    @precondition(lambda self: self.pending() is not None)
    @rule(accept=st.booleans())
    def decide(self, accept: bool) -> None:
        drift, before = self.pending(), self.tool
        (services.drift_accept if accept else services.drift_dismiss)(drift, by=None)
        assert self.tool.digest == (drift.found_digest if accept else before.digest)
        if before.state != ToolState.QUARANTINED:
            assert self.tool.state == before.state

    @invariant()
    def what_waits_is_not_offered(self) -> None:
        if self.pending() is not None:
            assert self.tool.state not in OFFERED_STATES


def services_errors() -> tuple[type[Exception], ...]:
    from apps.registry.errors import DriftPendingError

    return ToolStateError, DriftPendingError


@pytest.mark.unhurried
def test_whatever_happens_a_tool_is_where_the_table_and_the_admin_put_it(
    db: None, django_db_blocker: DjangoDbBlocker
) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    options = settings(max_examples=12, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Life, settings=options)
