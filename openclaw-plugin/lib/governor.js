// Asks the server before a call, waits for a person where one must answer, and reports after it.
// Whatever goes wrong on the way to a yes is a no: the gateway runs nothing that the server did not allow.
import { randomUUID } from "node:crypto";
import { Client, GIVEN_UP, ServerError } from "./client.js";
import { bounded, callName, factsOf, isUnknownTool, plain, reportOf, same, wasBlocked } from "./facts.js";
import { began, finished } from "./running.js";
import { Spool } from "./spool.js";

export const ASK_MS = 20_000; // of one request; the server holds it no longer than this
export const UNREACHABLE_MS = 5_000; // a server that restarts is given this long before a call is blocked
export const WHILE_WAITING_MS = 60_000; // and this long while a person is asked
const PAUSE_MS = 500;
const HELD_MS = 1_000; // a request that breaks after this was held by the server: a person may be asked
const KEPT = 5_000;
const ARGS_KEPT = 200; // of calls that have begun, and whose end has not been seen

/** State that every copy of this module in one process shares; the gateway evaluates plugins more than once. */
export function sharedState() {
  return (globalThis[Symbol.for("openclaw-admin.plugin")] ??= {
    boot: randomUUID().replaceAll("-", ""),
    calls: new Map(),
    ended: new Set(),
    told: new Set(),
    unasked: 0,
    timer: null,
    unsubscribe: null,
  });
}

export class Governor {
  constructor(settings, options = {}) {
    const { state = sharedState(), client = new Client(settings), log = console, pause = sleep, now = Date.now } = options;
    Object.assign(this, { settings, state, client, log, pause, now, knowledge: options.knowledge });
    this.spool = new Spool(client, state, { file: settings.spoolFile, log, pause: pause === sleep ? rest : pause });
  }

  /** Answer the gateway's question about a call: block it, or let it run with the params that were judged. */
  async before(event, ctx) {
    this.state.unasked = 0;
    const name = callName(event, ctx);
    const entry = { key: randomUUID().replaceAll("-", ""), id: "", params: null, may: false };
    push(this.state.calls, name, entry);
    try {
      const answer = await this.#decided(event, ctx, entry);
      if (answer.status === "denied") return blocked(refusal(answer));
      if (answer.status !== "run" || !isObject(answer.params)) throw new ServerError("its answer cannot be read");
      entry.params = answer.params;
      entry.may = true;
      began(this.state, entry.id, event, ctx);
      return { params: answer.params };
    } catch (error) {
      this.#giveUp(entry, event, ctx, error);
      return blocked(sentence(error));
    }
  }

  /** Report how a call ended; one that was never asked about is reported as such. */
  after(event, ctx) {
    const name = callName(event, ctx);
    const entry = shift(this.state.calls, name);
    remember(this.state.ended, name);
    if (!entry) return this.#ungoverned(event, ctx, "after_tool_call");
    if (!entry.may) return undefined; // blocked by us, and on record there
    finished(this.state, entry.id, event?.result);
    if (isObject(event?.params) && !same(plain(event.params), entry.params)) {
      this.#ungoverned(event, ctx, "params_changed");
    }
    const report = reportOf(event);
    return this.spool.send("POST", `/calls/${entry.id}/outcome`, report);
  }

  /** Watch the gateway's own news of tool calls: one that ends without a question ran ungoverned. */
  watch(news) {
    const data = news?.data;
    if (news?.stream !== "tool" || typeof data?.toolCallId !== "string") return undefined;
    const event = { toolName: data.name, toolCallId: data.toolCallId, runId: news.runId, result: data.result };
    const name = callName(event);
    if (data.phase === "start") return void keepArgs(this.state, name, data.args); // its end does not repeat them
    if (data.phase !== "result") return undefined;
    const args = takeArgs(this.state, name) ?? data.args;
    if (this.state.calls.has(name) || this.state.ended.has(name)) return undefined;
    const ctx = { agentId: news.agentId, sessionKey: news.sessionKey };
    return this.#ungoverned({ ...event, params: args, error: data.isError ? resultText(data.result) : "" }, ctx, "agent_event");
  }

  /** Say that the gateway lives, and learn which environment it belongs to. */
  async beat(versions) {
    const warning = this.state.unasked ? `${this.state.unasked} calls ran since it was last asked about one` : "";
    const body = { boot: this.state.boot, ...versions, ...(warning ? { not_asking: warning } : {}) };
    const answer = await this.client.send("POST", "/heartbeat", body);
    this.#checkEnvironment(answer.environment);
    void this.spool.drain();
    return answer;
  }

  async #decided(event, ctx, entry) {
    const body = {
      key: entry.key,
      boot: this.state.boot,
      person_s: this.settings.personWaitS,
      wait_ms: ASK_MS,
      ...factsOf(event, ctx),
    };
    if (this.knowledge) body.context = this.knowledge.contextOf(event, ctx);
    if (!body.agent) throw new ServerError("the gateway does not say which agent calls", { refused: true });
    const signals = ctx?.abortSignal instanceof AbortSignal ? [ctx.abortSignal] : [];
    const until = this.now() + this.settings.personWaitS * 1000;
    let answer = await this.#persistently(() => this.#send("POST", "/calls", body, signals), UNREACHABLE_MS, until);
    while (answer.status === "pending" || answer.status === "awaiting_approval") {
      entry.id = answer.id;
      if (this.now() >= until) throw new ServerError("nobody answered in time", { refused: true });
      const left = Math.max(0, Math.min(ASK_MS, until - this.now()));
      const path = `/calls/${answer.id}?wait=${Math.round(left)}`;
      answer = await this.#persistently(() => this.#send("GET", path, undefined, signals), WHILE_WAITING_MS, until);
    }
    entry.id = answer.id ?? "";
    return answer;
  }

  /**
   * Tell that the call was blocked here: nobody need answer any more, and what was allowed did not run. Where the server
   * could not be asked, it hears of the attempt as soon as it can.
   */
  #giveUp(entry, event, ctx, error) {
    if (!error?.isUnheard) return void this.spool.send("DELETE", `/calls/key_${entry.key}`);
    const { agent, session, context, tool, tool_kind: kind, run, tool_call: call } = factsOf(event, ctx);
    const attempt = {
      ...{ key: entry.key, agent, session, context, tool, tool_kind: kind, run, tool_call: call },
      params: bounded(event?.params) ?? {},
      blocked_at: new Date().toISOString(),
      reason: error.message.slice(0, 300),
    };
    return void this.spool.keep("POST", "/blocked", { attempts: [attempt] });
  }

  #send(method, path, body, signals) {
    return this.client.send(method, path, body, { timeoutMs: ASK_MS + 10_000, signals });
  }

  /** Ask again while the server cannot be reached, and no longer after the first failure than that may take. */
  async #persistently(attempt, limitMs, until) {
    let end = Infinity;
    for (;;) {
      const began = this.now();
      try {
        return await attempt();
      } catch (error) {
        const wasHeld = this.now() - began > HELD_MS && error?.message !== "it did not answer in time";
        if (wasHeld) end = this.now() + WHILE_WAITING_MS;
        else if (end === Infinity) end = this.now() + limitMs;
        const isOver = error?.message === GIVEN_UP || error?.refused || this.now() + PAUSE_MS >= Math.min(end, until);
        if (!(error instanceof ServerError) || isOver) throw error;
        await this.pause(PAUSE_MS);
      }
    }
  }

  #ungoverned(event, ctx, seenBy) {
    const key = `${seenBy}\n${callName(event, ctx)}`;
    const isKnown = this.state.told.has(callName(event, ctx)) && seenBy !== "params_changed";
    if (isKnown || this.state.told.has(key) || wasBlocked(event?.result)) return undefined;
    remember(this.state.told, key);
    remember(this.state.told, callName(event, ctx));
    const unknown = isUnknownTool(event);
    if (!unknown) this.state.unasked += 1;
    const { tool_kind: _, context: __, ...facts } = factsOf(event, ctx);
    const body = {
      ...facts,
      params: bounded(event?.params) ?? {},
      result: bounded(event?.result),
      error: reportOf(event).error,
      seen_by: seenBy,
      is_unknown_tool: unknown,
    };
    if (!unknown) this.log.warn?.(`a call of ${body.tool} was not governed by OpenClaw Admin (${seenBy})`);
    return this.spool.send("POST", "/ungoverned", body);
  }

  #checkEnvironment(environment) {
    const wanted = this.settings.environment;
    const isOther = wanted && environment !== wanted;
    this.settings.problem = isOther ? `this gateway is enrolled in the environment "${environment}", not "${wanted}"` : "";
  }
}

/** Write a sentence for the agent; it names no address and no secret. */
export function sentence(error) {
  const why = error instanceof ServerError ? error.message : "an internal error of the plugin";
  return error?.refused
    ? `Blocked: OpenClaw Admin did not allow this call: ${why}.`
    : `Blocked: OpenClaw Admin, which must allow every call, cannot be asked: ${why}.`;
}

function refusal(answer) {
  const message = answer.error?.message;
  return `Blocked by OpenClaw Admin: ${typeof message === "string" && message ? message : "denied"}.`;
}

function blocked(blockReason) {
  return { block: true, blockReason };
}

function resultText(result) {
  const first = Array.isArray(result?.content) ? result.content.find((each) => typeof each?.text === "string") : null;
  return first ? first.text.slice(0, 4000) : "failed";
}

function push(map, name, entry) {
  const standing = map.get(name);
  if (standing) standing.push(entry);
  else map.set(name, [entry]);
  if (map.size > KEPT) map.delete(map.keys().next().value);
}

function shift(map, name) {
  const standing = map.get(name);
  const entry = standing?.shift();
  if (standing && standing.length === 0) map.delete(name);
  return entry;
}

function remember(set, name) {
  set.add(name);
  if (set.size > KEPT) set.delete(set.keys().next().value);
}

function keepArgs(state, name, args) {
  state.args ??= new Map();
  state.args.set(name, bounded(args) ?? {});
  if (state.args.size > ARGS_KEPT) state.args.delete(state.args.keys().next().value);
}

function takeArgs(state, name) {
  const args = state.args?.get(name);
  state.args?.delete(name);
  return args;
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Wait for what may be done later: it keeps no process from ending. */
function rest(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref?.();
  });
}
