"""What installed packages say of the tools that they bring."""

import os
from importlib import metadata
from typing import Any


def entry_points(group: str, folders: list[str]) -> list[dict[str, Any]]:
    """List what installed packages name as tools, each with the package's own requirements."""
    found: dict[str, dict[str, Any]] = {}
    for distribution in metadata.distributions():
        for entry in distribution.entry_points:
            named = f"{distribution.name}:{entry.name}"
            if entry.group == group and named not in found and f"{named}{distribution.version}".isprintable():
                where = str(distribution.locate_file(""))
                found[named] = {
                    "key": entry.name,
                    "module": entry.module,
                    "attribute": entry.attr,
                    "dependencies": distribution.requires or [],
                    "folder": next((each for each in folders if os.path.realpath(each) == os.path.realpath(where)), ""),
                    "facts": {"package": distribution.name, "release": distribution.version},
                }
    return [found[key] for key in sorted(found)]
