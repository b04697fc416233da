import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { afterEach, test } from "node:test";
import { Client } from "../lib/client.js";
import { Governor } from "../lib/governor.js";
import { MARK, processes, treeOf } from "../lib/processes.js";
import { markOf, runningOf } from "../lib/running.js";
import { readSettings } from "../lib/settings.js";
import { Stops } from "../lib/stops.js";
import { fakeServer, keptLog, newState, TOKEN, until } from "../testing/server.js";

const EVENT = { toolName: "exec", params: { command: "sleep 300" }, runId: "run-1", toolCallId: "call_1" };
const CTX = { agentId: "main", sessionKey: "agent:main:a", sessionId: "session-1" };
const open = [];

afterEach(async () => {
  while (open.length) await open.pop()();
});

async function held(answer, { aborts = true } = {}) {
  const server = await fakeServer((seen, number) => {
    if (seen.path === "/stops") return answer(seen, number);
    return [200, { id: "call_a", status: "run", params: EVENT.params }];
  });
  open.push(() => server.close());
  const [state, log] = [newState(), keptLog()];
  const settings = readSettings({ server: server.url, token: TOKEN }, { env: {} });
  const governor = new Governor(settings, { state, log, pause: async () => undefined });
  const aborted = [];
  const harness = async () => ({
    abortAgentHarnessRun: (session) => {
      aborted.push(session);
      if (aborts) void governor.after({ ...EVENT, error: "Aborted" }, CTX);
      return aborts;
    },
    resolveActiveEmbeddedRunSessionId: () => undefined,
  });
  const stops = new Stops(new Client(settings), state, { log, harness, pause: async () => undefined });
  return { server, state, log, governor, stops, aborted };
}

/** Start a command as the gateway does, with a child that leaves its session and one that is orphaned. */
async function command(state, { mark = markOf(state, CTX) } = {}) {
  const line = "setsid sleep 311 & (sleep 311 &) ; sleep 311";
  const child = spawn("/bin/sh", ["-c", line], { env: { ...process.env, [MARK]: mark }, stdio: "ignore", detached: true });
  open.push(() => void child.kill("SIGKILL"));
  await until(() => treeOf({ mark }).length >= 4);
  return child;
}

const stopped = ({ body }) => [200, { digest: "two", stops: 1, end: body.ended.length ? [] : [{ call: "call_a", by: "ann" }] }];

test("a call that is to end ends with every process that it started, and that is said", { skip: process.platform !== "linux" }, async () => {
  const { server, state, governor, stops, aborted } = await held(stopped);
  await governor.before(EVENT, CTX);
  await command(state);
  const mark = markOf(state, CTX);

  await stops.turn();
  await stops.turn();

  assert.deepEqual(aborted, ["session-1"]);
  assert.deepEqual(treeOf({ mark }), []);
  const [first, second] = server.requests.filter(({ path }) => path === "/stops");
  assert.deepEqual([first.body.heard, first.body.ended], ["", []]);
  assert.equal(second.body.heard, "two");
  assert.equal(second.body.ended[0].is_ended, true);
  assert.match(second.body.ended[0].message, /ended by the kill switch, [4-9] processes with it/);
});

test("a command that its call left running is named, and ends too", { skip: process.platform !== "linux" }, async () => {
  const { server, state, governor, stops, aborted } = await held(stopped);
  await governor.before(EVENT, CTX);
  const child = await command(state);
  await governor.after({ ...EVENT, result: { details: { status: "running", pid: child.pid } } }, CTX);

  await stops.turn();

  assert.deepEqual(server.requests.find(({ path }) => path === "/stops").body.background, ["call_a"]);
  assert.deepEqual(aborted, []);
  assert.deepEqual(treeOf({ mark: markOf(state, CTX) }), []);
  await stops.turn();
  assert.deepEqual(server.requests.at(-1).body.background, []);
});

test("what a command left behind without a word is found by its mark", { skip: process.platform !== "linux" }, async () => {
  const { server, state, governor, stops } = await held(stopped);
  await governor.before(EVENT, CTX);
  await command(state);
  await governor.after({ ...EVENT, result: { details: { status: "completed" } } }, CTX);

  await stops.turn();

  assert.deepEqual(server.requests.find(({ path }) => path === "/stops").body.background, ["call_a"]);
  assert.deepEqual(treeOf({ mark: markOf(state, CTX) }), []);
});

test("a run that the gateway does not end is said to run on", async () => {
  const { governor, stops } = await held(stopped, { aborts: false });
  await governor.before(EVENT, CTX);
  await stops.turn();
  assert.deepEqual(
    stops.ended.map(({ call, is_ended: isEnded }) => [call, isEnded]),
    [["call_a", false]],
  );
  assert.match(stops.ended[0].message, /no way to end this run/);
});

test("a gateway without a way to end runs says so, and goes on asking", async () => {
  const { governor, stops } = await held(stopped);
  stops.harness = async () => {
    throw new Error("no such module");
  };
  await governor.before(EVENT, CTX);
  await stops.turn();
  assert.match(stops.ended[0].message, /could not be ended: no such module/);
});

test("a call that ended meanwhile counts as ended", async () => {
  const { stops } = await held(stopped);
  await stops.turn();
  assert.deepEqual(stops.ended, [{ call: "call_a", is_ended: true, message: "it had ended already" }]);
});

test("what became of it is said again where the server did not hear", async () => {
  let isAway = false;
  const { server, governor, stops } = await held((seen) => (isAway ? [503, { message: "starting" }] : stopped(seen)));
  await governor.before(EVENT, CTX);
  await stops.turn();
  isAway = true;
  await assert.rejects(stops.turn());
  isAway = false;
  await stops.turn();
  assert.equal(server.requests.at(-1).body.ended.length, 1);
});

test("it goes on after failures, with pauses, and ends when it is stopped", async () => {
  const pauses = [];
  const { server, stops, log } = await held((_, number) =>
    number < 4 ? [503, { message: "starting" }] : [200, { digest: "one", stops: 0, end: [] }],
  );
  stops.pause = async (ms) => {
    pauses.push(ms);
    if (pauses.length === 5) stops.stop();
  };
  await stops.run();
  assert.deepEqual(pauses, [500, 1_000, 2_000, 100, 100]);
  assert.equal(log.lines.length, 1);
  assert.equal(server.requests.at(-1).body.heard, "one");
});

test("what is not a process of the command is left alone", { skip: process.platform !== "linux" }, () => {
  assert.ok(processes().some(({ pid }) => pid === process.pid));
  assert.deepEqual(treeOf({ mark: "0".repeat(32) }), []);
  assert.ok(!treeOf({ pids: [process.pid] }).some(({ pid }) => pid === process.pid));
  assert.deepEqual(treeOf({ pids: [0, 1, -1] }), []);
});

test("only what was told to run counts as running", async () => {
  const { state, governor } = await held(stopped);
  await governor.before(EVENT, CTX);
  assert.deepEqual([...runningOf(state).calls.keys()], ["call_a"]);
  await governor.after(EVENT, CTX);
  assert.deepEqual([...runningOf(state).calls.keys()], []);
});
