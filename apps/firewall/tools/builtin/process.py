"""The tool `process`: looks after the commands that `exec` left running."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.background.keys import keys_bytes, pasted_bytes
from apps.firewall.tools.background.ports import Commands, KeptCommand
from apps.firewall.tools.background.starting import tail_of
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.running import Command, Place, ToolOutcome, failed

POLL_LIMIT_MS: Final = 30_000
POLL_CHARACTERS: Final = 30_000
LOG_LINES: Final = 200
LOG_CHARACTERS: Final = 60_000
TAIL: Final = 500
INPUT_CHARACTERS: Final = 16_384

DEFINITION = Definition(
    name="process",
    label="Background commands",
    description=(
        "Look after commands that `exec` left running in this session: list them, poll for new output, read the log, "
        "write to their input, type keys at their terminal, kill or remove them."
    ),
    section="runtime",
    parameters={
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": [
                    *("list", "poll", "log", "write", "send-keys", "submit", "paste"),
                    *("kill", "clear", "remove"),
                ],
                "description": "What to do; all but `list` need `sessionId`.",
            },
            "sessionId": {"type": "string", "minLength": 1, "maxLength": 100, "description": "As `exec` answered it."},
            "timeout": {
                "type": "integer",
                "minimum": 0,
                "maximum": POLL_LIMIT_MS,
                "description": "Milliseconds that `poll` waits for new output or the end; 0 when absent.",
            },
            "offset": {"type": "integer", "minimum": 0, "description": "First line that `log` gives, from 0."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 5000, "description": "Lines that `log` gives."},
            "data": {
                "type": "string",
                "maxLength": INPUT_CHARACTERS,
                "description": "What `write` and `submit` hand on.",
            },
            "eof": {"type": "boolean", "description": "`write`: nothing follows, the input ends."},
            "text": {"type": "string", "maxLength": INPUT_CHARACTERS, "description": "What `paste` types."},
            "bracketed": {"type": "boolean", "description": "`paste`: in the marks of a paste; true when absent."},
            "keys": {
                "type": "array",
                "maxItems": 100,
                "items": {"type": "string", "minLength": 1, "maxLength": 20},
                "description": "What `send-keys` types: `enter`, `up`, `C-c`, `M-x`, or single characters.",
            },
        },
        "required": ["action"],
        "additionalProperties": False,
    },
    result_limit=LOG_CHARACTERS + 10_000,
)


async def run(params: JsonObject, place: Place, command: Command | None) -> ToolOutcome:  # noqa: ARG001
    """Do one thing with the commands of the caller's session."""
    commands = place.commands
    if commands is None:
        return failed("no_background", "no commands run in the background here")
    action = params["action"]
    if action == "list":
        return ToolOutcome(result={"sessions": [_line(each) for each in await commands.listed()]})
    if "sessionId" not in params:
        return failed("session_missing", f"`{action}` needs `sessionId`")
    try:
        return ToolOutcome(result=await ACTIONS[action](commands, params["sessionId"], params))
    except FirewallError as exc:
        return failed(exc.code, exc.message)


async def _poll(commands: Commands, session_id: str, params: JsonObject) -> JsonObject:
    wait_s = params.get("timeout", 0) / 1000
    found, output, dropped = await commands.polled(session_id, wait_s=wait_s, limit=POLL_CHARACTERS)
    return {**_standing(found), "output": output, **({"droppedCharacters": dropped} if dropped else {})}


async def _log(commands: Commands, session_id: str, params: JsonObject) -> JsonObject:
    found = await commands.found(session_id)
    lines = _lines(found.view.text)
    offset, limit = params.get("offset"), params.get("limit")
    if offset is None:
        count = limit or LOG_LINES
        begin, end = max(0, len(lines) - count), len(lines)
    else:
        begin, end = min(offset, len(lines)), len(lines) if limit is None else offset + limit
    shown, end = _fitting(lines[begin:end], begin)
    return {
        **_standing(found),
        "output": shown,
        "firstLine": begin,
        "totalLines": len(lines),
        "truncated": begin > 0 or end < len(lines),
        **({"nextOffset": end, "goOn": f"`log` with `offset` {end} gives the next lines"} if end < len(lines) else {}),
        **({"goBack": f"`log` with `offset` 0 begins at the first of {begin} lines before"} if begin else {}),
        **({"droppedCharacters": found.view.begin} if found.view.begin else {}),
    }


def _lines(text: str) -> list[str]:
    """Part an output into lines; one that no answer holds counts as several, so that all of it can be read."""
    return [
        line[begin : begin + LOG_CHARACTERS]
        for line in text.splitlines(keepends=True)
        for begin in range(0, len(line), LOG_CHARACTERS)
    ]


def _fitting(lines: list[str], begin: int) -> tuple[str, int]:
    """Put as many lines together as an answer holds."""
    text, count = "", 0
    for line in lines:
        if count and len(text) + len(line) > LOG_CHARACTERS:
            break
        text, count = text + line, count + 1
    return text, begin + count


async def _write(commands: Commands, session_id: str, params: JsonObject) -> JsonObject:
    content = params.get("data", "").encode()
    return await _typed(commands, session_id, content, is_last=params.get("eof", False))


async def _send_keys(commands: Commands, session_id: str, params: JsonObject) -> JsonObject:
    return await _typed(commands, session_id, keys_bytes(params.get("keys", ())))


async def _submit(commands: Commands, session_id: str, params: JsonObject) -> JsonObject:
    found = await commands.found(session_id)
    line = params.get("data", "") + ("\r" if found.has_terminal else "\n")
    return await _typed(commands, session_id, line.encode())


async def _paste(commands: Commands, session_id: str, params: JsonObject) -> JsonObject:
    found = await commands.found(session_id)
    is_bracketed = found.has_terminal and params.get("bracketed", True)
    return await _typed(commands, session_id, pasted_bytes(params.get("text", ""), is_bracketed=is_bracketed))


async def _typed(commands: Commands, session_id: str, content: bytes, *, is_last: bool = False) -> JsonObject:
    await commands.write(session_id, content, is_last=is_last)
    return {"status": "running", "sessionId": session_id, "written": len(content), "eof": is_last}


async def _kill(commands: Commands, session_id: str, params: JsonObject) -> JsonObject:  # noqa: ARG001
    return _standing(await commands.kill(session_id))


async def _clear(commands: Commands, session_id: str, params: JsonObject) -> JsonObject:  # noqa: ARG001
    await commands.forget(session_id)
    return {"sessionId": session_id, "status": "removed"}


async def _remove(commands: Commands, session_id: str, params: JsonObject) -> JsonObject:
    if (await commands.found(session_id)).status == "running":
        await commands.kill(session_id)
    return await _clear(commands, session_id, params)


ACTIONS: Final[dict[str, Callable[[Commands, str, JsonObject], Awaitable[JsonObject]]]] = {
    "poll": _poll,
    "log": _log,
    "write": _write,
    "send-keys": _send_keys,
    "submit": _submit,
    "paste": _paste,
    "kill": _kill,
    "clear": _clear,
    "remove": _remove,
}


def _standing(found: KeptCommand) -> dict[str, Any]:
    """Say how a command stands; an exit code and a signal are those of one that ended by itself."""
    ended = {"exitCode": found.exit_code, "exitSignal": found.signal}
    return {
        "status": found.status,
        "sessionId": found.session_id,
        "runtimeMs": found.runtime_ms,
        **{name: value for name, value in ended.items() if value is not None},
        **({"error": dict(found.error)} if found.error else {}),
        **({"acceptsInput": True} if found.accepts_input else {}),
    }


def _line(found: KeptCommand) -> dict[str, Any]:
    return {
        **_standing(found),
        "command": found.command,
        "workdir": found.workdir,
        "pty": found.has_terminal,
        "startedAt": _instant(found.started_at),
        "tail": tail_of(found.view, TAIL),
    }


def _instant(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")
