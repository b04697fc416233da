"""Code of a model: what it gives back, what it sees, how it asks for tools, what it logs."""

import asyncio
from typing import Any

import pytest

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.code_mode.crossing import CALLS_AT_ONCE
from apps.firewall.runtime.code_mode.results import LOG_LIMIT_BYTES, RESULT_LIMIT_BYTES, LogLine
from tests.firewall.runtime.coding import NEEDS_NODE, TIME_MS, Desk, pool_of, run

pytestmark = NEEDS_NODE


class DeniedError(FirewallError):
    code = "denied"

    def __init__(self) -> None:
        super().__init__("the policy does not permit `exec`")
        self.details = [{"path": "id", "code": "denied"}]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("return 1 + 1", 2),
        ("", None),
        ("return null", None),
        ("await null", None),
        ("return { a: [1, 'two', null, { b: true }], u: undefined }", {"a": [1, "two", None, {"b": True}]}),
        ("return [NaN, Infinity, new Date(0), new Map()]", [None, None, "1970-01-01T00:00:00.000Z", {}]),
        ("return await Promise.all([1, Promise.resolve(2)])", [1, 2]),
        ("return '\\u4f60\\u597d \\u{1f600}'", "你好 😀"),
        ("return '😀'.slice(0, 1) + '\\\\ud83d'", "\ufffd\\ud83d"),
        ("return 'import' + /import/.test('import') + ({ import: 1 }).import", "importtrue1"),
        ("function* f() { yield 1; yield 2 } return [...f()] // the end", [1, 2]),
        ("const { x = 3, ...y } = { z: 4 }; return [x, y, `${x}`, 2n > 1n]", [3, {"z": 4}, "3", True]),
    ],
)
async def test_code_gives_back_what_it_returns(code: str, value: Any) -> None:
    result = await run(code)

    assert (result.ended, result.value, result.error) == ("returned", value, None)


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("return 1n", "result_no_json", "BigInt"),
        ("return () => 1", "result_no_json", "a function is no JSON"),
        ("const a = {}; a.a = a; return a", "result_no_json", "circular"),
        ("let a = []; for (let n = 0; n < 70; n++) a = [a]; return a", "result_no_json", "deeper than 64"),
        ("let a = []; for (let n = 0; n < 200000; n++) a = [a]; return a", "result_no_json", "call stack"),
        (f"return 'x'.repeat({RESULT_LIMIT_BYTES})", "result_too_large", "262144 bytes"),
        ("return {", "code_syntax", "Unexpected token"),
        ("}); (async function () {", "code_syntax", "Unexpected token"),
        ("}, async function () {", "code_syntax", "Unexpected token"),
        ("} code() {", "code_syntax", "Unexpected identifier"),
        ("const fs = await import('fs')", "code_syntax", "`import` is not to be had"),
        ("return import.meta", "code_syntax", "`import` is not to be had"),
        ("\ud83d", "code_syntax", "surrogates"),
        ("/" + "*" * 140_000 + "/", "code_too_large", "131072 bytes"),
        ("x = 1", "code_threw", "ReferenceError: x is not defined"),
        ("throw new TypeError('no')", "code_threw", "TypeError: no"),
        ("throw 'words'", "code_threw", "words"),
        ("throw undefined", "code_threw", "undefined"),
        ("await Promise.reject(new RangeError('far'))", "code_threw", "RangeError: far"),
        ("throw { get message() { throw 1 } }", "code_threw", "cannot be shown"),
        ("throw new Error('x'.repeat(1e6))", "code_threw", "Error: xxx"),
        ("(function f() { f() })()", "code_threw", "RangeError: Maximum call stack"),
    ],
)
async def test_code_that_gives_nothing_says_why(code: str, error: str, words: str) -> None:
    result = await run(code)

    assert result.error is not None
    assert (result.ended, result.value, result.error.code) == ("threw", None, error)
    assert words in result.error.message
    assert len(result.error.message) < 2_200


async def test_it_sees_the_language_and_the_bridge_only() -> None:
    result = await run("return Object.getOwnPropertyNames(globalThis)")

    foreign = {"process", "require", "module", "Buffer", "fetch", "setTimeout", "queueMicrotask", "WebAssembly"}
    assert not foreign & set(result.value)
    assert {"openclaw", "console", "JSON", "Promise"} <= set(result.value)


async def test_it_searches_describes_and_calls() -> None:
    desk = Desk(
        search=[{"id": "core:read", "name": "read"}], describe={"id": "core:read"}, call=lambda asked: {"result": asked}
    )
    result = await run(
        """
        const [hit] = await openclaw.tools.search("a file", { limit: 3 });
        const tool = await openclaw.tools.describe(hit.id);
        return [tool, await openclaw.tools.call(hit.id, { path: "a" }), await openclaw.tools.call(hit.name)];
        """,
        desk,
    )

    assert desk.asked == [
        ("search", {"query": "a file", "limit": 3}),
        ("describe", {"id": "core:read"}),
        ("call", {"id": "core:read", "args": {"path": "a"}}),
        ("call", {"id": "read", "args": {}}),
    ]
    assert result.value[1] == {"result": {"id": "core:read", "args": {"path": "a"}}}
    assert (result.searches, result.describes, result.calls) == (1, 1, 2)


async def test_values_cross_the_bridge_unchanged() -> None:
    value = {
        "texts": ["", '\u2028\u2029\x7f\t\n"\\', "\\ud83d", "😀你好", "'`${x}"],
        "numbers": [0, -1, 1.5, 1e300, 2**53 - 1],
        "others": [None, True, False, [], {}, [[[]]]],
        "__proto__": {"constructor": {"prototype": 1}},
        "then": "x",
        "toJSON": "y",
    }

    async def echo(asked: Any) -> Any:
        return asked["args"]

    result = await run(
        """
        const [given] = await openclaw.tools.search("x");
        return [await openclaw.tools.call("x", given), given];
        """,
        Desk(search=[value], call=echo),
    )

    assert result.value == [value, value]


async def test_what_the_bridge_refuses_is_a_promise_that_is_rejected() -> None:
    async def deny(asked: Any) -> None:
        raise DeniedError

    result = await run(
        """
        try { await openclaw.tools.call("exec", {}) }
        catch (e) { return [e instanceof Error, e.name, e.code, e.message, e.details, `${e}`] }
        """,
        Desk(call=deny),
    )

    message = "the policy does not permit `exec`"
    assert result.value == [
        True,
        "ToolError",
        "denied",
        message,
        [{"path": "id", "code": "denied"}],
        f"ToolError: {message}",
    ]


async def test_a_refusal_that_nobody_catches_is_what_the_code_threw() -> None:
    async def deny(asked: Any) -> None:
        raise DeniedError

    result = await run("await openclaw.tools.call('exec', {})", Desk(call=deny))

    assert result.error is not None
    assert (result.error.code, result.error.message) == ("code_threw", "ToolError: the policy does not permit `exec`")


async def test_a_mistake_of_the_server_tells_the_code_nothing_of_it() -> None:
    async def fail(asked: Any) -> None:
        raise RuntimeError("the password is 1234")

    result = await run("await openclaw.tools.search('x').catch((e) => { console.log(e); throw e })", Desk(search=fail))

    assert result.error is not None
    assert "1234" not in str(result)
    assert "the server could not do this" in result.error.message


@pytest.mark.parametrize(
    ("asks", "code"),
    [
        ("search()", "invalid_arguments"),
        ("search(1)", "invalid_arguments"),
        ("search('x', 3)", "invalid_arguments"),
        ("search('x', [3])", "invalid_arguments"),
        ("describe({})", "invalid_arguments"),
        ("call('x', 'y')", "invalid_arguments"),
        ("call('x', deep)", "invalid_arguments"),
        ("call('x', { y: 'z'.repeat(300000) })", "call_too_large"),
    ],
)
async def test_what_the_bridge_does_not_take_never_reaches_it(asks: str, code: str) -> None:
    desk = Desk()
    result = await run(
        f"let deep = {{}}; for (let n = 0; n < 70; n++) deep = {{ deep }};"
        f"return openclaw.tools.{asks}.catch((e) => e.code)",
        desk,
    )

    assert (result.value, desk.asked) == (code, [])


@pytest.mark.parametrize("asks", ["call('x', { y: 1n })", "call('x', { get y() { throw new TypeError('no') } })"])
async def test_arguments_that_are_no_json_are_an_error_of_the_code(asks: str) -> None:
    desk = Desk()
    result = await run(f"return openclaw.tools.{asks}.catch((e) => e.name)", desk)

    assert (result.value, desk.asked) == ("TypeError", [])


@pytest.mark.parametrize(("answer", "code"), [(object(), "answer_no_json"), ("x" * 2_000_000, "answer_too_large")])
async def test_an_answer_that_cannot_be_handed_over_is_a_refusal(answer: Any, code: str) -> None:
    result = await run("return openclaw.tools.search('x').catch((e) => e.code)", Desk(search=answer))

    assert result.value == code


async def test_calls_beyond_what_it_may_make_are_refused_in_all_and_wait_at_once() -> None:
    full = asyncio.Event()

    async def together(asked: Any) -> int:
        if desk.most_at_once == CALLS_AT_ONCE:
            full.set()
        await full.wait()  # the first ones end when as many as may run do
        return 1

    desk = Desk(call=together)
    result = await run(
        """
        const asked = Array.from({ length: 230 }, (_, n) => openclaw.tools.call("x", { n }));
        const told = await Promise.allSettled(asked);
        const refused = told.filter((t) => t.reason?.code === "too_many_calls");
        return [told.filter((t) => t.value === 1).length, refused.length];
        """,
        desk,
    )

    assert result.value == [200, 30]
    assert (result.calls, len(desk.asked)) == (200, 200)
    assert desk.most_at_once == CALLS_AT_ONCE


async def test_all_that_calls_bring_is_bounded_together() -> None:
    result = await run(
        """
        const asked = Array.from({ length: 40 }, () => openclaw.tools.call("x", { y: "z".repeat(200000) }));
        return (await Promise.allSettled(asked)).filter((t) => t.status === "fulfilled").length;
        """
    )

    assert result.value == 20


async def test_logs_are_kept_by_level_and_in_words() -> None:
    result = await run(
        """
        console.log("one", 2, 3n, null, undefined, { a: [1] }, Symbol("s"));
        console.warn(new TypeError("no"), [new Error("inside")]);
        console.error();
        const odd = {}; odd.odd = odd; console.log(odd, { toJSON() { throw 1 } });
        """
    )

    assert result.logs == (
        LogLine("log", 'one 2 3 null undefined {"a":[1]} Symbol(s)'),
        LogLine("warn", "TypeError: no [{}]"),
        LogLine("error", ""),
        LogLine("log", "[this cannot be shown] [this cannot be shown]"),
    )


async def test_logs_beyond_their_limit_are_counted() -> None:
    result = await run("for (let n = 0; n < 1000; n++) console.log('😀'.repeat(1000)); return 'done'")

    kept = sum(len(each.text.encode()) + 1 for each in result.logs)
    assert result.value == "done"
    assert LOG_LIMIT_BYTES - 5 < kept <= LOG_LIMIT_BYTES
    assert result.dropped_bytes == 1000 * 4001 - kept


async def test_runs_share_nothing() -> None:
    async with pool_of(size=2) as pool:
        await pool.run("globalThis.left = 1; Object.prototype.left = 1", Desk(), timeout_ms=TIME_MS)
        result = await pool.run("return [typeof left, ({}).left]", Desk(), timeout_ms=TIME_MS)

    assert result.value == ["undefined", None]


async def test_runs_side_by_side_get_their_own_answers() -> None:
    async with pool_of(size=2) as pool:
        results = await asyncio.gather(
            *(pool.run("return openclaw.tools.search('x')", Desk(search=n), timeout_ms=TIME_MS) for n in range(4))
        )

    assert [each.value for each in results] == [0, 1, 2, 3]
