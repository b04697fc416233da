"""What tools raised: kept for their authors, masked, within bounds, and shown to who may read calls."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.firewall.identifiers import new_id, show_id
from apps.registry import selectors, services
from apps.registry.models import Environment, Tool, ToolFailure
from apps.registry.services.failures import KEPT, KEPT_FOR
from apps.registry.tasks import failures_forget_task
from tests.registry.test_command import tools

pytestmark = pytest.mark.django_db
TRACE = 'Traceback (most recent call last):\n  File "/srv/tools/lamp_tool.py", line 7, in set\n    raise OSError\n'


def draft(**members: Any) -> services.ToolFailureDraft:
    given: dict[str, Any] = {
        "environment": "production",
        "tool": "exec",
        "call_id": new_id(),
        "at": timezone.now(),
        "code": "tool_raised",
        "exception": "OSError",
        "message": "no lamp",
        "traceback": TRACE,
    }
    return services.ToolFailureDraft(**{**given, **members})


def row(environment: Environment) -> Tool:
    return Tool.objects.get(environment=environment, name="exec")


def test_secrets_in_it_are_masked_and_its_size_is_held(environment: Environment) -> None:
    key = "sk-ant-api03-" + "Ab1" * 20
    services.tool_failure_record(draft(message=f"key {key}", traceback=f"{TRACE}{key}" + "x" * 100_000))

    (failure,) = selectors.tool_failures(row(environment))
    assert key not in failure.message + failure.traceback
    assert failure.traceback.startswith(TRACE)
    assert len(failure.traceback) < 10_000


def test_the_newest_of_each_tool_stay_for_some_weeks(environment: Environment) -> None:
    now = timezone.now()
    for number in range(KEPT + 5):
        services.tool_failure_record(draft(message=str(number), at=now + timedelta(seconds=number)))
    services.tool_failure_record(draft(tool="read", at=now - KEPT_FOR - timedelta(hours=1)))

    assert [each.message for each in selectors.tool_failures(row(environment))] == [
        str(number) for number in reversed(range(5, KEPT + 5))
    ]
    assert failures_forget_task() == 1
    assert ToolFailure.objects.count() == KEPT


def test_of_a_tool_that_is_gone_none_is_kept(environment: Environment) -> None:
    assert services.tool_failure_record(draft(tool="nothing")) is None
    assert services.tool_failure_record(draft(environment="elsewhere")) is None


def test_the_command_line_shows_it(environment: Environment) -> None:
    assert "has raised nothing" in tools("failures", "exec")
    failure = services.tool_failure_record(draft())
    assert failure is not None
    said = tools("failures", "exec")
    assert f"{show_id('call', failure.call_id)} tool_raised: OSError" in said
    assert '  File "/srv/tools/lamp_tool.py", line 7, in set' in said
