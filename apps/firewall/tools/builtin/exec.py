"""The tool `exec`: one command in the workspace."""

import signal

from apps.firewall.sandbox.process import ProcessResult, run_process
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.progress import OutputTail
from apps.firewall.tools.running import Command, Place, ToolOutcome, failed

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEFAULT_TIMEOUT_S = 30
OUTPUT_LIMIT_BYTES = 64 * 1024

DEFINITION = Definition(
    name="exec",
    label="Run command",
    description=(
        "Run one program with its arguments in the workspace. No shell reads the line: pipes, redirections, "
        "variables and inline code wait for a person's approval."
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
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": 60,
                "description": "Seconds after which the command is ended; 30 when absent.",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    },
    execution_mode="sequential",
    result_limit=3 * OUTPUT_LIMIT_BYTES,
)

ENDINGS = {
    "timed_out": "the command was ended after {timeout} seconds",
    "process_limit": "the command was ended: it started too many processes",
    "memory_limit": "the command was ended: it used too much memory",
    "cpu_limit": "the command was ended: it computed for too long",
    "disk_limit": "the command was ended: it wrote too much",
    "file_limit": "the command was ended: it wrote too large a file",
    "stopped": "the command was ended from outside",
    "not_started": "the command could not start: {error}",
    "not_confined": "the command did not run: {error}",
    "lost": "nobody knows how the command ended",
}

# Signals by which the kernel ends whoever passes a limit.
OF_SIGNALS: dict[int, str] = {signal.SIGXCPU: "cpu_limit", signal.SIGXFSZ: "file_limit"}


def environment(place: Place) -> dict[str, str]:
    """The whole environment of a command; nothing of the server's own is in it."""
    return {"PATH": PATH, "HOME": place.root, "LANG": "C.UTF-8", "TERM": "dumb"}


async def run(params: JsonObject, place: Place, command: Command | None) -> ToolOutcome:
    """Run the command that was judged. A command that ends with an exit code is completed, whatever the code."""
    if command is None:
        return failed("command_missing", "no command was prepared for this call")
    timeout = min(int(params.get("timeout", DEFAULT_TIMEOUT_S)), int(place.wall_s))
    ran = await run_process(
        command.argv,
        executable=command.executable,
        cwd=command.cwd,
        env=environment(place),
        limits=place.limits,
        time_limit_s=timeout,
        output_limit_bytes=OUTPUT_LIMIT_BYTES,
        workspace=place.root,
        watch=OutputTail().watch,
        **place.held,
    )
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
