"""Every attempt of code of a model is held, in its realm and where it has taken over its Node."""

from typing import Any

import pytest

from tests.firewall.escapes import codes, nodes
from tests.firewall.escapes.code_doors import code_problem, through_code, through_node, without_walls
from tests.firewall.escapes.codes import CODES, CodeAttempt
from tests.firewall.escapes.doors import Outside
from tests.firewall.escapes.nodes import NODES, NodeAttempt

pytestmark = pytest.mark.unhurried


def tried(attempt: CodeAttempt | NodeAttempt, door: str, number: int) -> Any:
    """Try an attempt at a door; at its further doors in `make test-all` and `make escapes`."""
    return pytest.param(attempt, door, id=f"{attempt.name} ({door})", marks=[pytest.mark.slow] if number else [])


@pytest.mark.parametrize(
    ("attempt", "door"),
    [tried(each, door, number) for each in CODES for number, door in enumerate(codes.doors_of(each))],
)
@pytest.mark.slow
async def test_code_is_held(attempt: CodeAttempt, door: str, around: Outside) -> None:
    if code_problem(door):
        pytest.skip(code_problem(door))

    assert await through_code(door, attempt, around) == ""


@pytest.mark.parametrize(
    ("attempt", "door"),
    [tried(each, door, number) for each in NODES for number, door in enumerate(nodes.doors_of(each))],
)
@pytest.mark.slow
async def test_a_node_that_is_taken_over_is_held(attempt: NodeAttempt, door: str, around: Outside) -> None:
    if code_problem(door):
        pytest.skip(code_problem(door))

    assert await through_node(door, attempt, around) == ""


CONTROLS = [*(each for each in CODES if each.naive), *(each for each in NODES if not each.alone)]


@pytest.mark.parametrize("attempt", CONTROLS, ids=lambda attempt: attempt.name)
@pytest.mark.slow
async def test_without_walls_it_gets_what_it_wants(attempt: CodeAttempt | NodeAttempt, around: Outside) -> None:
    assert await without_walls(attempt, around) != ""
