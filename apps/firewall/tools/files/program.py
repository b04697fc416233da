"""The program of the file tools: `python -I -S program.py` takes one order as JSON on stdin and answers with one."""

import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

if __name__ == "__main__":
    # The folders around this one cannot even be listed from here: of our packages, only what lies beside is found.
    FOUND: dict[str, list[str]] = {"apps": [], "apps.firewall": [], "apps.firewall.tools": []}
    for package, places in (FOUND | {"apps.firewall.tools.files": [__file__.rpartition("/")[0]]}).items():
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = places

from apps.firewall.tools.files.beneath import parts_of
from apps.firewall.tools.files.denying import is_denied
from apps.firewall.tools.files.editing import edit
from apps.firewall.tools.files.listing import list_folder
from apps.firewall.tools.files.patching import apply_patch
from apps.firewall.tools.files.reading import read, read_encoded
from apps.firewall.tools.files.refusals import RefusedError, refusal
from apps.firewall.tools.files.writing import append, write

ORDERS: dict[str, Callable[..., dict[str, Any]]] = {
    "read": read,
    "read_encoded": read_encoded,
    "write": write,
    "append": append,
    "edit": edit,
    "list": list_folder,
    "apply_patch": apply_patch,
}


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """Carry out one order: `{"do", "root", "params"}`, `denied` patterns -> `{"result"}` or `{"error"}`."""
    root, params = order["root"], order["params"]
    path = str(params.get("path", ""))
    try:
        if order.get("denied") and is_denied("/".join(parts_of(path, root)), order["denied"]):
            raise RefusedError("path_denied", f"`{path}` is among the paths that nobody may use")
        return {"result": ORDERS[order["do"]](root, **params)}
    except RefusedError as exc:
        return {"error": {"code": exc.code, "message": exc.message}}
    except OSError as exc:
        told = refusal(exc, path)
        return {"error": {"code": told.code, "message": told.message}}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answer(json.load(sys.stdin)), ensure_ascii=True))
