// Joins the governor to the gateway's hooks. A plugin that throws here would be skipped, and its gateway run ungoverned.
import { Governor, sharedState } from "./governor.js";
import { Knowledge } from "./knowledge.js";
import { MARK } from "./processes.js";
import { markOf } from "./running.js";
import { readSettings } from "./settings.js";
import { Stops } from "./stops.js";

export const BEAT_MS = 30_000;
export const BEFORE_TIMEOUT_MS = 600_000; // the most that a gateway grants; the installer sets it in its configuration
const LAST = -1_000_000; // of all hooks: what it returns are the params that run

/** Register the hooks; a configuration that cannot be used registers them, too, and blocks every call. */
export function register(api, { version, governor, harness = noHarness } = {}) {
  const log = logOf(api);
  const settings = readSettings(api.pluginConfig);
  const knowledge = new Knowledge({ runtime: api.runtime });
  const own = governor ?? new Governor(settings, { log, knowledge });
  if (settings.problem) log.warn(`every tool call is blocked: ${settings.problem}`);
  api.on("before_tool_call", (event, ctx) => own.before(event, ctx), { priority: LAST, timeoutMs: BEFORE_TIMEOUT_MS });
  api.on("after_tool_call", (event, ctx) => void own.after(event, ctx));
  knowledge.listen(api);
  api.on("resolve_exec_env", (_event, ctx) => marked(own, ctx));
  api.on("gateway_start", () => {
    void own.spool.resume();
    beginStops(own, { harness, log });
    return beginBeats(own, { version, api, log, facts: knowledge.facts });
  });
  api.on("gateway_stop", () => {
    endStops();
    endBeats();
  });
  subscribe(api, own, log);
  return own;
}

function subscribe(api, own, log) {
  const state = sharedState();
  try {
    state.unsubscribe?.();
    state.unsubscribe = api.runtime?.events?.onAgentEvent?.((news) => void own.watch(news)) ?? null;
  } catch {
    log.warn("calls that never ask cannot be watched for: this gateway tells no news of its agents");
  }
}

/** Mark the commands of a session, so that all of them are found when they are to end. */
function marked(own, ctx) {
  const mark = markOf(own.state, ctx);
  return mark ? { [MARK]: mark } : undefined;
}

function beginStops(own, { harness, log }) {
  endStops();
  const stops = new Stops(own.client, own.state, { log, harness });
  sharedState().stops = stops;
  void stops.run();
}

function endStops() {
  const state = sharedState();
  state.stops?.stop();
  state.stops = null;
}

async function noHarness() {
  throw new Error("this gateway gives plugins no way to end a run");
}

function beginBeats(own, { version, api, log, facts }) {
  endBeats();
  const versions = { openclaw: String(api.runtime?.version ?? ""), plugin: version, node: process.versions.node, facts };
  const beat = () => own.beat(versions).catch((error) => log.warn(`OpenClaw Admin was not reached: ${error.message}`));
  const timer = setInterval(beat, BEAT_MS);
  timer.unref?.();
  sharedState().timer = timer;
  return beat();
}

function endBeats() {
  const state = sharedState();
  if (state.timer) clearInterval(state.timer);
  state.timer = null;
}

function logOf(api) {
  const { logger } = api;
  return { warn: (text) => logger?.warn?.(`openclaw-admin: ${text}`), info: (text) => logger?.info?.(`openclaw-admin: ${text}`) };
}
