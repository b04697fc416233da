"""The program that loads authors' code: it describes tools, and runs one. The server itself never imports theirs.

Runs as `python -I host.py` under the sandbox's limits, or in a fork of a launcher that has loaded it. One order comes
as JSON on stdin; answers go out as JSON, one a line, on what was stdout, while whatever authors print goes to stderr.
Only four packages of ours can be imported, by name, because their folder, with settings and keys beside it, cannot even
be listed from here.

Describing happens in a forked worker that takes one place after the other. When one of them ends it, hangs, or sends
rubbish, that place has failed and a fresh worker goes on behind it: what else it had loaded costs nobody anything.
"""

import asyncio
import contextlib
import importlib.abc
import importlib.util
import json
import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from apps.firewall.tools.authoring.context import ToolContext
    from apps.firewall.tools.authoring.items import Item
    from apps.firewall.tools.authoring.offers import Offer

ROOT: Final = __file__.rsplit("/", 4)[0]
LINE_LIMIT_BYTES: Final = 1024 * 1024
DESCRIPTIONS_LIMIT_BYTES: Final = 32 * 1024 * 1024
CHUNK_BYTES: Final = 65536
MESSAGE_LIMIT: Final = 2000
NEWS_EVERY_S: Final = 0.1
CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
OWN_CODE: Final = {
    "apps": f"{ROOT}/apps/__init__.py",
    "apps.firewall": f"{ROOT}/apps/firewall/__init__.py",
    "openclaw_admin": f"{ROOT}/openclaw_admin/__init__.py",
    "openclaw_admin.tools": f"{ROOT}/openclaw_admin/tools.py",
}
LOADED: Final = (
    "openclaw_admin.tools",
    *(
        f"apps.firewall.tools.authoring.{each}"
        for each in ("answers", "dependencies", "formats", "items", "offers", "pinned", "traces")
    ),
)
Answer = dict[str, Any]


class OwnCode(importlib.abc.MetaPathFinder):
    """Finds our packages by name; their own modules are then found as usual, where the folder may be read."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        file = OWN_CODE.get(fullname)
        if file is None:
            return None
        folders = [file.rsplit("/", 1)[0]] if file.endswith("/__init__.py") else None
        return importlib.util.spec_from_file_location(fullname, file, submodule_search_locations=folders)


class Answers:
    """The way out: a descriptor that authors' code does not know, a line for each answer."""

    def __init__(self) -> None:
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._sent = 0
        self._told_at = 0.0
        self._lock = threading.Lock()

    def send(self, answer: Answer) -> None:
        self.write(json.dumps(answer))

    def write(self, text: str) -> None:
        line = text.encode() + b"\n"
        with self._lock:
            self._sent += len(line)
            while line:
                line = line[os.write(self._out, line) :]

    def progress(self, message: str, done: float | None, total: float | None) -> None:
        """Send news of a run, at most one in `NEWS_EVERY_S`."""
        now = time.monotonic()
        if now - self._told_at >= NEWS_EVERY_S:
            self._told_at = now
            self.send({"progress": {"message": str(message)[:MESSAGE_LIMIT], "done": done, "total": total}})

    @property
    def is_full(self) -> bool:
        return self._sent > DESCRIPTIONS_LIMIT_BYTES

    def close(self) -> None:
        os.close(self._out)


def failure(stage: str, code: str, message: str) -> Answer:
    return {"failure": {"stage": stage, "code": code, "message": message}}


# ---- describing -----------------------------------------------------------------------------------------------------


def describe(order: Answer, answers: Answers) -> None:
    """Describe the places of `items`, or those that installed packages name; a line for each, in their order."""
    if "group" in order:
        from apps.firewall.tools.authoring.entry_points import entry_points

        items = entry_points(order["group"], order["folders"])
    else:
        items = order["items"]
    answers.send({"items": items if "group" in order else len(items)})
    deadline = time.monotonic() + order["time_limit_s"]
    position = 0
    while position < len(items):
        if time.monotonic() > deadline or answers.is_full:
            code = "too_much" if answers.is_full else "not_reached"
            answers.send(failure("load", code, "the places before it took all the room or time there is"))
            position += 1
        else:
            position = Worker(items, position, order, answers).follow(deadline)


class Worker:
    """A forked process that describes the places from `position` on.

    It waits for a word before each further place: whatever the next one does, what was said of this one has gone out.
    """

    def __init__(self, items: list[Answer], position: int, order: Answer, answers: Answers) -> None:
        self.items, self.position, self.answers = items, position, answers
        self.patience_s: float = order["import_limit_s"]
        self.pipe, writing = os.pipe()
        waiting, self.go_on = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            os.close(self.go_on)
            answers.close()
            work(items, position, (waiting, writing), is_eager=order["initialise"])
        os.close(writing)
        os.close(waiting)

    def follow(self, deadline: float) -> int:
        """Pass on what it answers until it is done or has to be given up; return the position to go on at."""
        received = b""
        trouble = ""
        while self.position < len(self.items) and not trouble and not self.answers.is_full:
            patience_s = min(self.patience_s, deadline - time.monotonic())
            if not select.select([self.pipe], [], [], max(0.0, patience_s))[0]:
                trouble = "timed_out"
                break
            part = os.read(self.pipe, CHUNK_BYTES)
            *lines, received = (received + part).split(b"\n")
            for line in lines:
                trouble = trouble or self._pass_on(line)
            if not part:
                trouble = "ended"
            elif len(received) > LINE_LIMIT_BYTES:
                trouble = "too_large"
        how = self._end()
        if trouble and self.position < len(self.items):
            self.answers.send(self._told(trouble, how))
            self.position += 1
        return self.position

    def _pass_on(self, line: bytes) -> str:
        """Send one answer; say what is wrong with it, if anything."""
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            return "rubbish"
        if not isinstance(answer, dict) or answer.pop("item", None) != self.position:
            return "rubbish"
        self.answers.send(answer)
        self.position += 1
        with contextlib.suppress(BrokenPipeError):  # it has ended meanwhile, which the other pipe tells
            os.write(self.go_on, b".")
        return ""

    def _told(self, trouble: str, how: str) -> Answer:
        return {
            "timed_out": failure("load", "load_timed_out", f"it was not loaded within {self.patience_s:g} seconds"),
            "ended": failure("load", "process_ended", f"its code ended the process while it was loaded ({how})"),
            "too_large": failure("verify", "too_large", f"its descriptions have more than {LINE_LIMIT_BYTES} bytes"),
            "rubbish": failure("load", "process_disturbed", "its code disturbed the process that loads it"),
        }[trouble]

    def _end(self) -> str:
        os.close(self.pipe)
        os.close(self.go_on)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        status = os.waitpid(self.pid, 0)[1]
        if os.WIFSIGNALED(status):
            return signal.Signals(os.WTERMSIG(status)).name
        return f"exit code {os.WEXITSTATUS(status)}"


def work(items: list[Answer], position: int, pipes: tuple[int, int], *, is_eager: bool) -> NoReturn:
    """Be the worker: describe place by place, then end without what authors registered for the end."""
    waiting, pipe = pipes
    os.register_at_fork(after_in_child=lambda: os.close(pipe))  # what an author forks has nothing to say here
    try:
        for number in range(position, len(items)):
            text = json.dumps({"item": number, **described(items[number], is_eager=is_eager)}) + "\n"
            line = text.encode()
            while line:
                line = line[os.write(pipe, line) :]
            os.read(waiting, 1)
        os._exit(0)
    finally:
        os._exit(70)


def described(item: Answer, *, is_eager: bool) -> Answer:
    """Describe one place: `offers`, each with the attribute and a definition or a failure, or one `failure`."""
    from apps.firewall.tools.authoring.context import ToolContext
    from apps.firewall.tools.authoring.items import NotLoadedError, load_offers

    context = ToolContext(config=item.get("config", {}))
    offers: list[Answer] = []
    try:
        for attribute, offer in load_offers(place_of(item), context):
            if isinstance(offer, NotLoadedError):
                offers.append({"attribute": attribute, **failure(offer.stage, offer.code, offer.message)})
            else:
                made = definition_of(offer, is_eager=is_eager)
                offers.append({"attribute": attribute, **with_formats(made, item)})
    except NotLoadedError as exc:
        return failure(exc.stage, exc.code, exc.message)
    except BaseException as exc:  # noqa: BLE001 - an author's own code may raise anything
        return failure("load", "load_failed", f"{type(exc).__name__}: {exc}"[:1000])
    return {"offers": offers}


def definition_of(offer: "Offer", *, is_eager: bool) -> Answer:
    from apps.firewall.tools.authoring.dependencies import unmet
    from apps.firewall.tools.authoring.items import told

    dependencies = offer.definition.get("dependencies", ())
    problems = unmet(dependencies) if isinstance(dependencies, list | tuple) else []
    if problems:
        return failure("verify", "dependency_missing", "; ".join(problems))
    try:
        definition = json.loads(json.dumps(offer.definition, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as exc:
        return failure("verify", "definition_invalid", f"the definition is no JSON: {told(exc)}")
    if is_eager:
        try:
            runner = asyncio.Runner()  # as it is, it makes no loop before one is needed
            settle(runner, offer.initialise)
            settle(runner, offer.close)
            runner.close()
        except (Exception, SystemExit) as exc:  # noqa: BLE001 - an author's own code may raise anything
            return failure("initialise", "initialise_failed", told(exc))
    return {"definition": definition}


def with_formats(answer: Answer, item: Answer) -> Answer:
    """Write into a definition which formats of its author's own it names, as far as something checks them."""
    from apps.firewall.tools.authoring.errors import AuthoringError
    from apps.firewall.tools.authoring.formats import own_formats
    from apps.firewall.tools.authoring.items import loaded_module

    definition = answer.get("definition")
    if not isinstance(definition, dict):
        return answer
    definition.pop("formats", None)  # what is checked is known here, not there
    names = format_names(definition.get("parameters") or definition.get("inputSchema"))
    if names:
        try:
            own = own_formats(names, loaded_module(place_of(item)))
        except AuthoringError as exc:
            return failure("verify", exc.code, exc.message)
        definition["formats"] = {name: each.meaning for name, each in own.items()}
    return answer


def format_names(schema: Any) -> list[str]:
    """Name the formats of a schema that are an author's own, also where it only looks so."""
    from apps.firewall.tools.formats import FORMATS

    names: dict[str, None] = {}
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            name = part.get("format")
            if isinstance(name, str) and not FORMATS.knows(name):
                names[name] = None
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return sorted(names)


# ---- checking -------------------------------------------------------------------------------------------------------


def check(order: Answer, answers: Answers) -> None:
    """Hold texts against formats of an author's own: `{"checked": [true, …]}` or `{"error": {…}}`."""
    from apps.firewall.tools.authoring.errors import AuthoringError
    from apps.firewall.tools.authoring.formats import own_formats
    from apps.firewall.tools.authoring.items import loaded_module
    from apps.firewall.tools.authoring.pinned import pin

    if "code" in order:
        pin(order["code"]["files"], order["code"]["areas"])
    try:
        item = place_of(order["item"])
        module = loaded_module(item) if item.module or item.file else None
        own = own_formats([name for name, _text in order["texts"]], module)
        missing = sorted({name for name, _text in order["texts"]} - own.keys())
        if missing:
            raise AuthoringError(f"nothing checks the format `{missing[0]}` any more")
        answers.send({"checked": [bool(own[name].check(text)) for name, text in order["texts"]]})
    except (Exception, SystemExit) as exc:  # noqa: BLE001 - an author's own code may raise anything
        answers.send(trouble_of(exc, "format_unchecked"))


# ---- running --------------------------------------------------------------------------------------------------------


def run(order: Answer, answers: Answers) -> None:
    """Run one tool: `{"result": …}` or `{"error": {"code", "message"}}`."""
    from apps.firewall.tools.authoring.context import ToolContext
    from apps.firewall.tools.authoring.pinned import pin

    if "code" in order:
        pin(order["code"]["files"], order["code"]["areas"])
    with asyncio.Runner() as runner:
        try:
            context = ToolContext(**order["context"], report=answers.progress)
            offer = chosen(order, context)
        except Exception as exc:  # noqa: BLE001
            answers.send(trouble_of(exc, "load_failed"))
            return
        try:
            settle(runner, offer.initialise)
            value = settle(runner, lambda: offer.execute(order["params"], context))
            answers.write(f'{{"result": {written(value)}}}')
        except (Exception, SystemExit, asyncio.CancelledError) as exc:  # noqa: BLE001
            answers.send(trouble_of(exc, "tool_raised"))
        settle(runner, offer.close)


def chosen(order: Answer, context: "ToolContext") -> "Offer":
    """Load the place and pick the tool by its name; a place with one tool needs no name."""
    from apps.firewall.tools.authoring.items import NotLoadedError, load_offers

    offers: list[Offer] = []
    for _, offer in load_offers(place_of(order["item"]), context):
        if isinstance(offer, NotLoadedError):
            raise offer
        offers.append(offer)
    named = [offer for offer in offers if offer.definition.get("name") == order["name"]]
    if len(named) != 1 and len(offers) != 1:
        raise NotLoadedError("load", "tool_missing", f"its code offers no tool `{order['name']}` any more")
    return (named or offers)[0]


def place_of(item: Answer) -> "Item":
    from apps.firewall.tools.authoring.items import Item

    known = ("module", "file", "attribute", "config", "dependencies")
    return Item(**{name: item[name] for name in known if name in item})


def settle(runner: asyncio.Runner, call: Callable[[], Any]) -> Any:
    """Call outside the loop, so that an author may start one, and await in the loop what has to be."""
    value = call()
    if not hasattr(value, "__await__"):
        return value

    async def waiting() -> Any:
        return await value

    return runner.run(waiting())


def written(value: Any) -> str:
    from apps.firewall.tools.authoring.answers import answer_text

    return answer_text(value)


def trouble_of(exc: BaseException, code: str) -> Answer:
    """Say why a call failed: an error that was made to be told in its own words, everything else by its class.

    What its author needs beside, `cause`, goes to the author's log and to no caller.
    """
    from apps.firewall.errors import FirewallError
    from apps.firewall.tools.authoring.errors import internal_error
    from apps.firewall.tools.authoring.items import NotLoadedError
    from apps.firewall.tools.authoring.traces import cause_of

    if isinstance(exc, FirewallError | NotLoadedError) and CODE.fullmatch(str(exc.code)):
        error = {"code": str(exc.code), "message": str(exc.message)[:MESSAGE_LIMIT]}
    else:
        error = {"code": code, "message": internal_error(exc)}
    return {"error": error, "cause": cause_of(exc)}


def carry_out(order: Answer, answers: Answers) -> int:
    try:
        {"describe": describe, "check": check, "run": run}[order["do"]](order, answers)
    except BaseException:  # noqa: BLE001 - after an answer, say, when a tool does not close
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def find_own_code() -> None:
    sys.dont_write_bytecode = True
    sys.meta_path.insert(0, OwnCode())


def prepare() -> None:
    """Load what every order needs: once, in the launcher that forks for each order."""
    find_own_code()
    for name in LOADED:
        importlib.import_module(name)


def warm_up() -> None:
    """Be described and called once, so that what both load is loaded, and what both touch is this process's own."""
    from apps.firewall.tools.authoring.context import ToolContext
    from apps.firewall.tools.authoring.decorator import tool
    from apps.firewall.tools.authoring.offers import offers_of

    def rehearsal(text: str) -> str:
        """Repeat a text."""
        return text

    with asyncio.Runner() as runner:
        for offer in offers_of(tool(rehearsal), ToolContext()):
            settle(runner, lambda made=offer: made.execute({"text": ""}, ToolContext()))  # type: ignore[misc]


def main() -> NoReturn:
    """Carry out the order on stdin, in a process that serves no second one."""
    order = json.load(sys.stdin)
    answers = Answers()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path.extend(order["folders"])
    code = carry_out(order, answers)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)  # whatever threads an author left must not hold the answer back


if __name__ == "__main__":
    find_own_code()
    main()
