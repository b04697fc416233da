"""Where a command would start, and where its programs are looked for."""

from pathlib import Path

from apps.firewall.engine.exec_policy import Where
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.ports import Executor
from apps.firewall.tools.builtin.exec import PATH


def place_of_command(executor: Executor, call: Call) -> Where:
    """Work out the place of a call's command.

    Raises:
        FirewallError: the folder that it names is none of the agent's.
    """
    return Where(
        cwd=executor.workdir(call, call.params),
        workspace=executor.workspace(call),
        home=str(Path.home()),
        search_path=tuple(PATH.split(":")),
    )
