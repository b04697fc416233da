"""Adapter of the area `redaction`."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.redaction import MaskOptions, mask_text

# the hash in our masks needs a key; which one does not matter for what is left of a text
_KEY: Final = b"conformance"


def text(_dialect: Dialect, given: Mapping[str, Any]) -> dict[str, str]:
    """Answer `text`: our masker is the same for both releases."""
    original = base64.b64decode(given["text_base64"]).decode()
    masked = mask_text(original, key=_KEY, options=_options(given["options"]))
    return {"text_base64": base64.b64encode(masked.text.encode()).decode()}


def _options(given: Mapping[str, Any] | None) -> MaskOptions:
    if given is None:
        return MaskOptions()
    patterns = given.get("patterns")
    chosen = {"mode": given["mode"]} if isinstance(given.get("mode"), str) else {}
    return MaskOptions(**chosen, patterns=None if patterns is None else tuple(patterns))
