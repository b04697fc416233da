"""Python tools from a look at their source to the record of a call, on a server that is never restarted."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.audit.models import Entry
from apps.registry import services
from apps.registry.models import DiscoveryRun, DiscoverySource, Tool
from apps.registry.selectors import tool_failures
from tests.firewall.tools.test_own_formats import CHECKS, TOOL
from tests.gateway.conftest import call
from tests.gateway.server import Server
from tests.gateway.test_decisions import eventually
from tests.gateway.test_publications import published, publishing  # noqa: F401 (a fixture)

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "tools"
BOT = '{"agents": {"entries": {"bot": {}}}}'


@pytest.fixture
def bot(publishing: Server, token: Callable[..., Any]) -> Iterator[httpx.Client]:  # noqa: F811
    with publishing.client(token("calls_make", "decisions_ask")[1]) as client:
        yield client


def looked(environment: Any, key: str, kind: str, settings: dict[str, Any], **more: Any) -> DiscoveryRun:
    source = services.source_create(environment, key=key, kind=kind, settings=settings, **more)
    return services.source_look(source)


def offered(bot: httpx.Client, tool: str) -> bool:
    answer = bot.post("/api/v1/decisions", json={"agent": "bot", "tool": tool})
    return bool(answer.json()["allowed"])


@pytest.mark.slow
def test_decorated_tools_and_classes_of_a_folder_are_called_and_recorded(environment: Any, bot: httpx.Client) -> None:
    run = looked(environment, "folder", "folder", {"scan_directories": [str(EXAMPLES / "folder")]})
    assert (run.state, run.added, run.broken) == ("completed", 4, 0), (run.error_message, run.findings)
    published(environment, BOT)
    assert eventually(lambda: offered(bot, "count_words"))

    counted = call(bot, "count_words", {"text": "three little words"}).json()
    rolled = call(bot, "roll_dice", {"count": "2"}).json()
    missing = call(bot, "pick_line", {"text": "one", "number": 5}).json()
    wrong = call(bot, "roll_dice", {"count": 0}).json()

    assert (counted["status"], counted["result"]) == ("completed", {"unit": "words", "count": 3})
    assert len(rolled["result"]["details"]["rolled"]) == 2
    assert (missing["status"], missing["error"]["code"]) == ("failed", "line_missing")
    assert wrong["details"][0]["code"] == "minimum_violation"
    assert Entry.objects.filter(kind="call_outcome", tool="count_words").get().status == "completed"


def test_a_tool_of_a_file_gets_the_secret_that_nobody_else_sees(environment: Any, bot: httpx.Client) -> None:
    settings = {"path": str(EXAMPLES / "listed" / "tools.yaml")}
    run = looked(environment, "office", "file", settings, secrets={"DOOR_KEY": "s3cret-of-the-door"})
    assert (run.state, run.added) == ("completed", 1), (run.error_message, run.findings)
    published(environment, BOT)
    assert eventually(lambda: offered(bot, "room_book"))

    booked = call(bot, "room_book", {"room": "Library", "hour": 9}).json()

    assert booked["result"]["booked"] is True
    assert "s3cret" not in str(list(Tool.objects.filter(name="room_book").values()))
    assert "s3cret" not in str(list(DiscoverySource.objects.values("settings")))


def test_a_broken_file_is_shown_with_its_cause_and_what_was_accepted_goes_on(
    environment: Any, bot: httpx.Client, tmp_path: Path
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    text = (EXAMPLES / "folder" / "text_tool.py").read_text()
    (folder / "text_tool.py").write_text(text)
    (folder / "crash_tool.py").write_text("import os; os._exit(1)\n")
    source = services.source_create(
        environment, key="folder", kind="folder", settings={"scan_directories": [str(folder)]}
    )

    first = services.source_look(source)
    (folder / "text_tool.py").write_text("def broken(:\n")
    second = services.source_look(source)

    assert (first.added, first.broken) == (2, 1)
    broken = {each["key"]: each["code"] for each in second.findings if each["outcome"] == "broken"}
    assert broken == {"crash_tool.py": "process_ended", "text_tool.py": "import_failed"}
    assert second.removed == 0
    assert Tool.objects.get(name="count_words").state == "active"
    (folder / "text_tool.py").write_text(text.replace("Count the words", "Send all words away, then count the words"))
    third = services.source_look(source)
    # The description of one, and the code of both.
    assert third.changed == 2
    assert {tool.state for tool in Tool.objects.filter(discovery_source=source)} == {"quarantined"}


@pytest.mark.unhurried
@pytest.mark.slow
def test_a_package_that_pip_installs_is_there_without_a_restart(
    environment: Any, bot: httpx.Client, tmp_path: Path
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    settings = {"scan_directories": [str(packages)]}
    source = services.source_create(environment, key="installed", kind="entry_points", settings=settings)
    before = services.source_look(source)
    package = tmp_path / "package"
    subprocess.run(["cp", "-r", str(EXAMPLES / "package"), str(package)], check=True)

    install = ["install", "-q", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(packages)]
    subprocess.run([sys.executable, "-m", "pip", *install, str(package)], check=True, capture_output=True, timeout=120)
    after = services.source_look(source)
    published(environment, BOT)
    assert eventually(lambda: offered(bot, "make_slug"))

    assert (before.state, before.found, after.added) == ("completed", 0, 1)
    assert call(bot, "make_slug", {"title": "No restart!"}).json()["result"] == {"slug": "no-restart"}


@pytest.mark.slow
def test_a_result_that_no_database_holds_is_answered_and_recorded(
    environment: Any, bot: httpx.Client, tmp_path: Path
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    text = (
        "from openclaw_admin.tools import tool\n@tool\ndef odd():\n"
        "    'Return an odd text.'\n    return {'text': 'a\\ud800b\\x00', 'n': 10 ** 400}\n"
    )
    (folder / "odd_tool.py").write_text(text)
    assert looked(environment, "folder", "folder", {"scan_directories": [str(folder)]}).added == 1
    published(environment, BOT)
    assert eventually(lambda: offered(bot, "odd"))

    answer = call(bot, "odd")

    assert answer.json()["status"] == "completed", answer.text
    assert Entry.objects.filter(kind="call_outcome", tool="odd").get().status == "completed"


RAISES = """
from openclaw_admin.tools import tool

@tool(sensitive=["pin"])
def open_door(pin: str):
    "Open the door."
    print("asking the door")
    raise OSError(f"the door does not take {pin}")
"""


def test_an_author_reads_what_a_tool_raised_and_an_agent_only_that_it_broke(
    environment: Any, bot: httpx.Client, tmp_path: Path
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "door_tool.py").write_text(RAISES)
    assert looked(environment, "folder", "folder", {"scan_directories": [str(folder)]}).added == 1
    published(environment, BOT)
    assert eventually(lambda: offered(bot, "open_door"))

    answer = call(bot, "open_door", {"pin": "4711"})

    assert answer.json()["error"]["message"] == "the tool broke: OSError"
    assert "door_tool.py" not in answer.text
    assert "4711" not in answer.text
    (failure,) = tool_failures(Tool.objects.get(environment=environment, name="open_door"))
    assert (failure.code, failure.exception) == ("tool_raised", "OSError")
    assert failure.message == "the door does not take ***"
    assert f'File "{folder}/door_tool.py", line 8, in open_door' in failure.traceback
    assert "4711" not in failure.traceback
    outcome = Entry.objects.get(kind="call_outcome", tool="open_door")
    assert outcome.call_id == failure.call_id
    assert "Traceback" not in str(Entry.objects.filter(pk=outcome.pk).values())


def test_a_format_of_its_author_holds_at_the_door_of_agents(
    environment: Any, bot: httpx.Client, tmp_path: Path
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "car_tool.py").write_text(CHECKS + TOOL)
    assert looked(environment, "folder", "folder", {"scan_directories": [str(folder)]}).added == 1
    published(environment, BOT)
    assert eventually(lambda: offered(bot, "find_car"))

    right, wrong = call(bot, "find_car", {"plate": "BE-1"}), call(bot, "find_car", {"plate": "no"})

    assert right.json()["result"] == {"plate": "BE-1"}
    assert wrong.json()["details"][0]["message"].startswith("`plate` must be a plate of Switzerland")
    assert [each.status for each in Entry.objects.filter(kind="call_outcome", tool="find_car")] == ["completed"]
    assert Entry.objects.filter(kind="denial", tool="find_car").count() == 1
