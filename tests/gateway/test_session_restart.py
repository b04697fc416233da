"""What a session remembers outlives its process, and is one for all processes."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from apps.sessions.models import Session
from tests.gateway.conftest import publish_first
from tests.gateway.test_decisions import Token
from tests.gateway.test_sessions import code_of, read
from tests.gateway.test_sudden_death import server_process

pytestmark = pytest.mark.unhurried

DOCUMENTS = {
    "2026.9": '{"tools": {"loopDetection": {"enabled": true}}, "agents": {"entries": {"bot": {}}}}',
    "2026.2": '{"tools": {"loopDetection": {"enabled": true, "warningThreshold": 10, "criticalThreshold": 11,'
    ' "globalCircuitBreakerThreshold": 12}}, "agents": {"list": [{"id": "bot"}]}}',
}


@pytest.fixture
def secret_in(transactional_db: None, environment: Any, token: Token) -> Callable[[str], str]:
    """Publish a configuration in which loops are looked for, in the words of a release."""

    def make(release: str) -> str:
        environment.dialect = release
        environment.save(update_fields=["dialect"])
        publish_first(environment, DOCUMENTS[release])
        return token("calls_make")[1]

    return make


@pytest.mark.parametrize(
    ("release", "warned_at", "refused_at"),
    [("2026.9", 10, 20), ("2026.2", 10, 12)],
)
@pytest.mark.slow
def test_a_loop_goes_on_where_the_killed_process_left_it(
    secret_in: Callable[[str], str], release: str, warned_at: int, refused_at: int
) -> None:
    headers = {"Authorization": f"Bearer {secret_in(release)}"}
    answers = []
    for count in (warned_at + 1, refused_at - warned_at):
        with server_process() as (process, url), httpx.Client(base_url=url, headers=headers) as client:
            answers += [read(client) for _ in range(count)]
            process.kill()

    assert [at for at, each in enumerate(answers) if "warnings" in each] == [warned_at]
    assert [at for at, each in enumerate(answers) if code_of(each) == "loop_detected"] == [refused_at]


@pytest.mark.slow
def test_two_processes_that_take_calls_in_turn_share_one_history(secret_in: Callable[[str], str]) -> None:
    headers = {"Authorization": f"Bearer {secret_in('2026.9')}"}
    with ExitStack() as stack:
        urls = [stack.enter_context(server_process())[1] for _ in range(2)]
        clients = [stack.enter_context(httpx.Client(base_url=url, headers=headers)) for url in urls]
        answers = [read(clients[at % 2]) for at in range(22)]

    assert [at for at, each in enumerate(answers) if "warnings" in each] == [10]
    assert [at for at, each in enumerate(answers) if code_of(each) == "loop_detected"] == [20, 21]
    assert Session.objects.get().calls == 22
