"""What docs/hooks.md shows is what runs."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from apps.firewall.runtime.hooks.handlers import FailureKind
from apps.firewall.tools.answer_signing import AnswerUnprovenError, SignedAnswer, check_answer
from apps.firewall.tools.signing import Signing

DOCS = Path(__file__).parents[4] / "docs"
PAGE = (DOCS / "hooks.md").read_text()
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_plugin_on_the_page_is_the_one_that_tests_install() -> None:
    assert CODE[0] == (DOCS / "examples/hooks/package/src/openclaw_hook_gate/__init__.py").read_text()


def test_every_kind_of_failure_is_explained() -> None:
    assert set(re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE)) == set(get_args(FailureKind))


def test_the_signature_on_the_page_is_the_one_that_is_accepted() -> None:
    scope: dict[str, Any] = {}
    exec(CODE[1], scope)
    key = "a-key-that-both-sides-know"
    given = scope["answer_signature"](key, "k1", "call_1", "1800000000", b"{}", b"")
    signed = SignedAnswer(call_id="call_1", timestamp="1800000000", status=200, request=b"{}", answer=b"")
    signing = Signing(algorithm="hmac-sha256", key=key, key_id="k1")
    check_answer(signing, signed, given)
    with pytest.raises(AnswerUnprovenError):
        check_answer(signing, replace(signed, answer=b"{}"), given)
