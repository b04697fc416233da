"""Calls of models and their answers, as the tests of providers need them."""

import base64
from typing import Any

import pytest

from apps.firewall.tools.model_calls import CallAnswer, ImagePart, ModelCall, TextPart
from apps.firewall.tools.providers import PROVIDERS

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()

every_provider = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=list(PROVIDERS))


def call(name: str = "get_weather", **more: Any) -> ModelCall:
    return ModelCall(**{"id": "call_1", "name": name, "arguments": {}, **more})


def answer(*parts: TextPart | ImagePart, is_error: bool = False, **of: Any) -> CallAnswer:
    return CallAnswer(call=call(**of), parts=parts, is_error=is_error)
