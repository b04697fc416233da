"""The stages of a call, in the order in which they must pass. A stage returns, or refuses.

`AFTER` follows the run, whether it succeeded or not, before its outcome is on record; `AFTER_REFUSAL` follows a refusal
that is on record. Each has its own file; these tables are the one place that says what comes after what. Here is no
policy (`engine`), no process (`sandbox`) and no record (`ports`). May import what `apps.firewall.runtime` may.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from apps.firewall.runtime.stages.after_hooks import after_hooks_stage
from apps.firewall.runtime.stages.approval import approval_stage
from apps.firewall.runtime.stages.before_hooks import before_hooks_stage
from apps.firewall.runtime.stages.checks import check_again_stage
from apps.firewall.runtime.stages.command_input import command_input_stage
from apps.firewall.runtime.stages.content import content_result_stage, content_stage
from apps.firewall.runtime.stages.decide import decide_stage
from apps.firewall.runtime.stages.execute import execute_stage
from apps.firewall.runtime.stages.halt import halt_ask_stage, halt_stage
from apps.firewall.runtime.stages.host_env import host_env_stage
from apps.firewall.runtime.stages.limits import limits_end_stage, limits_stage
from apps.firewall.runtime.stages.permissions import permissions_stage
from apps.firewall.runtime.stages.results import results_stage
from apps.firewall.runtime.stages.run import Run
from apps.firewall.runtime.stages.sandbox import sandbox_stage
from apps.firewall.runtime.stages.session import session_end_stage, session_stage
from apps.firewall.runtime.stages.validate import validate_stage


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of a call's run; its name is the phase in the record.

    Args:
        observes: it changes nothing, so that its failure changes nothing either.
    """

    name: str
    run: Callable[[Run], Awaitable[None]]
    observes: bool = False


STAGES: tuple[Stage, ...] = (
    Stage("decide", decide_stage),
    Stage("halt", halt_stage),
    Stage("validate", validate_stage),
    Stage("host_env", host_env_stage),
    Stage("permissions", permissions_stage),
    Stage("content", content_stage),
    Stage("session", session_stage),
    Stage("limits", limits_stage),
    Stage("before_hooks", before_hooks_stage),
    Stage("check_again", check_again_stage),
    Stage("command_input", command_input_stage),
    Stage("halt_ask", halt_ask_stage),
    Stage("sandbox", sandbox_stage),
    Stage("approval", approval_stage),
    Stage("halt_again", halt_stage),
    Stage("execute", execute_stage),
)

AFTER: tuple[Stage, ...] = (
    # first: what a tool says is compared as the tool said it, whole
    Stage("session_end", session_end_stage, observes=True),
    Stage("limits_end", limits_end_stage),
    Stage("content_result", content_result_stage),
    Stage("results", results_stage),
    Stage("after_hooks", after_hooks_stage, observes=True),
)

AFTER_REFUSAL: tuple[Stage, ...] = AFTER[-1:]
