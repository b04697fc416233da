"""The tool `exec`: one command in the workspace."""

import signal
from functools import partial

from apps.firewall.sandbox.leash import Leash
from apps.firewall.sandbox.process import ProcessResult, Watch, run_process
from apps.firewall.tools.background.starting import run_in_background
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.progress import OutputTail
from apps.firewall.tools.running import Command, Place, ToolOutcome, failed

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEFAULT_TIMEOUT_S = 30
TIMEOUT_MAXIMUM_S = 7 * 24 * 3600
OUTPUT_LIMIT_BYTES = 64 * 1024

DEFINITION = Definition(
    name="exec",
    label="Run command",
    description=(
        "Run a command in the workspace: one program with its arguments, or several joined by pipes, `;`, `&&` and "
        "`||`. What the agent's list does not admit waits for a person's approval, and so do redirections, variables, "
        "substitutions and code in arguments."
    ),
    section="runtime",
    parameters={
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "minLength": 1,
                "maxLength": 16384,
                "description": "The program and its arguments, quoted as for a POSIX shell.",
            },
            "workdir": {
                "type": "string",
                "minLength": 1,
                "maxLength": 4096,
                "description": "Folder to run in, relative to the workspace; the workspace itself when absent.",
            },
            "env": {
                "type": "object",
                "maxProperties": 32,
                "propertyNames": {"minLength": 1, "maxLength": 128},
                "additionalProperties": {"type": "string", "maxLength": 4096, "pattern": "^[^\\u0000]*$"},
                "description": "Variables for this command, by name; those that make programs load code are refused.",
            },
            "host": {
                "type": "string",
                "enum": ["auto", "sandbox", "gateway", "node"],
                "description": "Where to run; the configured host when absent or `auto`. Another one is refused.",
            },
            "security": {
                "type": "string",
                "enum": ["deny", "allowlist", "full"],
                "description": "Hold this command stricter than configured; a looser word changes nothing.",
            },
            "ask": {
                "type": "string",
                "enum": ["off", "on-miss", "always"],
                "description": "Have a person asked more often than configured; less often cannot be had.",
            },
            "elevated": {
                "type": "boolean",
                "description": "Leave the sandbox, for senders who may; a person is asked unless settings say full.",
            },
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": TIMEOUT_MAXIMUM_S,
                "description": "Seconds after which the command is ended, also in the background; 30 when absent and "
                "nothing else is configured. While the call waits at most what a call may take.",
            },
            "yieldMs": {
                "type": "integer",
                "minimum": 10,
                "maximum": 120_000,
                "description": "Milliseconds to wait for the command; one that still runs then goes on in the "
                "background, and `process` looks after it.",
            },
            "background": {
                "type": "boolean",
                "description": "Run in the background at once; the answer names the `sessionId` for `process`.",
            },
            "pty": {
                "type": "boolean",
                "description": "Give the command a terminal; all it says comes as `stdout`.",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    },
    sensitive=("env",),
    execution_mode="sequential",
    result_limit=3 * OUTPUT_LIMIT_BYTES,
)

ENDINGS = {
    "timed_out": "the command was ended after {timeout} seconds",
    "process_limit": "the command was ended: it started too many processes",
    "memory_limit": "the command was ended: it used too much memory",
    "cpu_limit": "the command was ended: it computed for too long",
    "disk_limit": "the command was ended: it wrote too much",
    "space_limit": "the command was ended: {error}",
    "file_limit": "the command was ended: it wrote too large a file",
    "stopped": "the command was ended from outside",
    "not_started": "the command could not start: {error}",
    "not_confined": "the command did not run: {error}",
    "lost": "nobody knows how the command ended",
}

# Signals by which the kernel ends whoever passes a limit.
OF_SIGNALS: dict[int, str] = {signal.SIGXCPU: "cpu_limit", signal.SIGXFSZ: "file_limit"}


def base_environment(workspace: str) -> dict[str, str]:
    """Give the environment of a command for which nothing was asked; nothing of the server's own is in it."""
    return {"PATH": PATH, "HOME": workspace, "LANG": "C.UTF-8", "TERM": "dumb"}


async def run(params: JsonObject, place: Place, command: Command | None) -> ToolOutcome:
    """Run the command that was judged. A command that ends with an exit code is completed, whatever the code."""
    if command is None:
        return failed("command_missing", "no command was prepared for this call")
    has_terminal = params.get("pty", False)
    env = dict(command.env or base_environment(place.root))
    if has_terminal and env.get("TERM") == "dumb":
        env["TERM"] = "xterm-256color"

    async def start(watch: Watch, leash: Leash | None, *, timeout: int) -> ProcessResult:
        return await run_process(
            command.argv,
            executable=command.executable,
            cwd=command.cwd,
            env=env,
            limits=place.limits,
            time_limit_s=timeout,
            output_limit_bytes=OUTPUT_LIMIT_BYTES,
            workspace=place.root,
            watch=watch,
            leash=leash,
            **place.held,
        )

    if place.background is not None:
        timeout = place.background.terms.time_limit_s
        return await run_in_background(
            place.background, partial(start, timeout=timeout), partial(command_outcome, timeout=timeout)
        )
    timeout = min(int(params.get("timeout") or place.command_timeout_s or DEFAULT_TIMEOUT_S), int(place.wall_s))
    ran = await start(OutputTail().watch, Leash(has_terminal=True) if has_terminal else None, timeout=timeout)
    return command_outcome(ran, timeout=timeout)


def command_outcome(ran: ProcessResult, *, timeout: int) -> ToolOutcome:
    """Say how a command went that had so many seconds."""
    how: str = OF_SIGNALS.get(ran.signal or 0, ran.ended)
    if how == "ended":
        return ToolOutcome(result=_told(ran))
    message = ENDINGS[how].format(timeout=timeout, error=ran.error)
    ended = "unknown" if how == "lost" else "failed"
    return ToolOutcome(ended=ended, result=_told(ran), error={"code": f"command_{how}", "message": message})


def _told(ran: ProcessResult) -> JsonObject:
    return {
        "exit_code": ran.exit_code,
        "signal": ran.signal,
        "stdout": ran.stdout.text(),
        "stderr": ran.stderr.text(),
        "dropped_bytes": ran.stdout.dropped + ran.stderr.dropped,
        "cpu_ms": ran.cpu_ms,
    }
