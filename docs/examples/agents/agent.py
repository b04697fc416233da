"""A small agent: a model answers a question, and whatever tools it asks for run through OpenClaw Admin.

    OPENCLAW_TOKEN=… python agent.py openai-chat https://api.openai.com gpt-5 "What do the notes say?"

The forms are `openai-chat`, `anthropic` and `gemini`; MODEL_KEY holds the key of the model's provider.
"""

import os
import sys
from typing import Any, NamedTuple

import httpx

TURNS_LIMIT = 10


class Form(NamedTuple):
    """What is not the same from provider to provider: where and how to ask, and what of a reply to keep."""

    provider: str
    path: str
    headers: Any
    members: Any
    question: Any
    reply: Any
    text: Any


def texts(parts: list[Any]) -> str:
    return "".join(part.get("text", "") for part in parts)


FORMS = {
    "openai-chat": Form("openai", "/v1/chat/completions",
        lambda key: {"Authorization": f"Bearer {key}"},
        lambda model: {"model": model},
        lambda text: {"messages": [{"role": "user", "content": text}]},
        lambda reply: reply["choices"][0]["message"],
        lambda message: message["content"] or ""),
    "anthropic": Form("anthropic", "/v1/messages",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
        lambda model: {"model": model, "max_tokens": 1024},
        lambda text: {"messages": [{"role": "user", "content": text}]},
        lambda reply: {"role": "assistant", "content": reply["content"]},
        lambda message: texts(message["content"])),
    "gemini": Form("google", "/v1beta/models/{model}:generateContent",
        lambda key: {"x-goog-api-key": key},
        lambda _: {},
        lambda text: {"contents": [{"role": "user", "parts": [{"text": text}]}]},
        lambda reply: reply["candidates"][0]["content"],
        lambda message: texts(message["parts"])),
}  # fmt: skip


def converse(door: httpx.Client, llm: httpx.Client, form: str, model: str, question: str, agent: str = "main") -> Any:
    """Answer a question; gives the answer and every call that was made on the way, as `POST /turns` told of it."""
    how, calls = FORMS[form], list[Any]()
    who = {"agent": agent, "provider": how.provider, "form": form, "model": model}
    offered = door.get("/api/v1/tools", params={**who, "runnable": "true"}).raise_for_status().json()["request"]
    said = {**how.members(model), **offered, **how.question(question)}
    for _ in range(TURNS_LIMIT):
        reply = llm.post(how.path.format(model=model), json=said).raise_for_status().json()
        turn = door.post("/api/v1/turns", json={**who, "response": reply}).raise_for_status().json()
        while "go_on" in turn:  # a person is asked, or a tool takes its time
            more = {"idempotency": turn["go_on"]["idempotency"]}
            turn = door.post("/api/v1/turns", json={**who, "response": reply, **more}).raise_for_status().json()
        if turn["status"] == "no_calls":
            return how.text(how.reply(reply)), calls
        calls += turn["calls"]
        said[turn["append_to"]] += [how.reply(reply), *turn["messages"]]
    raise RuntimeError(f"no answer after {TURNS_LIMIT} turns")


if __name__ == "__main__":
    form, address, model, question = sys.argv[1:5]
    url, token = os.environ.get("OPENCLAW_URL", "http://127.0.0.1:8000"), os.environ["OPENCLAW_TOKEN"]
    ours = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
    theirs = httpx.Client(base_url=address, headers=FORMS[form].headers(os.environ.get("MODEL_KEY", "")), timeout=120)
    answer, made = converse(ours, theirs, form, model, question)
    print(*(f"[{call['tool']}: {call['status']}]" for call in made), answer, sep="\n")
