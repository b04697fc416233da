import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { Client, ServerError } from "../lib/client.js";
import { Governor, UNREACHABLE_MS, WHILE_WAITING_MS } from "../lib/governor.js";
import { readSettings } from "../lib/settings.js";
import { backlogOf, Spool } from "../lib/spool.js";
import { fakeServer, keptLog, newState, TOKEN, until } from "../testing/server.js";

const EVENT = { toolName: "exec", params: { command: "uname -s" }, runId: "run-1", toolCallId: "call_1" };
const CTX = { agentId: "main", sessionKey: "agent:main:telegram:group:-100", requester: { channel: "telegram", senderId: "1001" } };
const open = [];

afterEach(async () => {
  while (open.length) await open.pop()();
});

function folder() {
  const made = mkdtempSync(join(tmpdir(), "openclaw-admin-spool-"));
  open.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function spooling(answer, { pause = async () => undefined, file = join(folder(), "gw.spool") } = {}) {
  const server = await fakeServer(answer);
  open.push(() => server.close());
  const settings = readSettings({ server: server.url, token: TOKEN }, { env: {} });
  const [state, log] = [newState(), keptLog()];
  return { server, file, state, log, spool: new Spool(new Client(settings), state, { file, log, pause }) };
}

const AWAY = [503, { message: "starting" }];

test("what the server takes at once never lies on disk", async () => {
  const { spool, file } = await spooling(() => [200, {}]);
  await spool.send("POST", "/calls/call_a/outcome", { is_error: false });
  assert.equal(existsSync(file), false);
});

test("what it does not take lies on disk for its owner alone, and goes when it was taken", async () => {
  let isAway = true;
  const { spool, file, server } = await spooling(() => (isAway ? AWAY : [200, {}]));
  await spool.send("POST", "/calls/call_a/outcome", { is_error: false });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, "utf8"), /call_a/);
  isAway = false;
  await spool.drain();
  assert.equal(existsSync(file), false);
  assert.deepEqual(server.requests.at(-1).body, { is_error: false });
});

test("another process takes up what one left, and leaves out what is no whole line", async () => {
  const { spool: first, file } = await spooling(() => AWAY);
  await first.send("POST", "/calls/call_a/outcome", { is_error: true });
  writeFileSync(file, `${readFileSync(file, "utf8")}nonsense\n{"at":1,"method":"GET","path":"/x"}\n{"at":`, { mode: 0o600 });

  const { spool, server } = await spooling(() => [200, {}], { file });
  await spool.resume();
  await spool.resume();

  assert.deepEqual(server.requests.map(({ path }) => path), ["/calls/call_a/outcome"]);
  assert.equal(existsSync(file), false);
});

test("they are sent in their order, with pauses, and no longer than a few tries in a row", async () => {
  const pauses = [];
  let isAway = true;
  const { spool, server, log } = await spooling(() => (isAway ? AWAY : [200, {}]), { pause: async (ms) => void pauses.push(ms) });
  await Promise.all([spool.keep("POST", "/a", {}), spool.keep("POST", "/b", {})]);
  assert.deepEqual(pauses, [1_000, 5_000, 20_000, 60_000]);
  assert.equal(log.lines.length, 1);
  isAway = false;
  await spool.drain();
  assert.deepEqual(server.requests.slice(-2).map(({ path }) => path), ["/a", "/b"]);
});

test("what the server refuses is not sent again", async () => {
  const { spool, server, state } = await spooling(() => [409, { code: "report_refused", message: "no" }]);
  await spool.send("POST", "/a", {});
  await spool.keep("POST", "/b", {});
  assert.equal(server.requests.length, 2);
  assert.equal(backlogOf(state).items.length, 0);
});

test("what could not even be asked stays", async () => {
  const { spool, state } = await spooling(() => [200, {}]);
  spool.client = { send: async () => Promise.reject(new ServerError("its token cannot be read", { refused: true, isUnheard: true })) };
  await spool.send("POST", "/a", {});
  assert.equal(backlogOf(state).items.length, 1);
});

test("too much is dropped from its beginning, and how much is told", async () => {
  let isAway = true;
  const { spool, server, state, file } = await spooling(() => (isAway ? AWAY : [200, {}]));
  for (let number = 0; number < 1_003; number += 1) void spool.keep("POST", "/a", { number });
  await spool.drain();
  assert.deepEqual([backlogOf(state).items.length, backlogOf(state).dropped], [1_000, 3]);
  assert.ok(readFileSync(file, "utf8").split("\n").length <= 1_001);
  isAway = false;
  await spool.drain();
  const told = server.requests.slice(-1_001);
  assert.deepEqual([told[0].path, told[0].body], ["/blocked", { dropped: 3 }]);
  assert.deepEqual([told[1].body.number, told.at(-1).body.number], [3, 1_002]);
});

test("a disk that takes nothing keeps nothing from being sent", async () => {
  let isAway = true;
  const { spool, server, log } = await spooling(() => (isAway ? AWAY : [200, {}]), { file: "/nowhere/at/all" });
  await spool.send("POST", "/a", {});
  assert.ok(log.lines.some((line) => line.includes("in memory alone")));
  isAway = false;
  await spool.drain();
  assert.equal(server.requests.at(-1).path, "/a");
});

test("the backlog lies beside the token", () => {
  const read = (config) => readSettings({ server: "http://127.0.0.1:1", ...config }, { env: {} }).spoolFile;
  assert.equal(read({ tokenFile: "/etc/claw/openclaw-admin.token" }), "/etc/claw/openclaw-admin.spool");
  assert.equal(read({ token: TOKEN }), "");
});

async function governed(answer, { now = Date.now } = {}) {
  const server = await fakeServer(answer);
  open.push(() => server.close());
  const [state, log] = [newState(), keptLog()];
  const settings = readSettings({ server: server.url, token: TOKEN }, { env: {} });
  return { server, state, log, own: new Governor(settings, { state, log, now, pause: async () => undefined }) };
}

test("an attempt that was blocked while the server was away is told when it is back", async () => {
  let [isAway, time] = [true, 0];
  const { own, server } = await governed(() => (isAway ? AWAY : [200, { environment: "production" }]), {
    now: () => (time += 2_000),
  });
  assert.equal((await own.before(EVENT, CTX)).block, true);
  isAway = false;
  await own.beat({});
  await until(() => server.requests.some(({ path }) => path === "/blocked"));
  const { attempts } = server.requests.findLast(({ path }) => path === "/blocked").body;
  const [{ key, blocked_at: at, reason, ...facts }] = attempts;
  assert.equal(key, server.requests[0].body.key);
  assert.ok(Date.now() - Date.parse(at) < 60_000);
  assert.match(reason, /503/);
  assert.deepEqual(facts, {
    agent: "main",
    session: "agent:main:telegram:group:-100",
    context: { channel: "telegram", sender_id: "1001" },
    tool: "exec",
    run: "run-1",
    tool_call: "call_1",
    params: EVENT.params,
  });
});

/** Play a server that goes away at its second answer, for so long; gives whether the call ran after all. */
async function ranAfter(awayMs, heldMs) {
  let time = 0;
  let back = Infinity;
  const { own } = await governed(
    ({ method }, number) => {
      if (method === "DELETE" || number === 1) return number === 1 ? [202, { id: "call_a", status: "awaiting_approval" }] : [200, {}];
      if (back === Infinity) {
        time += heldMs; // it held the request, and broke off
        back = time + awayMs;
      }
      return time < back ? AWAY : [200, { id: "call_a", status: "run", params: EVENT.params }];
    },
    { now: () => time },
  );
  own.pause = async (ms) => void (time += ms);
  return (await own.before(EVENT, CTX)).block !== true;
}

test("the minute counts from the first failure, however long the server held the request before", async () => {
  for (const heldMs of [0, 5_000, 19_900]) {
    assert.equal(await ranAfter(WHILE_WAITING_MS - 2_000, heldMs), true, `held ${heldMs}`);
    assert.equal(await ranAfter(WHILE_WAITING_MS + 2_000, heldMs), false, `held ${heldMs}`);
  }
});

test("a first request that was held gets the minute, too: a person may be asked", async () => {
  let [time, back] = [0, Infinity];
  const { own } = await governed(
    () => {
      if (back === Infinity) {
        time += 15_000;
        back = time + 4 * UNREACHABLE_MS;
      }
      return time < back ? AWAY : [200, { id: "call_a", status: "run", params: EVENT.params }];
    },
    { now: () => time },
  );
  own.pause = async (ms) => void (time += ms);
  assert.deepEqual(await own.before(EVENT, CTX), { params: EVENT.params });
});
