import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { merged, wanted } from "../install.mjs";

const SCRIPT = fileURLToPath(new URL("../install.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "openclaw-admin-plugin-"));
after(() => rmSync(folder, { recursive: true }));

const ADDITION = wanted({ server: "https://admin.example.org", tokenFile: "/t", folder: "/plugin" });

test("what else a configuration says stays", () => {
  const before = {
    tools: { deny: ["browser"] },
    plugins: { load: { paths: ["/other"] }, allow: ["telegram"], entries: { telegram: { enabled: true } } },
  };
  const after = merged(before, ADDITION);
  assert.deepEqual(after.tools, before.tools);
  assert.deepEqual(after.plugins.load.paths, ["/other", "/plugin"]);
  assert.deepEqual(after.plugins.allow, ["telegram", "openclaw-admin"]);
  assert.deepEqual(after.plugins.entries.telegram, { enabled: true });
  assert.equal(after.plugins.entries["openclaw-admin"].hooks.timeouts.before_tool_call, 600_000);
});

test("twice is as good as once", () => {
  const once = merged({}, ADDITION);
  assert.deepEqual(merged(once, ADDITION), once);
});

test("other settings of its own entry stay", () => {
  const before = { plugins: { entries: { "openclaw-admin": { env: { A: "1" }, hooks: { timeouts: { gateway_stop: 7 } } } } } };
  const entry = merged(before, ADDITION).plugins.entries["openclaw-admin"];
  assert.deepEqual(entry.env, { A: "1" });
  assert.equal(entry.hooks.timeouts.gateway_stop, 7);
});

test("the script keeps a backup, writes once, and keeps a stored token", () => {
  const config = join(folder, "openclaw.json");
  const options = ["--server", "https://admin.example.org", "--config", config];
  writeFileSync(config, JSON.stringify({ gateway: { mode: "local" } }), { mode: 0o600 });
  writeFileSync(join(folder, "openclaw-admin.token"), "oca_x_y\n", { mode: 0o600 });
  execFileSync(process.execPath, [SCRIPT, ...options]);
  const first = JSON.parse(readFileSync(config, "utf8"));
  execFileSync(process.execPath, [SCRIPT, ...options]);
  assert.deepEqual(JSON.parse(readFileSync(config, "utf8")), first);
  assert.equal(first.gateway.mode, "local");
  assert.equal(statSync(config).mode & 0o777, 0o600);
  assert.equal(readdirSync(folder).filter((name) => name.includes(".before-openclaw-admin.")).length, 1);
});

test("a configuration with comments is left alone", () => {
  const config = join(folder, "commented.json");
  writeFileSync(config, "{ // mine\n}");
  const ran = spawnSync(process.execPath, [SCRIPT, "--server", "https://admin.example.org", "--config", config]);
  assert.equal(ran.status, 1);
  assert.equal(readFileSync(config, "utf8"), "{ // mine\n}");
  assert.match(String(ran.stderr), /--print/);
});

test("plain http to another machine is refused", () => {
  const ran = spawnSync(process.execPath, [SCRIPT, "--server", "http://admin.example.org", "--print"]);
  assert.equal(ran.status, 1);
  assert.match(String(ran.stderr), /https/);
});
