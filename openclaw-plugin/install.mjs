#!/usr/bin/env node
// Enrols this gateway and writes the plugin into its configuration: with a backup, and twice is as good as once.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { BEFORE_TIMEOUT_MS } from "./lib/registration.js";
import { readSettings } from "./lib/settings.js";

export const ID = "openclaw-admin";
const HERE = dirname(fileURLToPath(import.meta.url));
const AFTER_TIMEOUT_MS = 15_000;
const USAGE = `node install.mjs --server https://admin.example.org [options]

  --server ADDRESS       address of OpenClaw Admin
  --enrol-file FILE      file with the enrolment token; OPENCLAW_ADMIN_ENROLMENT works, too. Without either, a token
                         that was stored before is kept
  --config FILE          the gateway's openclaw.json (default: OPENCLAW_CONFIG_PATH, else below OPENCLAW_STATE_DIR or
                         ~/.openclaw)
  --token-file FILE      where this gateway's own token is kept (default: openclaw-admin.token beside the configuration)
  --person-wait SECONDS  how long a call waits for a person, 10 to 570
  --allow-plain-http     send the token unencrypted to another machine
  --print                change nothing; print what would be merged
`;

/** Give the members that the plugin needs in an openclaw.json. */
export function wanted({ server, tokenFile, environment, personWait, allowPlainHttp, folder = HERE }) {
  const config = { server, tokenFile };
  if (environment) config.environment = environment;
  if (personWait) config.personWaitSeconds = personWait;
  if (allowPlainHttp) config.allowPlainHttp = true;
  const timeouts = { before_tool_call: BEFORE_TIMEOUT_MS, after_tool_call: AFTER_TIMEOUT_MS };
  return { plugins: { load: { paths: [folder] }, entries: { [ID]: { enabled: true, config, hooks: { timeouts } } } } };
}

/** Lay what the plugin needs over a configuration; everything else stays as it is. */
export function merged(document, addition) {
  const result = structuredClone(document);
  const plugins = (result.plugins ??= {});
  const load = (plugins.load ??= {});
  const [folder] = addition.plugins.load.paths;
  load.paths = [...new Set([...(load.paths ?? []), folder])];
  const entries = (plugins.entries ??= {});
  const ours = addition.plugins.entries[ID];
  const before = entries[ID] ?? {};
  entries[ID] = {
    ...before,
    ...ours,
    hooks: { ...before.hooks, timeouts: { ...before.hooks?.timeouts, ...ours.hooks.timeouts } },
  };
  if (plugins.enabled === false) plugins.enabled = true;
  if (Array.isArray(plugins.allow) && !plugins.allow.includes(ID)) plugins.allow.push(ID);
  if (Array.isArray(plugins.deny)) plugins.deny = plugins.deny.filter((each) => each !== ID);
  return result;
}

/** Write a document where it differs, the one before kept beside it. Returns the backup's path, or "" for no change. */
export function written(path, document, { now = () => new Date() } = {}) {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (before && JSON.stringify(JSON.parse(before)) === JSON.stringify(document)) return "";
  let backup = "";
  mkdirSync(dirname(path), { recursive: true });
  if (before) {
    backup = `${path}.before-${ID}.${now().toISOString().replaceAll(/[:.]/g, "-")}`;
    copyFileSync(path, backup);
  }
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, text, { mode: before ? statSync(path).mode & 0o777 : 0o600 });
  renameSync(draft, path);
  return backup || "new";
}

/** Exchange the enrolment token for the gateway's own, and store that for its owner alone. */
export async function enrolled({ server, enrolment, tokenFile, fetch = globalThis.fetch }) {
  const { version } = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));
  const body = { boot: "installer", plugin: version, node: process.versions.node };
  const response = await fetch(`${server}/api/v1/openclaw/enrol`, {
    method: "POST",
    redirect: "error",
    headers: { authorization: `Bearer ${enrolment}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`the server did not enrol this gateway: ${answer.message ?? response.status}`);
  mkdirSync(dirname(tokenFile), { recursive: true });
  writeFileSync(tokenFile, `${answer.token}\n`, { mode: 0o600 });
  chmodSync(tokenFile, 0o600);
  return answer;
}

function readDocument(path) {
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new Error(`${path} is not plain JSON (comments?): nothing was changed. Merge what --print shows by hand`);
  }
}

async function main() {
  const { values } = parseArgs({
    options: {
      server: { type: "string" },
      "enrol-file": { type: "string" },
      config: { type: "string" },
      "token-file": { type: "string" },
      "person-wait": { type: "string" },
      "allow-plain-http": { type: "boolean" },
      print: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help || !values.server) {
    console.log(USAGE);
    return values.help ? 0 : 2;
  }
  const { env } = process;
  const state = env.OPENCLAW_STATE_DIR ?? join(env.HOME ?? homedir(), ".openclaw");
  const config = resolve(values.config ?? env.OPENCLAW_CONFIG_PATH ?? join(state, "openclaw.json"));
  const tokenFile = resolve(values["token-file"] ?? join(dirname(config), "openclaw-admin.token"));
  const options = { allowPlainHttp: values["allow-plain-http"], personWait: personWait(values["person-wait"]) };
  const { problem, server } = readSettings({ server: values.server, ...options }, { env: {} });
  if (problem) throw new Error(problem);
  const addition = { server, tokenFile, ...options };
  if (values.print) {
    console.log(JSON.stringify(wanted(addition), null, 2));
    return 0;
  }
  const document = readDocument(config); // before the enrolment is used up
  const enrolment = values["enrol-file"] ? readFileSync(values["enrol-file"], "utf8").trim() : env.OPENCLAW_ADMIN_ENROLMENT;
  if (enrolment) {
    const answer = await enrolled({ server, enrolment, tokenFile });
    addition.environment = answer.environment;
    console.log(`enrolled as ${answer.name} (${answer.gateway}) in ${answer.environment}; its token is in ${tokenFile}`);
  } else if (existsSync(tokenFile)) {
    addition.environment = document.plugins?.entries?.[ID]?.config?.environment;
  } else {
    throw new Error("no enrolment token was given, and no token of this gateway is stored yet");
  }
  const backup = written(config, merged(document, wanted(addition)));
  console.log(backup ? `${config} was written${backup === "new" ? "" : `; the one before is ${backup}`}` : `${config} needs no change`);
  if (document.tools?.toolSearch !== false) {
    console.log("It offers tools by tool_search, tool_describe and tool_call: these pass where the published policy has tool search, and each tool that they reach is asked about.");
  }
  console.log("Restart the gateway now: a plugin that is loaded into a running one is not asked about calls.");
  return 0;
}

function personWait(given) {
  if (given === undefined) return undefined;
  const seconds = Number(given);
  if (!Number.isInteger(seconds) || seconds < 10 || seconds > 570) throw new Error("--person-wait takes 10 to 570 seconds");
  return seconds;
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main().then(
    (code) => process.exit(code),
    (error) => {
      console.error(`install.mjs: ${error.message}`);
      process.exit(1);
    },
  );
}
