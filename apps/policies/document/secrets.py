"""Secrets in what a record keeps verbatim: sealed at import, masked or opened at export."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from apps.firewall.redaction import is_secret_name, mask_text
from apps.keys.installation import mask_key
from apps.keys.notes import secret_note
from apps.keys.seal import seal, unseal
from apps.policies.document.findings import Findings, Path

SEALED = "$sealed"
PURPOSE = "policies.document"
PLACEHOLDER = "__OPENCLAW_REDACTED__"
"""OpenClaw's own mark: it puts the stored value back when a masked document is written to it, and so do we."""

_SECRET_OBJECTS = frozenset({"secrets", "env", "headers", "credentials", "credential"})
_REFERENCE_KEYS = frozenset({"source", "provider", "id"})  # an object that says where a secret is kept
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}|env:[A-Za-z_][A-Za-z0-9_]*")


def seal_secrets(template: dict[str, Any], path: Path, known: Mapping[Path, Any], findings: Findings) -> dict[str, Any]:
    """Replace each secret by its envelope; length and short hash stand beside it.

    Args:
        known: envelopes of the present draft by path. One that holds the same value is used again, and the
            placeholder stands for the one at its place.
    """

    def replace(value: Any, place: Path) -> Any:
        old = known.get(place)
        if value == PLACEHOLDER:
            if old is None:
                findings.warning(place, "secret_unknown", _("the masked value is not known here: the mask is kept"))
            return value if old is None else old
        findings.info(place, "secret_sealed", _("kept encrypted; shown by length and short hash only"))
        if old is not None and open_value(old) == value:
            return old
        return sealed_value(value)

    sealed: dict[str, Any] = _walk(template, path, replace, secret=False)
    return sealed


def sealed_value(value: Any) -> dict[str, Any]:
    envelope = seal(json.dumps(value, ensure_ascii=False).encode(), purpose=PURPOSE)
    return {SEALED: base64.b64encode(envelope).decode(), **secret_note(value if isinstance(value, str) else str(value))}


def open_value(sealed: Mapping[str, Any]) -> Any:
    return json.loads(unseal(base64.b64decode(sealed[SEALED]), purpose=PURPOSE))


def is_sealed(value: Any) -> bool:
    return isinstance(value, dict) and SEALED in value


def replace_sealed(value: Any, replace: Callable[[Mapping[str, Any]], Any]) -> Any:
    """Return a copy of a tree with something else in the place of each envelope."""
    if is_sealed(value):
        return replace(value)
    if isinstance(value, dict):
        return {key: replace_sealed(item, replace) for key, item in value.items()}
    if isinstance(value, list):
        return [replace_sealed(item, replace) for item in value]
    return value


def with_masks(value: Any) -> Any:
    return replace_sealed(value, lambda _: PLACEHOLDER)


def with_notes(value: Any) -> Any:
    """Return a tree for people: each secret as its length and short hash."""
    return replace_sealed(value, lambda sealed: {"length": sealed["length"], "hash": sealed["hash"]})


def with_secrets(value: Any) -> Any:
    return replace_sealed(value, open_value)


def sealed_places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Find the envelopes in a tree."""
    if is_sealed(value):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from sealed_places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from sealed_places(item, (*path, index))


def refuse_envelopes(value: Any, findings: Findings) -> None:
    """Name each object that looks like an envelope of ours: a document from outside has none."""
    for path, _envelope in sealed_places(value):
        findings.error((*path, SEALED), "reserved_key", _("the key `%(sealed)s` is reserved") % {"sealed": SEALED})


def _walk(value: Any, path: Path, replace: Callable[[Any, Path], Any], *, secret: bool) -> Any:
    """Walk a tree; `secret` says that every text below belongs to a secret."""
    if is_sealed(value):
        return value
    if isinstance(value, dict):
        if secret and value.keys() <= _REFERENCE_KEYS:
            return value
        return {
            key: _walk(item, (*path, key), replace, secret=secret or _names_secret(key, item))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _walk(item, (*path, index), replace, secret=secret or _follows_option(value, index))
            for index, item in enumerate(value)
        ]
    return replace(value, path) if _is_secret(value, secret=secret) else value


def _names_secret(key: str, value: Any) -> bool:
    """Say whether a key makes what it holds a secret; `auth: {mode: …}` is settings, `token: "…"` is not."""
    return key in _SECRET_OBJECTS or (not isinstance(value, dict) and is_secret_name(key))


def _follows_option(items: list[Any], index: int) -> bool:
    """Say whether an item is the value of an option such as `--api-key` before it."""
    before = items[index - 1] if index else None
    return isinstance(before, str) and before.startswith("-") and is_secret_name(before.lstrip("-"))


def _is_secret(value: Any, *, secret: bool) -> bool:
    if isinstance(value, str):
        if not value or _REFERENCE.fullmatch(value):
            return False
        return secret or value == PLACEHOLDER or bool(mask_text(value, key=mask_key()).notes)
    return secret and isinstance(value, int | float) and not isinstance(value, bool)
