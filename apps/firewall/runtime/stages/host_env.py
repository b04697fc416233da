"""Whether a command may be given the variables that its call sets."""

from collections.abc import Mapping

from apps.firewall.engine.dialect import Dialect, dialect_named
from apps.firewall.engine.host_env import HostEnvRefusedError, sanitize_env, validate_env
from apps.firewall.runtime.call import JsonObject
from apps.firewall.runtime.stages.command_lists import takes_command
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.builtin.exec import base_environment

LAYER = "host_env"
IGNORED = "the release sets it itself, or knows no such name"


async def host_env_stage(run: Run) -> None:
    """Refuse a command whose call sets variables that it may not; every one of them is named."""
    assert run.tool is not None and run.snapshot is not None  # noqa: S101 - the stages before
    asked = asked_variables(run.call.params) if takes_command(run.tool) else {}
    if not asked:
        return
    dialect = dialect_named(run.snapshot.dialect)
    try:
        validate_env(dialect, asked)
    except HostEnvRefusedError as exc:
        details = [
            {"path": f"env.{name}", "code": exc.code, "message": message}
            for names, message in ((exc.blocked, "a call may not set it"), (exc.invalid, "it is no portable name"))
            for name in names
        ]
        raise run.refuse(exc.code, exc.message, details, layer=LAYER, rule=details[0]["path"]) from exc
    given = sanitize_env(dialect, {}, asked).env
    for name in asked:
        if name.strip() not in given:  # the older release leaves such names out without a word
            run.warnings.append({"path": f"env.{name}", "code": "variable_ignored", "message": IGNORED})


def asked_variables(params: JsonObject) -> Mapping[str, str]:
    """Give the variables that a call sets for its command."""
    asked = params.get("env")
    return asked if isinstance(asked, Mapping) else {}


def command_environment(dialect: Dialect, params: JsonObject, workspace: str) -> dict[str, str]:
    """Make the whole environment of a command: the firewall's own, and over it what the call may set."""
    return dict(sanitize_env(dialect, base_environment(workspace), asked_variables(params)).env)
