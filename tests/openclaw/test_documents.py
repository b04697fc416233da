"""What an export holds is what the real package takes: it validates each, and reads the policy out of it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from apps.policies.selectors import document_export, document_for_release, live_snapshot
from apps.policies.services import document_import, publish
from tests.openclaw.conftest import can_be_alone
from tests.openclaw.documents import DOCUMENTS
from tests.openclaw.installing import NODE, openclaw
from tests.openclaw.verdicts import AGENTS_MOST, RealVerdicts, differences, situations

VALIDATE_S = 120
OF_PLUGINS = {
    # The package has no reader of Slack's own shape: a plugin that is not in it has. The rules hold here all the same.
    "guilds, teams and rooms": ["main, a thread of a channel: only here [], only there ['write']"],
}


def validated(document: dict[str, Any], folder: Path) -> subprocess.CompletedProcess[str]:
    """Have the package look at a document; it needs no network and gets none where that may be."""
    (folder / "openclaw.json").write_text(json.dumps(document))
    (folder / "openclaw.json").chmod(0o600)
    (folder / "home").mkdir(exist_ok=True)
    environment = {
        "PATH": f"{NODE.parent}:{os.environ['PATH']}",
        "HOME": str(folder / "home"),
        "LANG": "C.UTF-8",
        "OPENCLAW_STATE_DIR": str(folder / "home"),
        "OPENCLAW_CONFIG_PATH": str(folder / "openclaw.json"),
        "DO_NOT_TRACK": "1",
    }
    alone = ["unshare", "--net"] if can_be_alone() else []
    command = [*alone, str(NODE), str(openclaw()), "config", "validate"]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=VALIDATE_S, check=False, cwd=folder
    )


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_package_takes_what_is_exported_of_a_real_file(name: str, environment: Any, tmp_path: Path) -> None:
    document_import(environment, json.dumps(DOCUMENTS[name]), by=None)
    publish(environment, message="as imported", by=None, expected_live=None)

    released, _ = document_for_release(environment, document_export(environment, secrets="open"))
    done = validated(released, tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_package_and_the_engine_leave_the_same_tools(name: str, environment: Any, real: RealVerdicts) -> None:
    document_import(environment, json.dumps(DOCUMENTS[name]), by=None)
    publish(environment, message="as imported", by=None, expected_live=None)
    snapshot = live_snapshot(environment)
    assert snapshot is not None
    released, _ = document_for_release(environment, document_export(environment, secrets="open"))

    agents = list(snapshot.engine.agents or ["main"])[:AGENTS_MOST]
    asked = [each for agent in agents for each in situations(agent)]

    assert differences(released, snapshot, asked, real) == OF_PLUGINS.get(name, [])


@pytest.mark.slow
def test_a_document_that_is_none_is_refused(tmp_path: Path) -> None:
    assert validated({"agents": {"entries": {"main": {"toools": {}}}}}, tmp_path).returncode != 0
