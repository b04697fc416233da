// What Node runs: it makes sure that it is held, makes the realm that the code runs in, and carries lines between that
// realm and the server. Each line is JSON; each of ours bears the word that the first line of the server told us, so
// that nobody else who reaches our output speaks for us. The code's realm gets strings and numbers of us, nothing else.
"use strict";
{
  const vm = require("node:vm");
  const { readFileSync, writeSync } = require("node:fs");
  const { parse, stringify } = JSON;
  const { byteLength } = Buffer;
  const Bytes = Buffer;
  const { permission, stdin } = process;
  const leave = process.reallyExit.bind(process, 0);
  const SCOPES = ["fs", "fs.read", "fs.write", "child", "worker", "wasi", "addon", "inspector", "net", "ffi"];
  const AGAIN = "EAGAIN";

  let word = "";
  let limits = {};
  let realm = null;
  let asked = 0;
  let askedBytes = 0;
  let notedLines = 0;
  let notedBytes = 0;
  let droppedBytes = 0;
  let toldBytes = 0;

  function say(message) {
    let rest = Bytes.from(`${stringify({ word, ...message })}\n`);
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(1, rest));
      } catch (error) {
        if (error.code !== AGAIN) leave();
      }
    }
  }

  // Node's own wall, asked and tried; the system's is the server's to see to.
  function gap() {
    if (permission === undefined) return "it has no permission model";
    for (const scope of SCOPES) if (permission.has(scope)) return `it has the permission ${scope}`;
    try {
      readFileSync(process.execPath);
      return "it reads files";
    } catch (error) {
      if (error.code !== "ERR_ACCESS_DENIED") return "it may look for files";
    }
    try {
      (0, eval)("1");
      return "it makes code from strings";
    } catch {
      // as it should
    }
    if (typeof WebAssembly !== "undefined") return "it has WebAssembly";
    return Object.isFrozen(Array.prototype) ? "" : "its intrinsics can be changed";
  }

  function strip() {
    for (const name of Object.keys(process.env)) delete process.env[name];
    const kept = new Set(Object.getOwnPropertyNames(realm.context));
    for (const name of Object.getOwnPropertyNames(globalThis)) if (!kept.has(name)) delete globalThis[name];
  }

  function makeRealm(source) {
    const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
    const begin = new vm.Script(source, { filename: "realm" }).runInContext(context);
    return { context, ...begin(send, note, settle) };
  }

  function send(operation, fields) {
    if (asked >= limits.calls) return "too_many_calls";
    if (fields.length > limits.callBytes) return "call_too_large"; // to count the bytes of a text takes memory
    const bytes = byteLength(fields);
    if (bytes > limits.callBytes || askedBytes + bytes > limits.allCallBytes) return "call_too_large";
    asked += 1;
    askedBytes += bytes;
    say({ do: operation, id: asked, text: mended(fields) });
    return asked;
  }

  function note(level, line) {
    const bytes = byteLength(line) + 1;
    const room = notedLines < limits.logLines ? limits.logBytes - notedBytes - 1 : -1;
    let part = room < 0 ? null : line.slice(0, room);
    if (part !== null && byteLength(part) > room) part = line.slice(0, Math.trunc(room / 3));
    const kept = part === null ? 0 : byteLength(part) + 1;
    notedLines += 1;
    notedBytes += kept;
    droppedBytes += bytes - kept;
    if (part !== null) say({ do: "log", level, text: part.toWellFormed() });
    if (droppedBytes >= 2 * toldBytes && droppedBytes > 0) tellDropped();
  }

  // told as it doubles, so that it is about known of code that never ends
  function tellDropped() {
    toldBytes = droppedBytes;
    say({ do: "dropped", bytes: droppedBytes });
  }

  function settle(how, written) {
    if (droppedBytes > toldBytes) tellDropped();
    const isTooLarge = written.length > limits.resultBytes || byteLength(written) > limits.resultBytes;
    if (how !== "returned") say({ do: how, text: written.slice(0, limits.errorCharacters).toWellFormed() });
    else if (isTooLarge) say({ do: "too_large", text: "" });
    else say({ do: how, text: mended(written) });
    leave();
  }

  // half of a pair of surrogates stands in JSON as its number, and is no character
  function mended(written) {
    if (!written.includes("\\ud")) return written;
    return written.replace(/\\(\\|ud[0-9a-f]{3}|.)/g, (whole, behind) => (behind[1] === "d" ? "\ufffd" : whole));
  }

  // A string or a pattern that holds the word says the same with its first letter written as a number; the keyword is
  // refused so, and with it the one way to a promise of our realm.
  function withoutImport(code) {
    return code.replace(/(?<!\\)\bimport\b/g, "\\u0069mport");
  }

  function compiled(code) {
    const body = withoutImport(code);
    const inside = (before, after) => new vm.Script(`"use strict"; ${before}{${body}\n}${after}`, { filename: "code" });
    inside("(class { async code() ", "})"); // what ends its function early fits one of the two, not both
    return inside("(async function () ", ")");
  }

  function run(code) {
    let script;
    try {
      script = compiled(code);
    } catch (error) {
      const isImport = `${error.message}`.startsWith("Keyword must not contain");
      settle("no_code", isImport ? "`import` is not to be had here" : `${error.message}`);
      return;
    }
    realm.start(script.runInContext(realm.context));
  }

  function begin(order) {
    ({ word, limits } = order);
    const problem = gap();
    if (problem === "") {
      realm = makeRealm(order.realm);
      strip();
    }
    say({ do: problem === "" ? "ready" : "not_held", text: problem });
    if (problem !== "") leave();
  }

  function hear(line) {
    const message = parse(line);
    if (realm === null) begin(message);
    else if (message.do === "run") run(message.code);
    else realm.answer(message.id, message.is_refused, message.text);
  }

  process.setUncaughtExceptionCaptureCallback(leave); // to write of what was thrown would be to ask it
  let kept = "";
  stdin.setEncoding("utf8");
  stdin.on("data", (part) => {
    const lines = (kept + part).split("\n");
    kept = lines.pop();
    for (const line of lines) hear(line);
  });
  stdin.on("end", leave);
}
