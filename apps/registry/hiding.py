"""Takes the secrets of a source out of what a look brings home: code that was given them may say them back."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.firewall.tools.connections import hidden, secret_texts
from apps.firewall.tools.definition_json import definition_json
from apps.firewall.tools.discovery.found import Failure, Found, Look


def without_secrets(look: Look, secrets: Mapping[str, str]) -> Look:
    """Hide what a source keeps sealed in causes and facts; a definition that holds a secret makes a broken tool.

    Args:
        secrets: texts by name, as `source_secrets` gives them.
    """
    if not secrets:
        return look
    sealed, kept = tuple(secrets.values()), secret_texts(secrets)
    found = tuple(_found(each, sealed, kept) for each in look.found)
    return replace(look, failure=_failure(look.failure, sealed), found=found)


def _found(found: Found, sealed: tuple[str, ...], secrets: tuple[str, ...]) -> Found:
    failure, definition = _failure(found.failure, sealed), found.definition
    if definition is not None and _holds_any(definition_json(definition), secrets):
        message = "its definition holds a secret of the source, which everybody would read"
        failure, definition = Failure(stage="verify", code="secret_in_definition", message=message), None
    facts = {name: hidden(fact, sealed) if isinstance(fact, str) else fact for name, fact in found.facts.items()}
    return replace(found, key=hidden(found.key, sealed), definition=definition, failure=failure, facts=facts)


def _failure(failure: Failure | None, secrets: tuple[str, ...]) -> Failure | None:
    return None if failure is None else replace(failure, message=hidden(failure.message, secrets))


def _holds_any(document: Mapping[str, Any], secrets: tuple[str, ...]) -> bool:
    text = json.dumps(document)
    return hidden(text, [json.dumps(secret)[1:-1] for secret in secrets]) != text
