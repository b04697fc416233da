import assert from "node:assert/strict";
import { test } from "node:test";
import { register } from "../lib/registration.js";
import { keptLog } from "../testing/server.js";

function fakeApi(pluginConfig) {
  const hooks = new Map();
  return { hooks, pluginConfig, logger: keptLog(), on: (name, handler, options) => hooks.set(name, { handler, options }) };
}

for (const config of [undefined, null, {}, { server: 7 }, { server: "http://127.0.0.1:1" }]) {
  test(`a configuration like ${JSON.stringify(config)} is no reason not to govern`, async () => {
    const api = fakeApi(config);
    register(api, { version: "1.0.0" });
    const { handler, options } = api.hooks.get("before_tool_call");
    assert.ok(options.priority < 0, "it comes last, so that what it returns is what runs");
    assert.equal(options.timeoutMs, 600_000);
    const answer = await handler({ toolName: "exec", params: {} }, { agentId: "main" });
    assert.equal(answer.block, true);
  });
}

test("a gateway without news of its agents is governed all the same", () => {
  const api = fakeApi({});
  api.runtime = {
    events: {
      onAgentEvent: () => {
        throw new Error("none");
      },
    },
  };
  register(api, { version: "1.0.0" });
  assert.ok(api.hooks.has("before_tool_call"));
});
