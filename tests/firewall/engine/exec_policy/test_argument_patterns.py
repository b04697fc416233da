"""Patterns of arguments mean what they mean to OpenClaw, which searches them as JavaScript does."""

import pytest

from apps.firewall.engine.exec_policy.patterns import arguments_match, is_anchored, is_exact, is_narrower, pattern_fault


@pytest.mark.parametrize(
    ("pattern", "arguments", "is_found"),
    [
        # signs that Python reads otherwise
        (r"^log$", ("log\n",), False),
        (r"\Z", ("x",), False),
        (r"\A", ("x",), False),
        (r"\Z", ("Z",), True),
        (r"a{,3}", ("x",), False),
        (r"a{,3}", ("a{,3}",), True),
        (r"[]a]", ("a",), False),
        (r"[^]", ("x",), True),
        (r"\a", ("a",), True),
        (r"\p{L}", ("x",), False),
        (r"[[:alpha:]]", ("a",), False),
        (r"[[:alpha:]]", (":]",), True),
        (r"^.$", ("\u2028",), False),
        (r"^\S$", ("\u00a0",), False),
        (r"[\s]", ("\ufeff",), True),
        (r"^.$", ("\U0001d4b3",), False),
        (r"\u{41}", ("u" * 41,), True),
        # what both read alike
        (r"\x2d\u0041\cA\0\t", ("-A\x01\x00\t",), True),
        (r"^(?<name>a|b){2}$", ("ab",), True),
        (r"^a{2,3}?b{1}c*?$", ("aab",), True),
        (r"[a-c\d\w-]", ("-",), True),
        (r"[\b]", ("\b",), True),
        (r"\bx\b", ("a x b",), True),
        (r"\B1", ("a1",), True),
        (r"]}{", ("]}{",), True),
        (r"a{", ("a{",), True),
        (r"(|a)", ("",), True),
        (r"[a-\d]", ("-",), True),
        (r"\1", ("\x01",), True),
        (r"\k", ("k",), True),
        # a NUL stands behind each argument
        ("^x\0$", ("x",), True),
        ("^x y\0$", ("x", "y"), False),
        ("^\0\0$", (), True),
    ],
)
def test_a_pattern_is_searched_as_javascript_would(pattern: str, arguments: tuple[str, ...], is_found: bool) -> None:
    assert arguments_match(pattern, arguments) is is_found


@pytest.mark.parametrize(
    "pattern",
    [
        "(?i)x",
        "(?i:x)",
        "(?P<n>x)",
        "(?#c)",
        "(?>x)",
        "x*+",
        "x{2}{3}",
        "x**",
        "^*",
        r"\b{2}",
        "+",
        "{2}",
        "(",
        ")",
        "[",
        "a\\",
        "[b-a]",
        "a{3,2}",
        "(?=x)",
        "(?!x)",
        "(?<=x)",
        "(?<!x)",
        r"(a)\1",
        r"(?<n>a)\k<n>",
        r"[\c1]",
    ],
)
def test_what_javascript_refuses_and_what_looks_around_is_found_nowhere(pattern: str) -> None:
    assert pattern_fault(pattern)
    assert not arguments_match(pattern, ("x", "a", "aa", pattern))


def test_what_an_entry_leaves_open_is_seen_through_the_translation() -> None:
    assert is_anchored("^a$")
    assert not is_anchored("^a|b$")
    assert not is_anchored(r"^a\$")
    assert is_exact(r"^log -\d+$")
    assert not is_exact("^log .$")
    assert is_narrower(r"^a.b\S[^\s]$", than="^.*$")
    assert not is_narrower(r"^a\sb$", than="^.*$")
    assert not is_narrower(r"^a[^x]$", than="^.*$")
