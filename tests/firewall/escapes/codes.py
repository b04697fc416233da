"""Attempts of code of a model: JavaScript that runs as `tool_search_code` runs it.

`W` names what there is outside. `look(x)` says whether something is of another realm, and tries to get at Node and at
the neighbour's secret through it; what an attempt got is the text `found`, which it returns. What is marked `naive` does
get it where code runs in a context of `node:vm` with functions of Node in it and nothing else around it.
"""

# attempts are lines of a table: breaking them makes them harder to read
# ruff: noqa: E501

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class CodeAttempt:
    """One attempt.

    Args:
        family: what it goes for.
        name: what it does; unique.
        code: JavaScript.
        naive: without our walls it gets what it wants.
        ends: how it may end; by itself when empty.
        time_ms: that it gets.
        asks: what reaches the bridge of it; None for whatever it be.
    """

    family: str
    name: str
    code: str
    naive: bool = False
    ends: tuple[str, ...] = ()
    time_ms: int = 30_000
    asks: tuple[str, ...] | None = None


PREAMBLE: Final = """
const W = {world};
let found = "";
const protoOf = Object.getPrototypeOf, root = Object.prototype, tools = openclaw.tools;
const tried = (way) => { try { way(); } catch {} };
const through = (process) => { found += process.getBuiltinModule("node:fs").readFileSync(W.secret, "utf8"); };
const isForeign = (x) => {
  let end = x;
  for (let up = protoOf(x); up !== null; up = protoOf(up)) end = up;
  return end !== x && end !== root;
};
let isLooking = false; // what is looked at may look itself
const look = (x) => {
  if (isLooking) return;
  isLooking = true;
  tried(() => lookInto(x));
  isLooking = false;
};
const lookInto = (x) => {
  if ((typeof x !== "object" && typeof x !== "function") || x === null) return;
  tried(() => { if (isForeign(x)) found += "ESCAPED to another realm;"; });
  tried(() => through(x));
  tried(() => through(x("return process")()));
  tried(() => through(x.constructor("return process")()));
  tried(() => through(x.constructor.constructor("return process")()));
};
"""

REALM: Final = (
    CodeAttempt("realm", "code: the constructor of its global object", "look(globalThis); look(globalThis.constructor); look(protoOf(globalThis)); look((function () { return this })())", naive=True),
    CodeAttempt("realm", "code: the constructors of the bridge", "look(openclaw); look(tools); look(tools.search); look(tools.call.constructor); look(console.log); look(protoOf(console))", naive=True),
    CodeAttempt("realm", "code: a promise of the bridge", "const asked = tools.search('x'); look(asked); look(asked.then); look(asked.constructor); await asked", naive=True),
    CodeAttempt("realm", "code: an answer of the bridge", "const [hit] = await tools.search('x'); look(hit); look(await tools.call('x', {}))", naive=True),
    CodeAttempt("realm", "code: an error of the bridge", "try { await tools.describe('refuse') } catch (e) { look(e); look(e.details); look(e.constructor); look(protoOf(e)) }", naive=True),
    CodeAttempt("realm", "code: an error of the bridge about its arguments", "for (const args of [[1n], [{ get x() { throw 1 } }], []]) try { await tools.call(...args) } catch (e) { look(e) }"),
    CodeAttempt("realm", "code: an error in the bridge where the stack ends", "const deep = (ask) => { try { deep(ask) } catch (e) { look(e) } try { ask()?.catch?.(look) } catch (e) { look(e) } }; deep(() => tools.search('x'))"),
    CodeAttempt("realm", "code: an error in the console where the stack ends", "const deep = () => { try { deep() } catch (e) { look(e) } try { console.log({}) } catch (e) { look(e) } }; deep()"),
    CodeAttempt("realm", "code: frames that a stack shows", "tried(() => { Error.stackTraceLimit = 100 }); Error.prepareStackTrace = (e, sites) => { look(sites); for (const s of sites) { look(s); look(s.getThis?.()); look(s.getFunction?.()) } return sites }; look(new Error('x').stack); try { await tools.describe('refuse') } catch (e) { look(e.stack) }"),
    CodeAttempt("realm", "code: a stack that is written where the stack ends", "const deep = () => { try { deep() } catch (e) { tried(() => look(e)) } try { new Error('x').stack } catch (e) { look(e) } try { const o = {}; Error.captureStackTrace(o); o.stack } catch (e) { look(e) } }; tried(() => { Error.stackTraceLimit = 5 }); deep()"),
    CodeAttempt("realm", "code: names of folders in a stack", "try { Error.stackTraceLimit = 100 } catch {} const told = []; try { await tools.describe('refuse') } catch (e) { told.push(e.stack) } const o = {}; Error.captureStackTrace(o); told.push(o.stack, new Error('x').stack); for (const s of told) if (/[/]|node:|harness/.test(`${s}`)) found += `ESCAPED ${s}`"),
    CodeAttempt("realm", "code: a proxy that is handed to the bridge", "const spy = new Proxy({}, { get(t, k, r) { look(t); look(r); return undefined }, ownKeys() { return [] }, getPrototypeOf() { return null } }); tools.call('x', spy).catch(look); tools.search(spy).catch(look); console.log(spy, [spy]); await 1"),
    CodeAttempt("realm", "code: hooks of what is written as JSON", "const spy = { toJSON() { look(this); look(arguments); look(new.target); tried(() => look(arguments.callee.caller)); return 1 }, toString() { look(this); return 'x' } }; tools.call(`${spy}`, { spy }); console.log(spy); const all = { get [Symbol.toStringTag]() { look(this) } }; console.log(all); await 1"),
    CodeAttempt("realm", "code: who calls it", "function spy() { tried(() => look(spy.caller)); tried(() => look(spy.arguments)); tried(() => look(arguments.callee.caller)) } ({ toJSON: spy }); tools.call('x', { toJSON: spy }); console.log({ toJSON: spy }); spy()"),
    CodeAttempt("realm", "code: another `then` for promises", "const { then } = Promise.prototype; Promise.prototype.then = function (...given) { look(this); for (let n = 0; n < given.length; n++) look(given[n]); return then.apply(this, given) }; await tools.search('x'); await (async () => 1)()"),
    CodeAttempt("realm", "code: another kind of promise", "class Spy { constructor(way) { way((v) => look(v), (v) => look(v)); look(way) } static get [Symbol.species]() { return Spy } }; Object.defineProperty(Promise.prototype, 'constructor', { get() { look(this); return Spy } }); Object.defineProperty(Promise, Symbol.species, { value: Spy }); tools.search('x').then(look); await 1"),
    CodeAttempt("realm", "code: thenables that async generators resolve", "const spy = { get then() { look(this); return function (a, b) { look(a); look(b); look(this); a(1) } } }; async function* all() { yield spy; return spy } for await (const x of all()) look(x); await spy; tools.call('x', spy); const it = all(); look(it.return(spy)); look(protoOf(protoOf(it)))"),
    CodeAttempt("realm", "code: an array of another species", "class Spy extends Array { constructor(...n) { super(...n); look(this); look(new.target) } } Object.defineProperty(Array, Symbol.species, { value: Spy }); Object.defineProperty(Array.prototype, 'constructor', { value: Spy }); [1].map(look); Array.from([1]); await tools.search('x')"),
    CodeAttempt("realm", "code: setters for every place of an array", "for (let n = 0; n < 20; n++) Object.defineProperty(Array.prototype, n, { set(v) { look(this); look(v); if (`${v}`.length === 64) found += 'ESCAPED a word' }, get() { return undefined } }); tools.search('x'); console.log(1, 2); await 1"),
    CodeAttempt("realm", "code: inherited members that options could have", "for (const name of ['get', 'set', 'value', 'word', 'id', 'do', 'text', 'resolve', 'reject', 'filename', 'timeout', 'encoding', 'cachedData', 'importModuleDynamically', 'fd', 'flag', 'toJSON', 'then', 'details', 'is_refused', 'highWaterMark', 'constructor']) Object.defineProperty(Object.prototype, name, { __proto__: null, configurable: true, set(v) { look(this); look(v); if (name === 'word') found += 'ESCAPED' }, get() { look(this); return undefined } }); tools.search('x').then(look, look); console.log({}); await 1", ends=("returned", "threw")),
    CodeAttempt("realm", "code: other ways to call functions", "for (const name of ['call', 'apply', 'bind', Symbol.hasInstance]) tried(() => { Function.prototype[name] = function (...given) { look(this); given.forEach(look); return given } }); tried(() => { Reflect.apply = (...given) => { given.forEach(look) } }); await tools.search('x'); console.log(new Error('x'))"),
    CodeAttempt("realm", "code: another JSON", "const heard = []; const { parse, stringify } = JSON; JSON.parse = (...a) => { heard.push(...a); a.forEach(look); return parse(...a) }; JSON.stringify = (...a) => { heard.push(...a); a.forEach(look); return stringify(...a) }; await tools.search('x'); if (heard.length) found += 'ESCAPED it hears the bridge'"),
    CodeAttempt("realm", "code: code from strings", "for (const kind of [Function, (async () => 1).constructor, (function* () {}).constructor, (async function* () {}).constructor]) { tried(() => through(kind('return process')())); tried(() => { Reflect.construct(kind, ['return 1'], Object)(); found += 'ESCAPED by a string' }) } tried(() => { (0, eval)('1') === 1 && (found += 'ESCAPED by eval') }); tried(() => { eval('1') === 1 && (found += 'ESCAPED by eval') }); tried(() => { [1].map(Function('return 1')); found += 'ESCAPED' })"),
    CodeAttempt("realm", "code: modules by the keyword", "const asked = import('node:fs'); look(asked); found += (await asked).readFileSync(W.secret, 'utf8')", naive=True),
    CodeAttempt("realm", "code: modules by the keyword, hidden", "const ask = () => import /* a */ // b\n ('node:fs'); const asked = ask(); look(asked); look(asked.constructor); asked.catch(look); found += (await asked).readFileSync(W.secret, 'utf8')", naive=True),
    CodeAttempt("realm", "code: modules by the keyword, behind backslashes", "const text = 'a\\\\', pattern = /\\\\/, asked = import('node:fs'); look(asked); found += (await asked).readFileSync(W.secret, 'utf8')", naive=True),
    CodeAttempt("realm", "code: the keyword spelt with numbers", "const asked = \\u0069mport('node:fs'); look(asked); await asked"),
    CodeAttempt("realm", "code: what modules know of themselves", "look(import.meta); found += import.meta.resolve('x')"),
    CodeAttempt("realm", "code: text that ends its function", "}); found = 'ESCAPED'; globalThis.late = (async function () { return 'ESCAPED'"),
    CodeAttempt("realm", "code: WebAssembly", "const made = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); look(made); found += 'ESCAPED by machine code'", naive=False),
    CodeAttempt("realm", "code: machine code behind other names", "for (const name of Object.getOwnPropertyNames(globalThis)) if (/wasm|webassembly|asm|ffi/i.test(name)) found += `ESCAPED by ${name}`; function asm() { 'use asm'; function f() { return 1 | 0 } return f } look(asm())"),
    CodeAttempt("realm", "code: names that Node gives", "for (const name of ['process', 'require', 'module', 'global', 'Buffer', 'fetch', 'WebSocket', 'Worker', 'MessageChannel', 'BroadcastChannel', 'structuredClone', 'setTimeout', 'setImmediate', 'queueMicrotask', 'performance', 'navigator', 'EventTarget', 'ShadowRealm', 'gc', 'd8', '__dirname']) if (name in globalThis) found += `ESCAPED by ${name};`"),
    CodeAttempt("realm", "code: clones and messages", "tried(() => look(structuredClone({}))); tried(() => look(new MessageChannel().port1)); tried(() => look(new Worker('x'))); tried(() => look(postMessage)); tried(() => look(new BroadcastChannel('x')))"),
    CodeAttempt("realm", "code: finalizers", "const heard = []; const all = new FinalizationRegistry(function (held) { look(this); look(arguments); look(held); console.log('late'); throw { [Symbol.for('nodejs.util.inspect.custom')]: (...a) => { a.forEach(look); found += 'ESCAPED' } } }); for (let n = 0; n < 2e5; n++) all.register({ n }, n); for (let n = 0; n < 5; n++) await tools.search('x')", ends=("returned", "threw", "killed")),
    CodeAttempt("realm", "code: what Node writes of rejections nobody catches", "const spy = (...a) => { a.forEach(look); found += 'ESCAPED to who writes it'; return '' }; for (const e of [{ [Symbol.for('nodejs.util.inspect.custom')]: spy, get stack() { return spy(this) }, toString: spy }, new Proxy({}, { get: spy, has: spy, getOwnPropertyDescriptor: spy })]) Promise.reject(e); for (let n = 0; n < 5; n++) await tools.search('x')"),
    CodeAttempt("realm", "code: what Node writes of things", "const spy = (...a) => { a.forEach(look); found += 'ESCAPED to who writes it'; return '' }; console.log({ [Symbol.for('nodejs.util.inspect.custom')]: spy, [Symbol.for('nodejs.util.promisify.custom')]: spy }); console.error({ inspect: spy }); throw { [Symbol.for('nodejs.util.inspect.custom')]: spy, inspect: spy }"),
    CodeAttempt("realm", "code: a result that is asked when it is taken", "const spy = { get then() { look(this); return undefined }, toJSON(k) { look(this); look(arguments); tried(() => look(arguments.callee.caller)); return found } }; return spy"),
    CodeAttempt("realm", "code: pieces of the language that call back", "'x'.replace(/x/, function () { look(this); look(arguments) }); [2, 1].sort((a, b) => { look(a); return 0 }); JSON.parse('[1]', function () { look(this) }); await Array.fromAsync([1], look); Iterator.from([1]).map(look).toArray(); new Intl.DateTimeFormat().formatToParts(new Date()).forEach(look); new Promise(look).catch(look); Reflect.ownKeys(globalThis).forEach((k) => tried(() => look(globalThis[k])))"),
    CodeAttempt("realm", "code: everything that can be reached from its global object", "const seen = new Set(), queue = [globalThis]; while (queue.length) { const x = queue.pop(); if ((typeof x !== 'object' && typeof x !== 'function') || x === null || seen.has(x)) continue; seen.add(x); if (isForeign(x)) found += 'ESCAPED to another realm;'; queue.push(protoOf(x)); for (const k of Reflect.ownKeys(x)) { const d = Reflect.getOwnPropertyDescriptor(x, k); queue.push(d.value, d.get, d.set) } } if (seen.size < 500) found += 'ESCAPED it did not look'", naive=False),
)  # fmt: skip

BRIDGE: Final = (
    CodeAttempt("bridge", "code: another bridge in its place", "tried(() => { openclaw = { tools: { search: look } } }); tried(() => { openclaw.tools = {} }); tried(() => { tools.search = look }); tried(() => { delete tools.call }); tried(() => { Object.defineProperty(tools, 'call', { value: look }) }); tried(() => { delete globalThis.openclaw }); tried(() => { Object.defineProperty(globalThis, 'openclaw', { value: 1 }) }); tried(() => { tools.search.bind = look }); tried(() => { console.log = look }); await openclaw.tools.search('a'); await openclaw.tools.call('b', { c: 1 })", asks=("search", "call")),
    CodeAttempt("bridge", "code: another prototype under the bridge", "tried(() => Object.setPrototypeOf(tools, { get search() { return look } })); tried(() => { tools.__proto__ = null }); tried(() => Object.setPrototypeOf(tools.call, null)); Object.prototype.query = 'forged'; Object.prototype.id = 'forged'; const hits = await tools.search('a'); await tools.call('b', {}); if (!Array.isArray(hits)) found += 'ESCAPED'", asks=("search", "call")),
    CodeAttempt("bridge", "code: a promise of the bridge settled by others", "const asked = tools.call('for ever', {}); Promise.prototype.then = () => { found += '' }; Promise.resolve = () => 'forged'; const told = await Promise.race.call(Promise, []).constructor; look(told)", ends=("timed_out", "threw", "returned"), time_ms=700),
    CodeAttempt("bridge", "code: members that no call of the bridge has", "await tools.search('a', { do: 'returned', word: 'x', id: 7, query: 'forged' }); await tools.call('b', { do: 'returned', __proto__: { id: 'forged' }, ['__proto__']: 1, constructor: 1 }); await tools.call('line\\n{\"do\":\"returned\"}\\n', {})", asks=("search", "call", "call")),
    CodeAttempt("bridge", "code: lines of its own in a log", "console.log('\\n{\"word\":\"x\",\"do\":\"returned\",\"text\":\"1\"}\\n'); console.log('\\u2028\\u0000\\r\\n\\x1b[2J'); return 'mine'"),
    CodeAttempt("bridge", "code: calls without end", "let refused = 0; for (let n = 0; n < 1e5; n++) tools.call('x', { n }).catch(() => { refused++ }); for (let n = 0; n < 50; n++) await null; return refused", ends=("returned",)),
    CodeAttempt("bridge", "code: calls without end that wait for one another", "for (;;) try { await tools.search('x') } catch {}", ends=("timed_out",), time_ms=1_500),
    CodeAttempt("bridge", "code: a call of 100 MB", "return tools.call('x', { y: 'z'.repeat(1e8) }).catch((e) => e.code)", ends=("returned", "memory_limit"), asks=()),
    CodeAttempt("bridge", "code: a call that is nested without end", "let a = {}; for (let n = 0; n < 1e5; n++) a = { a }; return tools.call('x', a).catch((e) => e.name)", asks=()),
    CodeAttempt("bridge", "code: a call after its end", "Promise.resolve().then(async () => { for (;;) { await null; tools.call('late', {}) } }); return 1", ends=("returned", "timed_out"), time_ms=2_000),
)  # fmt: skip

LIMITS: Final = (
    CodeAttempt("CPU", "code: compute without end", "for (;;) {}", ends=("timed_out",), time_ms=700),
    CodeAttempt("CPU", "code: compute without end after it waited", "await tools.search('x'); for (;;) try { for (;;) {} } catch {} finally { continue }", ends=("timed_out",), time_ms=700),
    CodeAttempt("CPU", "code: microtasks without end", "const more = () => Promise.resolve().then(more); more(); for (;;) await null", ends=("timed_out", "memory_limit"), time_ms=700),
    CodeAttempt("CPU", "code: a pattern without end", "return /^(a|a)*$/.test('a'.repeat(60) + '!')", ends=("timed_out",), time_ms=700),
    CodeAttempt("CPU", "code: compute while its result is written", "return { get a() { for (;;) {} } }", ends=("timed_out",), time_ms=700),
    CodeAttempt("time", "code: block its thread", "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)", ends=("timed_out",), time_ms=700),
    CodeAttempt("time", "code: wait for what never comes", "await Promise.race([new Promise(() => {}), Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(8)), 0, 0).value])", ends=("timed_out",), time_ms=700),
    CodeAttempt("memory", "code: objects without end", "const all = []; for (;;) all.push({ all, n: [all.length] })", ends=("memory_limit",), time_ms=120_000),
    CodeAttempt("memory", "code: texts without end", "const all = []; for (let n = 0; ; n++) all.push(String(n).padEnd(1e6, 'x').toUpperCase())", ends=("memory_limit", "threw"), time_ms=120_000),
    CodeAttempt("memory", "code: buffers without end", "const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1))", ends=("memory_limit", "threw"), time_ms=120_000),
    CodeAttempt("memory", "code: shared buffers without end", "const all = []; for (;;) all.push(new Uint8Array(new SharedArrayBuffer(1e7)).fill(1))", ends=("memory_limit", "threw"), time_ms=120_000),
    CodeAttempt("memory", "code: buffers that grow", "const all = []; for (;;) { const b = new ArrayBuffer(1, { maxByteLength: 1e8 }); b.resize(1e8); new Uint8Array(b).fill(1); all.push(b) }", ends=("memory_limit", "threw"), time_ms=120_000),
    CodeAttempt("memory", "code: promises without end", "const all = []; for (;;) all.push(new Promise(() => {}).then(() => all))", ends=("memory_limit",), time_ms=120_000),
    CodeAttempt("memory", "code: numbers without end", "let n = 2n; for (;;) n = n * n", ends=("memory_limit", "threw", "timed_out"), time_ms=5_000),
    CodeAttempt("output", "code: logs of 100 MB", "for (let n = 0; n < 1000; n++) console.log('x'.repeat(1e5)); return 'done'", ends=("returned",)),
    CodeAttempt("output", "code: one log of 100 MB", "console.log('x'.repeat(1e8)); return 'done'", ends=("returned", "memory_limit")),
    CodeAttempt("output", "code: empty logs without end", "for (;;) console.error()", ends=("timed_out",), time_ms=1_500),
    CodeAttempt("output", "code: a result of 100 MB", "return 'x'.repeat(1e8)", ends=("threw", "memory_limit")),
    CodeAttempt("output", "code: a result that is nested without end", "let a = []; for (let n = 0; n < 1e6; n++) a = [a]; return a", ends=("threw",)),
    CodeAttempt("output", "code: an error of 100 MB", "const e = new Error('x'.repeat(1e8)); e.name = 'y'.repeat(1e7); throw e", ends=("threw", "memory_limit")),
)  # fmt: skip

CODES: Final = (*REALM, *BRIDGE, *LIMITS)


def doors_of(attempt: CodeAttempt) -> tuple[str, ...]:
    """Name the doors that an attempt goes through: limits are kept by the same hand behind each."""
    return ("code",) if attempt in LIMITS else ("code", "code_landlock")
