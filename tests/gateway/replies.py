"""Replies of models in four forms: the same calls, as each provider would have asked for them."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Call = tuple[str, Any]
"""Name and arguments; a text stands for arguments that are not JSON."""


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _chat(calls: Sequence[Call], name: str) -> dict[str, Any]:
    asked = [
        {"id": f"{name}_{place}", "type": "function", "function": {"name": tool, "arguments": _text(arguments)}}
        for place, (tool, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": asked}
    return {"id": f"chatcmpl-{name}", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def _responses(calls: Sequence[Call], name: str) -> dict[str, Any]:
    output = [
        {"type": "function_call", "call_id": f"{name}_{place}", "name": tool, "arguments": _text(arguments)}
        for place, (tool, arguments) in enumerate(calls)
    ]
    return {"id": f"resp_{name}", "object": "response", "status": "completed", "output": output}


def _anthropic(calls: Sequence[Call], name: str) -> dict[str, Any]:
    content = [
        {"type": "tool_use", "id": f"{name}_{place}", "name": tool, "input": arguments}
        for place, (tool, arguments) in enumerate(calls)
    ]
    return {"id": f"msg_{name}", "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": content}


def _gemini(calls: Sequence[Call], name: str) -> dict[str, Any]:
    parts = [
        {"functionCall": {"id": f"{name}_{place}", "name": tool, "args": arguments}}
        for place, (tool, arguments) in enumerate(calls)
    ]
    return {"responseId": name, "candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": parts}}]}


REPLIES: Mapping[str, Callable[[Sequence[Call], str], dict[str, Any]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}


def told(form: str, messages: list[dict[str, Any]]) -> list[str]:
    """Give what a model is told of each of its calls, in their order, whatever the form."""
    if form == "openai-chat":
        return [message["content"] for message in messages if message["role"] == "tool"]
    if form == "openai-responses":
        return [item["output"] for item in messages]
    if form == "anthropic":
        return ["".join(part["text"] for part in block["content"]) for block in messages[0]["content"]]
    return ["".join(part["functionResponse"]["response"].values()) for part in messages[0]["parts"]]
