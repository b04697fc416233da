"""One place where tools are written, loaded and turned into offers; what goes wrong has a stage and a code."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from apps.firewall.tools.authoring.context import ToolContext
from apps.firewall.tools.authoring.errors import AuthoringError, CodeChangedError, NotOfferedError
from apps.firewall.tools.authoring.offers import Offer, offers_of, public_tools
from apps.firewall.tools.authoring.pinned import pinned

MESSAGE_LIMIT = 1000


class NotLoadedError(Exception):
    """A place that gives no tools: `stage` and `code` as in a `Failure`."""

    def __init__(self, stage: str, code: str, message: str) -> None:
        super().__init__(message)
        self.stage, self.code, self.message = stage, code, message[:MESSAGE_LIMIT]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A module or file, and what of it is meant.

    Args:
        attribute: dotted; all public tools of the module when "".
        dependencies: requirements that must be met before it is loaded.
    """

    module: str = ""
    file: str = ""
    attribute: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    dependencies: Sequence[str] = ()


def load_offers(item: Item, context: ToolContext) -> Iterator[tuple[str, Offer | NotLoadedError]]:
    """Load a place and give its tools by attribute; one that is broken does not stop the others.

    Raises:
        NotLoadedError: the place as a whole cannot be loaded.
    """
    _check_dependencies(item.dependencies)
    module = _load_module(item)
    targets = [(item.attribute, _attribute(module, item.attribute))] if item.attribute else list(public_tools(module))
    if not targets:
        raise NotLoadedError("load", "no_tools", "nothing in it is a tool: no decorated function, class or factory")
    for attribute, target in targets:
        try:
            for offer in offers_of(target, context):
                yield attribute, offer
        except NotOfferedError as exc:
            yield attribute, NotLoadedError("initialise", exc.code, exc.message)
        except AuthoringError as exc:
            yield attribute, NotLoadedError("load", exc.code, exc.message)
        except Exception as exc:  # noqa: BLE001 - an author's own code may raise anything
            yield attribute, NotLoadedError("load", "load_failed", told(exc))


def loaded_module(item: Item) -> ModuleType:
    """Give the module of a place; loaded when it is not yet.

    Raises:
        NotLoadedError: it cannot be loaded.
    """
    if item.file:
        real = str(Path(item.file))
        for module in list(sys.modules.values()):
            if getattr(module, "__file__", None) == real:
                return module
    return _load_module(item)


def told(exc: BaseException) -> str:
    """Say an exception in one line: its class, which authors know it by, and what it says."""
    try:
        words = str(exc)
    except Exception:  # noqa: BLE001 - an author's own exception
        words = ""
    if isinstance(exc, SyntaxError):
        words = f"{exc.msg} (line {exc.lineno})"
    return " ".join(f"{type(exc).__name__}: {words}".split()).removesuffix(":")[:MESSAGE_LIMIT]


def _check_dependencies(requirements: Sequence[str]) -> None:
    if not requirements:
        return
    from apps.firewall.tools.authoring.dependencies import unmet

    problems = unmet(requirements)
    if problems:
        raise NotLoadedError("verify", "dependency_missing", "; ".join(problems))


def _load_module(item: Item) -> ModuleType:
    try:
        return _of_file(Path(item.file)) if item.file else importlib.import_module(item.module)
    except ModuleNotFoundError as exc:
        missing = exc.name or "?"
        if not item.file and item.module.split(".")[: missing.count(".") + 1] == missing.split("."):
            raise NotLoadedError("load", "module_missing", f"no module named `{missing}`") from exc
        raise NotLoadedError("verify", "dependency_missing", f"the module `{missing}` is not installed") from exc
    except CodeChangedError as exc:
        raise NotLoadedError("load", exc.code, exc.message) from exc
    except (Exception, SystemExit) as exc:
        raise NotLoadedError("load", "import_failed", told(exc)) from exc


def _of_file(file: Path) -> ModuleType:
    name = file.stem if file.stem.isidentifier() and file.stem not in sys.modules else f"tools_{len(sys.modules)}"
    held = pinned()
    spec = importlib.util.spec_from_file_location(name, file) if held is None else held.of_file(name, str(file))
    if spec is None or spec.loader is None:
        raise NotLoadedError("load", "import_failed", f"`{file.name}` is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _attribute(module: ModuleType, path: str) -> Any:
    target: Any = module
    for part in path.split("."):
        try:
            target = getattr(target, part)
        except AttributeError as exc:
            raise NotLoadedError("load", "attribute_missing", f"`{module.__name__}` has no `{path}`") from exc
    return target
