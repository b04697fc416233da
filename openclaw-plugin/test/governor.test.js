import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Governor } from "../lib/governor.js";
import { readSettings } from "../lib/settings.js";
import { fakeServer, keptLog, newState, TOKEN, until } from "../testing/server.js";

const EVENT = { toolName: "exec", params: { command: "uname -s" }, runId: "run-1", toolCallId: "call_1" };
const CTX = {
  agentId: "main",
  sessionKey: "agent:main:telegram:group:-100",
  requester: { channel: "telegram", accountId: "default", senderId: "1001", senderIsOwner: false },
  abortSignal: new AbortController().signal,
  config: { secret: "never" },
};
const open = [];

afterEach(async () => {
  while (open.length) await open.pop().close();
});

async function governed(answer, settings = {}, pauses = []) {
  const server = await fakeServer(answer);
  open.push(server);
  const log = keptLog();
  const state = newState();
  const own = new Governor(readSettings({ server: server.url, token: TOKEN, ...settings }, { env: {} }), {
    state,
    log,
    pause: async (ms) => void pauses.push(ms),
  });
  return { server, log, state, own };
}

const run = (params) => [200, { id: "call_a", status: "run", params }];

test("an allowed call runs with the params that were judged", async () => {
  const { own, server } = await governed(() => run({ command: "uname -s" }));
  assert.deepEqual(await own.before(EVENT, CTX), { params: { command: "uname -s" } });
  const [{ body, headers }] = server.requests;
  assert.equal(headers.authorization, `Bearer ${TOKEN}`);
  assert.deepEqual(
    { agent: body.agent, session: body.session, context: body.context, tool: body.tool, run: body.run, call: body.tool_call },
    {
      agent: "main",
      session: "agent:main:telegram:group:-100",
      context: { channel: "telegram", account_id: "default", sender_id: "1001", sender_is_owner: false },
      tool: "exec",
      run: "run-1",
      call: "call_1",
    },
  );
  assert.ok(!JSON.stringify(body).includes("never"), "only named facts leave");
});

test("a denied call is blocked with the server's reason", async () => {
  const { own } = await governed(() => [200, { id: "call_a", status: "denied", error: { message: "no tool named `exec`" } }]);
  const answer = await own.before(EVENT, CTX);
  assert.equal(answer.block, true);
  assert.match(answer.blockReason, /no tool named `exec`/);
});

test("it waits for a person, and asks with one key", async () => {
  const { own, server } = await governed(({ method }, number) => {
    if (method === "POST") return [202, { id: "call_a", status: "awaiting_approval" }];
    return number < 4 ? [202, { id: "call_a", status: "awaiting_approval" }] : run({ command: "uname -s" });
  });
  assert.deepEqual(await own.before(EVENT, CTX), { params: EVENT.params });
  assert.deepEqual(
    server.requests.map(({ method }) => method),
    ["POST", "GET", "GET", "GET"],
  );
});

test("nobody's answer in time is a no, and the question is withdrawn", async () => {
  const { own, server } = await governed(({ method }) =>
    method === "DELETE" ? [200, {}] : [202, { id: "call_a", status: "awaiting_approval" }],
  );
  own.settings.personWaitS = 0.05;
  const answer = await own.before(EVENT, CTX);
  assert.equal(answer.block, true);
  assert.match(answer.blockReason, /nobody answered in time/);
  await until(() => server.requests.some(({ method, path }) => method === "DELETE" && path.startsWith("/calls/key_")));
});

test("a server that cannot be reached blocks, and the sentence says so", async () => {
  const { own, server, log } = await governed(() => run({}));
  await server.close();
  const before = Date.now();
  own.pause = (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 500)));
  const answer = await own.before(EVENT, CTX);
  assert.equal(answer.block, true);
  assert.match(answer.blockReason, /cannot be asked: it cannot be reached/);
  assert.ok(Date.now() - before < 10_000);
  assert.ok(!JSON.stringify([answer, log.lines]).includes(TOKEN));
});

for (const [name, answer] of [
  ["an error of the server", [500, { message: "boom" }]],
  ["text that is no JSON", [200, "<html>"]],
  ["an answer without a status", [200, {}]],
  ["yes without params", [200, { id: "call_a", status: "run" }]],
  ["a token that is refused", [401, { code: "token_invalid", message: "the token is unknown" }]],
]) {
  test(`${name} blocks`, async () => {
    const { own } = await governed(() => answer);
    own.settings.personWaitS = 0.2;
    own.pause = (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 50)));
    assert.equal((await own.before(EVENT, CTX)).block, true);
  });
}

test("a request that is lost is sent again with the same key", async () => {
  const { own, server } = await governed((_, number) => (number < 3 ? [503, { message: "starting" }] : run(EVENT.params)));
  assert.deepEqual(await own.before(EVENT, CTX), { params: EVENT.params });
  assert.equal(new Set(server.requests.map(({ body }) => body.key)).size, 1);
  assert.equal(server.requests.length, 3);
});

test("an aborted call is blocked at once", async () => {
  const controller = new AbortController();
  const { own } = await governed(({ method }) => {
    if (method !== "POST") return [200, {}];
    controller.abort();
    return new Promise((resolve) => setTimeout(() => resolve(run(EVENT.params)), 200));
  });
  const answer = await own.before(EVENT, { ...CTX, abortSignal: controller.signal });
  assert.equal(answer.block, true);
  assert.match(answer.blockReason, /given up/);
});

test("a call without an agent is not asked about and blocked", async () => {
  const { own, server } = await governed(() => run({}));
  const answer = await own.before({ ...EVENT }, {});
  assert.equal(answer.block, true);
  assert.equal(server.requests.filter(({ method }) => method === "POST").length, 0);
});

test("settings that cannot be used block every call", async () => {
  for (const config of [{}, { server: "ftp://x" }, { server: "http://admin.example.org", token: TOKEN }]) {
    const own = new Governor(readSettings(config, { env: {} }), { state: newState(), log: keptLog() });
    assert.equal((await own.before(EVENT, CTX)).block, true);
  }
});

test("a token file that is missing blocks, and is read anew when it is there", async () => {
  const { server } = await governed(() => run(EVENT.params));
  let kept = null;
  const read = () => {
    if (kept === null) throw new Error("ENOENT");
    return `${kept}\n`;
  };
  const settings = readSettings({ server: server.url, tokenFile: "/nowhere" }, { env: {}, read });
  const own = new Governor(settings, { state: newState(), log: keptLog() });
  assert.match((await own.before(EVENT, CTX)).blockReason, /token cannot be read/);
  kept = TOKEN;
  assert.deepEqual(await own.before(EVENT, CTX), { params: EVENT.params });
});

test("the outcome of a call that ran is reported once", async () => {
  const { own, server } = await governed(({ method, path }) => (path === "/calls" ? run(EVENT.params) : [200, {}]));
  await own.before(EVENT, CTX);
  await own.after({ ...EVENT, result: { content: [{ type: "text", text: "Linux" }] }, durationMs: 5 }, CTX);
  const report = server.requests.at(-1);
  assert.equal(report.path, "/calls/call_a/outcome");
  assert.deepEqual(report.body, { is_error: false, error: "", result: { content: [{ type: "text", text: "Linux" }] } });
});

test("a report is tried again until it is taken", async () => {
  const pauses = [];
  let refusals = 2;
  const { own, server } = await governed(
    ({ path }) => (path === "/calls" ? run(EVENT.params) : refusals-- > 0 ? [503, { message: "later" }] : [200, {}]),
    {},
    pauses,
  );
  await own.before(EVENT, CTX);
  await own.after({ ...EVENT, error: "exit 1" }, CTX);
  assert.equal(server.requests.filter(({ path }) => path.endsWith("/outcome")).length, 3);
  assert.deepEqual(pauses, [1_000, 5_000]);
  assert.equal(server.requests.at(-1).body.is_error, true);
});

test("a large result is named by size and hash", async () => {
  const { own, server } = await governed(({ path }) => (path === "/calls" ? run(EVENT.params) : [200, {}]));
  await own.before(EVENT, CTX);
  await own.after({ ...EVENT, result: { text: "x".repeat(200_000) } }, CTX);
  const { result } = server.requests.at(-1).body;
  assert.equal(result.truncated, true);
  assert.equal(result.size_bytes, 200_011);
  assert.match(result.sha256, /^[0-9a-f]{64}$/);
  assert.ok(JSON.stringify(result).length < 64 * 1024);
});

test("a call that was blocked is not reported", async () => {
  const { own, server } = await governed(() => [200, { id: "call_a", status: "denied", error: { message: "no" } }]);
  await own.before(EVENT, CTX);
  await own.after({ ...EVENT, error: "blocked" }, CTX);
  assert.equal(server.requests.length, 1);
});

test("two calls that bear one name are told apart in their order", async () => {
  let number = 0;
  const { own, server } = await governed(({ path }) =>
    path === "/calls" ? [200, { id: `call_${(number += 1)}`, status: "run", params: EVENT.params }] : [200, {}],
  );
  await own.before(EVENT, CTX);
  await own.before(EVENT, CTX);
  await own.after(EVENT, CTX);
  await own.after(EVENT, CTX);
  assert.deepEqual(
    server.requests.slice(2).map(({ path }) => path),
    ["/calls/call_1/outcome", "/calls/call_2/outcome"],
  );
});

test("a call that nobody asked about is reported, once", async () => {
  const { own, server, log } = await governed(() => [200, { alarm: "alarm_1" }]);
  await own.after({ ...EVENT, result: { details: {} } }, CTX);
  await own.watch({ stream: "tool", runId: "run-1", data: { phase: "result", name: "exec", toolCallId: "call_1" } });
  assert.equal(server.requests.length, 1);
  const [{ path, body }] = server.requests;
  assert.equal(path, "/ungoverned");
  assert.deepEqual(
    { tool: body.tool, agent: body.agent, run: body.run, call: body.tool_call, by: body.seen_by, params: body.params },
    { tool: "exec", agent: "main", run: "run-1", call: "call_1", by: "after_tool_call", params: EVENT.params },
  );
  assert.match(log.lines[0], /not governed/);
});

test("the gateway's own news give away calls that no hook saw", async () => {
  const { own, server, state } = await governed(({ path }) => [200, path === "/heartbeat" ? { environment: "production" } : {}]);
  const news = { stream: "tool", runId: "run-2", agentId: "main", data: { phase: "result", name: "exec", toolCallId: "call_2" } };
  await own.watch({ ...news, data: { ...news.data, phase: "start", args: { command: "id" } } });
  await own.watch(news);
  assert.equal(server.requests[0].body.seen_by, "agent_event");
  assert.deepEqual(server.requests[0].body.params, { command: "id" });
  assert.equal(state.unasked, 1);
  await own.beat({ plugin: "1.0.0" });
  assert.match(server.requests.at(-1).body.not_asking, /1 calls ran since it was last asked about one/);
});

test("a plugin that was asked before, and is not any more, says so; being asked again ends that", async () => {
  const { own, server } = await governed(({ path }) => (path === "/calls" ? run(EVENT.params) : [200, { environment: "production" }]));
  await own.before(EVENT, CTX);
  await own.after(EVENT, CTX);
  await own.beat({});
  assert.equal(server.requests.at(-1).body.not_asking, undefined);
  await own.after({ ...EVENT, toolCallId: "call_2" }, CTX);
  await own.beat({});
  assert.match(server.requests.at(-1).body.not_asking, /1 calls ran/);
  await own.before({ ...EVENT, toolCallId: "call_3" }, CTX);
  await own.beat({});
  assert.equal(server.requests.at(-1).body.not_asking, undefined);
});

test("news of a call that was asked about are no alarm", async () => {
  const { own, server } = await governed(() => run(EVENT.params));
  await own.before(EVENT, CTX);
  await own.watch({ stream: "tool", runId: "run-1", data: { phase: "result", name: "exec", toolCallId: "call_1" } });
  assert.equal(server.requests.length, 1);
});

test("what another guard blocked did not run", async () => {
  const { own, server } = await governed(() => [200, {}]);
  await own.after({ ...EVENT, result: { details: { status: "blocked", deniedReason: "plugin-before-tool-call" } } }, CTX);
  assert.equal(server.requests.length, 0);
});

test("a tool that the gateway does not have is told apart", async () => {
  const { own, server, state } = await governed(() => [200, { alarm: null }]);
  await own.after({ ...EVENT, toolName: "nothing", error: "Tool nothing not found" }, CTX);
  assert.equal(server.requests[0].body.is_unknown_tool, true);
  assert.equal(state.unasked, 0);
});

test("params that changed after they were judged are an alarm", async () => {
  const { own, server } = await governed(({ path }) => (path === "/calls" ? run(EVENT.params) : [200, {}]));
  await own.before(EVENT, CTX);
  await own.after({ ...EVENT, params: { command: "rm -rf /" } }, CTX);
  await until(() => server.requests.length === 3);
  const told = server.requests.find(({ path }) => path === "/ungoverned");
  assert.equal(told.body.seen_by, "params_changed");
  assert.deepEqual(told.body.params, { command: "rm -rf /" });
});

test("a gateway that is enrolled elsewhere blocks until that is mended", async () => {
  const { own } = await governed(() => [200, { environment: "staging" }], { environment: "production" });
  await own.beat({});
  assert.match((await own.before(EVENT, CTX)).blockReason, /enrolled in the environment "staging"/);
});

test("only a named few of the facts of a heartbeat are sent", async () => {
  const { own, server } = await governed(() => [200, { environment: "production" }]);
  await own.beat({ openclaw: "2026.9.6", plugin: "1.0.0", node: "24.19.0" });
  assert.deepEqual(server.requests[0].body, { boot: "boot0001", openclaw: "2026.9.6", plugin: "1.0.0", node: "24.19.0" });
});
