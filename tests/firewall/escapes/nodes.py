"""Attempts of a Node whose code has broken out of its realm: programs that run in place of the harness, with all of Node.

Each is made with Node's own walls and without them, in bubblewrap and with Landlock. What it got is the
text `found`. Without any wall each gets what it wants, but for those marked `alone`, which have nothing to get then.
"""

# attempts are lines of a table: breaking them makes them harder to read
# ruff: noqa: E501

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class NodeAttempt:
    """One attempt.

    Args:
        family: what it goes for.
        name: what it does; unique.
        code: JavaScript; `W` names what there is outside, `tried` runs something that may fail.
        alone: not tried without walls.
        ends: how it may end; by itself when empty.
        time_ms: that it gets.
    """

    family: str
    name: str
    code: str
    alone: bool = False
    ends: tuple[str, ...] = ("returned", "killed")
    time_ms: int = 30_000


PREAMBLE: Final = """
const W = {world};
const fs = require("node:fs");
let found = "", word = "", kept = "";
const tried = async (way) => {{ try {{ return await way(); }} catch {{ return undefined; }} }};
const got = (what) => {{ found += `ESCAPED ${{what}};`; }};
const soon = (ms = 300) => new Promise((done) => setTimeout(done, ms));
const say = (message) => fs.writeSync(1, JSON.stringify({{ word, ...message }}) + "\\n");
process.on("uncaughtException", () => {{}});
async function attempt(line) {{
{code}
}}
process.stdin.on("data", async (part) => {{
  kept += part;
  for (let at = kept.indexOf("\\n"); at >= 0; at = kept.indexOf("\\n")) {{
    const message = JSON.parse(kept.slice(0, at));
    kept = kept.slice(at + 1);
    if (message.word) {{ word = message.word; say({{ do: "ready", text: "" }}); continue; }}
    if (message.do !== "run") continue;
    await tried(attempt);
    say({{ do: "returned", text: JSON.stringify(found) }});
    process.exit();
  }}
}});
"""

_CONNECT: Final = "await new Promise((done) => {{ const s = require('node:net').connect({to}); s.on('connect', () => {{ got('a service'); done() }}); s.on('error', done) }})"

OUTSIDE: Final = (
    NodeAttempt("path", "a Node taken over: reads the neighbour's file", "await tried(() => { found += fs.readFileSync(W.secret, 'utf8') }); await tried(async () => { found += await fs.promises.readFile(W.secret, 'utf8') }); await tried(async () => { found += await (await fs.openAsBlob(W.secret)).text() })"),
    NodeAttempt("path", "a Node taken over: reads it through what lies below", "const binding = await tried(() => process.binding('fs')); await tried(() => { const fd = binding.open(W.secret, 0, 0o666); const b = Buffer.alloc(99); found += b.subarray(0, fs.readSync(fd, b)).toString() }); await tried(() => { const fd = fs.openSync('/proc/self/cwd/' + '../'.repeat(20) + W.secret); found += fs.readFileSync(fd, 'utf8') })"),
    NodeAttempt("path", "a Node taken over: reads it as a module", "await tried(() => { try { require(W.secret) } catch (e) { found += e.stack } }); await tried(async () => { try { await import('file://' + W.secret) } catch (e) { if (/the word|neighbour'?s? /.test(e.stack)) got(e.stack) } }); await tried(() => { found += require('node:module').createRequire('/')(W.secret) })"),
    NodeAttempt("path", "a Node taken over: lists and watches folders", "await tried(() => { if (fs.readdirSync(W.other).length) got('a list') }); await tried(() => { if (fs.opendirSync(W.other).readSync()) got('a list') }); await tried(() => { for (const name of fs.globSync(W.other + '/*')) got(name) })"),
    NodeAttempt("symlink", "a Node taken over: links to it", "await tried(() => { fs.symlinkSync(W.secret, 'l'); found += fs.readFileSync('l', 'utf8') }); await tried(() => { fs.linkSync(W.secret, 'h'); found += fs.readFileSync('h', 'utf8') }); await tried(() => { fs.copyFileSync(W.secret, 'c'); found += fs.readFileSync('c', 'utf8') }); await tried(() => { fs.cpSync(W.other, 'd', { recursive: true }); found += fs.readFileSync('d/secret', 'utf8') })"),
    NodeAttempt("path", "a Node taken over: writes it", "await tried(() => fs.writeFileSync(W.secret, 'mine')); await tried(() => fs.appendFileSync(W.secret, 'mine')); await tried(() => fs.truncateSync(W.secret, 0))"),
    NodeAttempt("path", "a Node taken over: moves and removes it", "await tried(() => fs.renameSync(W.secret, W.secret + '2')); await tried(() => fs.rmSync(W.other, { recursive: true, force: true }))"),
    NodeAttempt("path", "a Node taken over: changes its mode", "await tried(() => fs.chmodSync(W.secret, 0o666)); await tried(() => { const fd = fs.openSync(W.secret); fs.fchmodSync(fd, 0o666) })"),
    NodeAttempt("path", "a Node taken over: makes files outside", "await tried(() => fs.writeFileSync(W.made, 'mine')); await tried(() => fs.mkdirSync(W.made)); await tried(() => fs.mkdtempSync(W.made))"),
    NodeAttempt("path", "a Node taken over: makes files by reports and snapshots", "await tried(() => process.report.writeReport(W.made)); await tried(() => require('node:v8').writeHeapSnapshot(W.made)); await tried(() => { const i = require('node:inspector'); const s = new i.Session(); s.connect() })"),
    NodeAttempt("path", "a Node taken over: makes a database", "const { DatabaseSync } = require('node:sqlite'); new DatabaseSync(W.made).exec('create table a (b)')"),
    NodeAttempt("/proc", "a Node taken over: reads the server's environment and memory", "for (const name of ['environ', 'cmdline', 'maps', 'root' + W.secret, 'cwd/pyproject.toml']) await tried(() => { const text = fs.readFileSync(`/proc/${W.server}/${name}`, 'utf8'); if (text) got(name) })"),
    NodeAttempt("environment", "a Node taken over: finds a secret of the server", "for (const [name, value] of Object.entries(process.env)) if (name !== 'TMPDIR' && name !== 'PWD') got(`${name}=${value}`); await tried(() => { if (/CANARY|SECRET|DATABASE/.test(fs.readFileSync('/proc/self/environ', 'utf8'))) got('environ') })"),
    NodeAttempt("fork", "a Node taken over: starts programs", "const { execFileSync, spawnSync } = require('node:child_process'); await tried(() => { found += execFileSync('/bin/cat', [W.secret]) }); await tried(() => { found += spawnSync('/bin/sh', ['-c', `cat ${W.secret}; echo > ${W.made}`]).stdout })"),
    NodeAttempt("fork", "a Node taken over: becomes another program", "await tried(() => process.execve('/bin/sh', ['sh', '-c', `cat ${W.secret} > ${W.made}`], {}))", ends=("returned", "killed", "misspoke")),
    NodeAttempt("fork", "a Node taken over: leaves a process behind", "const { spawn } = require('node:child_process'); await tried(() => spawn(process.execPath, ['-e', `setTimeout(() => require('fs').writeFileSync(${JSON.stringify(W.made)}, ''), 100); setTimeout(() => {}, 60000)`], { detached: true, stdio: 'ignore' }).unref()); await soon(600)", alone=True),
    NodeAttempt("thread", "a Node taken over: starts a worker with more", "const { Worker } = require('node:worker_threads'); await tried(() => new Promise((done) => { const w = new Worker(`require('worker_threads').parentPort.postMessage(require('fs').readFileSync(${JSON.stringify(W.secret)}, 'utf8'))`, { eval: true, env: {}, execArgv: [] }); w.on('message', (m) => { found += m; done() }); w.on('error', done); w.on('exit', done) }))"),
    NodeAttempt("network", "a Node taken over: connects by TCP", _CONNECT.format(to="{ port: W.tcp, host: '127.0.0.1' }")),
    NodeAttempt("network", "a Node taken over: connects to a socket in a folder", _CONNECT.format(to="W.unix")),
    NodeAttempt("network", "a Node taken over: connects to a socket without a folder", _CONNECT.format(to="'\\0' + W.abstract")),
    NodeAttempt("network", "a Node taken over: sends a datagram", "const s = require('node:dgram').createSocket('udp4'); s.on('error', () => {}); await tried(() => Promise.race([new Promise((done) => { s.on('error', done); s.send('x', W.udp, '127.0.0.1', done) }), soon(5000)]))"),
    NodeAttempt("network", "a Node taken over: asks a server of names", "const { Resolver } = require('node:dns'); const r = new Resolver({ timeout: 200, tries: 1 }); r.setServers([`127.0.0.1:${W.udp}`]); await tried(() => new Promise((done) => r.resolve4('secret.example', done))); await soon()"),
    NodeAttempt("network", "a Node taken over: listens", "await tried(() => new Promise((done) => { const s = require('node:http').createServer(); s.on('error', done); s.listen(0, '127.0.0.1', () => { got('a port'); done() }) }))"),
    NodeAttempt("network", "a Node taken over: fetches", "const asked = [fetch(`http://127.0.0.1:${W.tcp}/`).catch(() => {}), new Promise((done) => { const s = new WebSocket(`ws://127.0.0.1:${W.tcp}/`); s.onerror = done })]; await tried(() => Promise.race([Promise.all(asked), soon(3000)]))"),
    NodeAttempt("network", "a Node taken over: opens the inspector", "await tried(() => { require('node:inspector').open(0, '127.0.0.1'); if (require('node:inspector').url()) got('an inspector') }); await tried(() => process._debugProcess(process.pid)); await soon(200); await tried(() => { if (require('node:inspector').url()) got('an inspector') })"),
    NodeAttempt("signal", "a Node taken over: stops a bystander", "await tried(() => { if (process.kill(W.bystander, 'SIGSTOP')) found += '' }); await soon(100)"),
    NodeAttempt("signal", "a Node taken over: asks for a bystander and the server", "for (const pid of [W.bystander, W.server]) await tried(() => { if (process.kill(pid, 0) && !/^(bwrap|node)/.test(fs.readFileSync(`/proc/${pid}/comm`, 'utf8'))) got(pid) })"),
    NodeAttempt("powers", "a Node taken over: becomes root, or goes before others", "await tried(() => { process.setuid(0); process.setgid(0); fs.writeFileSync('/etc/openclaw-escape', ''); got('the system') }); await tried(() => { require('node:os').setPriority(0, -20); got('a priority') })", alone=True),
    NodeAttempt("powers", "a Node taken over: loads code of the machine", "await tried(() => { process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6') ; got('a library') }); await tried(() => { new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); })", alone=True),
    NodeAttempt("path", "a Node taken over: reads it by WASI", "const { WASI } = require('node:wasi'); const w = new WASI({ version: 'preview1', preopens: { '/': '/' } }); found += fs.readFileSync(W.secret, 'utf8')"),
)  # fmt: skip

FLOODS: Final = (
    NodeAttempt("fork", "a Node taken over: forks without end", "const { spawn } = require('node:child_process'); for (let n = 0; n < 100; n++) await tried(() => spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { detached: true, stdio: 'ignore' })); await soon(1500)", alone=True, time_ms=60_000),
    NodeAttempt("memory", "a Node taken over: memory outside the heap", "const all = []; for (let n = 0; n < 100; n++) all.push(Buffer.alloc(2e7, 1)); got('2 GB')", alone=True, ends=("returned", "killed", "memory_limit"), time_ms=120_000),
    NodeAttempt("disk", "a Node taken over: files without end", "let bytes = 0; for (let n = 0; n < 50; n++) await tried(() => { fs.writeFileSync('f' + n, Buffer.alloc(1e7)); bytes += fs.statSync('f' + n).size }); if (bytes > 2e6) got(bytes)", alone=True),
    NodeAttempt("output", "a Node taken over: a line without end", "for (;;) fs.writeSync(1, 'x'.repeat(65536))", alone=True, ends=("output_limit",)),
    NodeAttempt("output", "a Node taken over: logs without end", "for (;;) say({ do: 'log', level: 'log', text: 'x'.repeat(1000) })", alone=True, ends=("misspoke", "output_limit")),
    NodeAttempt("output", "a Node taken over: errors without end", "for (let n = 0; n < 2000; n++) fs.writeSync(2, 'x'.repeat(65536))", alone=True, ends=("returned",), time_ms=120_000),
    NodeAttempt("CPU", "a Node taken over: ignores every signal", "for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(name, () => {}); for (;;) {}", alone=True, ends=("timed_out",), time_ms=1_000),
)  # fmt: skip

FORGED: Final = (
    NodeAttempt("bridge", "a Node taken over: a line without the word", "fs.writeSync(1, '{\"do\":\"returned\",\"text\":\"\\\\\"ESCAPED\\\\\"\"}\\n'); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: a line with another word", "fs.writeSync(1, JSON.stringify({ word: 'f'.repeat(64), do: 'returned', text: '\"ESCAPED\"' }) + '\\n'); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: the same call twice", "for (let n = 0; n < 2; n++) say({ do: 'call', id: 1, text: '{\"id\":\"replay\",\"args\":{}}' }); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: a call out of turn", "say({ do: 'call', id: 7, text: '{\"id\":\"x\"}' }); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: numbers that are none", "say({ do: 'call', id: true, text: '{\"id\":\"x\"}' }); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: an operation that there is not", "say({ do: 'exec', id: 1, text: '{}' }); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: more calls than there may be", "for (let n = 1; n < 300; n++) say({ do: 'search', id: n, text: '{\"query\":\"x\"}' }); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: a call that is too large", "say({ do: 'call', id: 1, text: JSON.stringify({ id: 'x', args: { y: 'z'.repeat(300000) } }) }); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: lines that are nested without end", "fs.writeSync(1, '['.repeat(200000) + '\\n'); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: bytes that are no text", "fs.writeSync(1, Buffer.from([0xff, 0xfe, 0, 10])); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: a result that is too large", "say({ do: 'returned', text: JSON.stringify('ESCAPED'.repeat(50000)) }); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: a count of bytes that falls", "say({ do: 'dropped', bytes: 9 }); say({ do: 'dropped', bytes: -1 }); await soon(5000)", alone=True, ends=("misspoke",)),
    NodeAttempt("bridge", "a Node taken over: a kind of log that there is not", "say({ do: 'log', level: '<b>', text: 'x' }); await soon(5000)", alone=True, ends=("misspoke",)),
)  # fmt: skip

NODES: Final = (*OUTSIDE, *FLOODS, *FORGED)


def doors_of(attempt: NodeAttempt) -> tuple[str, ...]:
    """Name the doors that an attempt goes through: what it says is heard by the same ear behind each."""
    if attempt in FORGED:
        return ("node",)
    return ("node", "bare_landlock") if attempt in FLOODS else ("node", "node_landlock", "bare", "bare_landlock")
