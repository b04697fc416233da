import assert from "node:assert/strict";
import { test } from "node:test";
import { Governor } from "../lib/governor.js";
import { Knowledge, newMemory, sharedMemory } from "../lib/knowledge.js";
import { register } from "../lib/registration.js";
import { readSettings } from "../lib/settings.js";
import { fakeServer, keptLog, newState, TOKEN } from "../testing/server.js";

const GROUP = "agent:main:telegram:group:-100";
const CHILD = "agent:main:subagent:1";
const REQUESTER = { channel: "telegram", accountId: "default", senderId: "1001", senderIsOwner: false };
const CTX = { agentId: "main", sessionKey: GROUP, runId: "run-1", requester: REQUESTER };
const EVENT = { toolName: "exec", params: {}, runId: "run-1", toolCallId: "call_1" };
const MESSAGE = {
  senderId: "1001",
  sessionKey: GROUP,
  content: "never",
  metadata: { provider: "telegram", senderId: "1001", senderName: "Mal", senderUsername: "Mallory" },
};

function runtimeOf(entries = {}, sandboxed = false) {
  return {
    agent: { session: { getSessionEntry: ({ sessionKey }) => entries[sessionKey] } },
    config: { current: () => ({ secret: "never" }) },
    sandbox: { resolveWorkspaceAuthority: () => ({ sandboxed, workspaceAccess: "none" }) },
  };
}

function knowing(options = {}) {
  return new Knowledge({ memory: newMemory(), runtime: runtimeOf({ [GROUP]: {} }), ...options });
}

test("a call carries the model of its run, the names of its sender and the sandbox of its session", () => {
  const own = knowing();
  own.model({ runId: "run-1", provider: "fake", model: "fake-1" });
  own.message(MESSAGE, {});
  assert.deepEqual(own.contextOf(EVENT, CTX), {
    provider: "fake",
    model_id: "fake-1",
    channel: "telegram",
    account_id: "default",
    sender_id: "1001",
    sender_is_owner: false,
    sender_username: "Mallory",
    sender_name: "Mal",
    sender_e164: null,
    spawned_by: null,
    group_space: null,
    group_channel: null,
    sandboxed: false,
  });
});

test("what was never told is left out, and not said to be none", () => {
  const context = new Knowledge({ memory: newMemory() }).contextOf(EVENT, CTX);
  assert.deepEqual(context, { channel: "telegram", account_id: "default", sender_id: "1001", sender_is_owner: false });
  assert.deepEqual(new Knowledge({ memory: newMemory() }).contextOf(EVENT, { agentId: "main" }), {});
});

test("the model of another run is not this one's", () => {
  const own = knowing();
  own.model({ runId: "run-2", provider: "fake", model: "fake-1" });
  assert.equal("provider" in own.contextOf(EVENT, CTX), false);
});

test("a run that falls back to another model is told by its last one", () => {
  const own = knowing();
  own.model({ runId: "run-1", provider: "one", model: "a" });
  own.model({ runId: "run-1", provider: "two", model: "b" });
  const { provider, model_id } = own.contextOf(EVENT, CTX);
  assert.deepEqual([provider, model_id], ["two", "b"]);
});

for (const [name, message] of [
  ["another sender", { ...MESSAGE, senderId: "1002" }],
  ["another session", { ...MESSAGE, sessionKey: "agent:main:telegram:group:-200" }],
  ["another channel", { ...MESSAGE, metadata: { ...MESSAGE.metadata, provider: "irc" } }],
]) {
  test(`a message of ${name} names nobody here`, () => {
    const own = knowing();
    own.message(message, {});
    assert.equal("sender_username" in own.contextOf(EVENT, CTX), false);
  });
}

test("a run in which nobody speaks has no sender", () => {
  const context = knowing().contextOf(EVENT, { ...CTX, requester: { senderIsOwner: true } });
  assert.deepEqual(
    [context.channel, context.sender_id, context.sender_username, context.sender_name, context.sender_e164],
    [null, null, null, null, null],
  );
});

test("the gateway's own store says who spawned a session, and how deep it is", () => {
  const entries = { [CHILD]: { spawnedBy: GROUP, spawnDepth: 1, groupChannel: "A group", space: "s" } };
  const context = knowing({ runtime: runtimeOf(entries) }).contextOf(EVENT, { ...CTX, sessionKey: CHILD });
  assert.deepEqual(
    [context.spawned_by, context.subagent_depth, context.group_channel, context.group_space],
    [GROUP, 1, "A group", "s"],
  );
});

test("a spawn that was heard of counts where the store says nothing", () => {
  const own = knowing({ runtime: runtimeOf() });
  own.spawned({ childSessionKey: CHILD }, { requesterSessionKey: GROUP });
  assert.equal(own.contextOf(EVENT, { ...CTX, sessionKey: CHILD }).spawned_by, GROUP);
});

test("a store that fails tells nothing, and blocks nothing by itself", () => {
  const fails = () => {
    throw new Error("locked");
  };
  const runtime = { agent: { session: { getSessionEntry: fails } }, sandbox: { resolveWorkspaceAuthority: fails } };
  const context = knowing({ runtime }).contextOf(EVENT, CTX);
  assert.equal("spawned_by" in context || "sandboxed" in context, false);
});

test("the guild of a message is that of its session", () => {
  const own = knowing();
  own.message({ ...MESSAGE, metadata: { ...MESSAGE.metadata, guildId: "g1", channelName: "general" } }, {});
  const { group_space, group_channel } = own.contextOf(EVENT, CTX);
  assert.deepEqual([group_space, group_channel], ["g1", "general"]);
});

test("what is kept is bounded in number and in age", () => {
  let now = 0;
  const memory = newMemory();
  const own = knowing({ memory, now: () => now });
  for (let number = 0; number < 6_000; number += 1) {
    own.model({ runId: `run-${number}`, provider: "fake", model: "m" });
    own.message({ ...MESSAGE, senderId: `${number}` }, {});
    own.spawned({ childSessionKey: `${CHILD}${number}` }, { requesterSessionKey: GROUP });
  }
  assert.deepEqual([memory.models.size, memory.people.size, memory.spawned.size], [2_000, 5_000, 5_000]);
  assert.equal(own.contextOf({ ...EVENT, runId: "run-5999" }, CTX).provider, "fake");
  now = 25 * 60 * 60 * 1000;
  assert.equal("provider" in own.contextOf({ ...EVENT, runId: "run-5999" }, CTX), false);
});

test("news that cannot be read are passed over", () => {
  const own = knowing();
  for (const news of [undefined, null, {}, { runId: 7 }, { metadata: "x", senderId: "1", sessionKey: "s" }]) {
    own.model(news);
    own.message(news, news);
    own.spawned(news, news);
  }
  assert.deepEqual([own.memory.models.size, own.memory.people.size, own.memory.spawned.size], [0, 0, 0]);
});

test("every copy of the module in one process remembers the same", () => {
  const run = `run-${Math.random()}`;
  new Knowledge().model({ runId: run, provider: "fake", model: "m" });
  assert.equal(new Knowledge().contextOf({ ...EVENT, runId: run }, CTX).provider, "fake");
  sharedMemory().models.delete(run);
});

test("the plugin listens, tells what it can tell, and asks with what it heard", async () => {
  const server = await fakeServer(({ path }) =>
    path === "/heartbeat" ? [200, { environment: "production" }] : [200, { id: "call_a", status: "run", params: {} }],
  );
  const hooks = new Map();
  const config = { server: server.url, token: TOKEN };
  const api = { pluginConfig: config, logger: keptLog(), runtime: runtimeOf(), on: (name, handler) => hooks.set(name, handler) };
  register(api, { version: "1.0.0" });
  await hooks.get("model_call_started")({ runId: "run-heard", provider: "fake", model: "fake-1" }, {});
  await hooks.get("before_tool_call")({ ...EVENT, runId: "run-heard" }, CTX);
  await hooks.get("gateway_start")({}, {});
  hooks.get("gateway_stop")({}, {});
  await server.close();
  const sentTo = (path) => server.requests.find((each) => each.path === path);
  const [question, beat] = [sentTo("/calls"), sentTo("/heartbeat")];
  assert.equal(question.body.context.provider, "fake");
  assert.ok(!JSON.stringify(server.requests.map(({ body }) => body)).includes("never"));
  assert.deepEqual(beat.body.facts, [
    ...["channel", "account_id", "sender_id", "sender_is_owner", "provider", "model_id", "sender_username", "sender_name"],
    ...["sender_e164", "spawned_by", "group_channel", "group_space"],
  ]);
});

test("a gateway that does not know a hook tells less", () => {
  const on = (name) => {
    if (name === "model_call_started") throw new Error("unknown hook");
  };
  const own = new Knowledge({ memory: newMemory() }).listen({ on });
  assert.equal(own.facts.includes("provider") || own.facts.includes("group_space"), false);
  assert.ok(own.facts.includes("spawned_by"));
});

test("a governor that knows nothing asks with what the call itself says", async () => {
  const server = await fakeServer(() => [200, { id: "call_a", status: "run", params: {} }]);
  const settings = readSettings({ server: server.url, token: TOKEN }, { env: {} });
  await new Governor(settings, { state: newState(), log: keptLog() }).before(EVENT, CTX);
  await server.close();
  assert.equal("sender_username" in server.requests[0].body.context, false);
});
