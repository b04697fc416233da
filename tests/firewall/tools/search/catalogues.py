"""Descriptors to choose from."""

from typing import Any

from apps.firewall.tools.search.descriptors import Descriptor, Source

TEXT = {"type": "string"}


def tool(place: str, description: str = "", /, *, trusted: bool = True, **properties: Any) -> Descriptor:
    """Make a descriptor from its id."""
    source, _, rest = place.partition(":")
    kinds: dict[str, Source] = {"core": "core", "plugin": "plugin", "mcp": "mcp", "client": "client"}
    return Descriptor(
        id=place,
        name=rest.rpartition(":")[2],
        source=kinds[source],
        description=description,
        parameters={"type": "object", "properties": properties},
        is_trusted=trusted and source in ("core", "plugin"),
    )
