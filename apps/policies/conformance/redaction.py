"""Adapter of the area `redaction`."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.redaction import MaskedText, MaskOptions, mask_text

# the hash in our masks needs a key; which one does not matter for what is left of a text
_KEY: Final = b"conformance"
# What a mask says is our own wording. It is left out, so that no letter of it is taken for one that a text still shows.
_MASK: Final = "…"


def text(_dialect: Dialect, given: Mapping[str, Any]) -> dict[str, str]:
    """Answer `text`: our masker is the same for both releases."""
    original = base64.b64decode(given["text_base64"]).decode()
    masked = mask_text(original, key=_KEY, options=_options(given["options"]))
    return {"text_base64": base64.b64encode(_shown(original, masked).encode()).decode()}


def _shown(original: str, masked: MaskedText) -> str:
    pieces, at = [], 0
    for start, end, _ in masked.spans:
        pieces += [original[at:start], _MASK]
        at = end
    return "".join([*pieces, original[at:]])


def _options(given: Mapping[str, Any] | None) -> MaskOptions:
    if given is None:
        return MaskOptions()
    patterns = given.get("patterns")
    chosen = {"mode": given["mode"]} if isinstance(given.get("mode"), str) else {}
    return MaskOptions(**chosen, patterns=None if patterns is None else tuple(patterns))
