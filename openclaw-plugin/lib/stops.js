// The kill switch at this gateway: hears what is stopped, ends what runs against it, and says what became of that.
import * as own from "./processes.js";
import { markOf, runningOf } from "./running.js";

export const WAIT_MS = 25_000;
const PAUSES_MS = [500, 1_000, 2_000, 5_000];
const REFUSED_MS = 30_000;
const LEAST_MS = 100; // between two requests, whatever the server answers
const ABORT_MS = 4_000;
const LISTED = 500;

export class Stops {
  /**
   * @param {() => Promise<{abortAgentHarnessRun: Function, resolveActiveEmbeddedRunSessionId: Function}>} harness
   *   what of the gateway ends a run.
   */
  constructor(client, state, { log = console, harness, pause = sleep, processes = own } = {}) {
    Object.assign(this, { client, state, log, harness, pause, processes });
    this.heard = "";
    this.ended = [];
    this.stopping = new AbortController();
  }

  /** Hold to what is stopped until `stop` is called. Never throws. */
  async run() {
    for (let failures = 0; !this.stopping.signal.aborted; ) {
      try {
        await this.turn();
        failures = 0;
        await this.pause(LEAST_MS);
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (failures === 0) this.log.warn?.(`stops cannot be heard of: ${error.message}`);
        await this.pause(error?.refused ? REFUSED_MS : PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]);
        failures += 1;
      }
    }
  }

  stop() {
    this.stopping.abort();
  }

  /** Ask once, and end what is to end. */
  async turn() {
    const said = this.ended.slice(0, LISTED);
    const body = {
      boot: this.state.boot,
      heard: this.heard,
      wait_ms: WAIT_MS,
      background: this.#background(),
      ended: said,
    };
    const answer = await this.client.send("POST", "/stops", body, {
      timeoutMs: WAIT_MS + 10_000,
      signals: [this.stopping.signal],
    });
    this.ended.splice(0, said.length);
    if (typeof answer.digest !== "string" || !Array.isArray(answer.end)) throw new Error("its answer cannot be read");
    this.heard = answer.digest;
    const calls = answer.end.map(({ call }) => call).filter((call) => typeof call === "string").slice(0, LISTED);
    this.ended.push(...(await Promise.all(calls.map((call) => this.end(call)))));
    return answer;
  }

  /** End a call with everything that it started. Gives what became of it, and never throws. */
  async end(call) {
    const { calls, background } = runningOf(this.state);
    const place = calls.get(call) ?? background.get(call);
    if (!place) return { call, is_ended: true, message: "it had ended already" };
    try {
      return { call, ...(await this.#ended(call, place, { calls, background })) };
    } catch (error) {
      this.log.warn?.(`a call could not be ended: ${error.message}`);
      return { call, is_ended: false, message: `it could not be ended: ${error.message}`.slice(0, 300) };
    }
  }

  async #ended(call, place, { calls, background }) {
    const { processes } = this;
    const mark = markOf(this.state, place);
    const pids = place.pid ? [place.pid] : [];
    const before = processes.treeOf({ mark, pids });
    const isRun = calls.has(call);
    const isAborted = isRun ? await this.#abort(place) : true;
    if (isRun && isAborted) await until(() => !calls.has(call), ABORT_MS);
    const those = [...before, ...processes.treeOf({ mark, pids })];
    const left = await processes.ended(those);
    if (place.pid && !processes.canRead()) processes.endGroup(place.pid);
    background.delete(call);
    const isLeft = left.length > 0 || calls.has(call) || Boolean(place.pid && processes.runs(place.pid));
    if (isLeft && place.pid) background.set(call, place);
    const what = new Set(before.map(({ pid }) => pid)).size;
    if (!isLeft) return { is_ended: true, message: `ended by the kill switch, ${what} processes with it` };
    const why = isRun && !isAborted ? "the gateway has no way to end this run" : `${left.length} processes run on`;
    return { is_ended: false, message: why };
  }

  async #abort(place) {
    const { abortAgentHarnessRun, resolveActiveEmbeddedRunSessionId } = await this.harness();
    if (place.sessionId && abortAgentHarnessRun(place.sessionId)) return true;
    const active = place.sessionKey ? resolveActiveEmbeddedRunSessionId?.(place.sessionKey) : undefined;
    return active ? abortAgentHarnessRun(active) : false;
  }

  /** Name the calls whose commands run on; those whose commands have ended are forgotten. */
  #background() {
    const { background, calls, last } = runningOf(this.state);
    const marks = last.size || background.size ? this.processes.marksOfAll() : new Set();
    const busy = new Set([...calls.values()].map(({ sessionId }) => sessionId));
    for (const [call, place] of background) {
      const isThere = place.pid && this.processes.runs(place.pid);
      if (!isThere && !marks.has(markOf(this.state, place))) background.delete(call);
    }
    for (const [session, { call, place }] of last) {
      if (busy.has(session)) continue; // what runs now is of that call, for all we know
      last.delete(session);
      if (marks.has(markOf(this.state, place)) && ![...background.values()].some((each) => each.sessionId === session)) {
        background.set(call, place);
      }
    }
    return [...background.keys()].slice(-LISTED);
  }
}

async function until(holds, limitMs) {
  const end = Date.now() + limitMs;
  while (!holds() && Date.now() < end) await sleep(25);
}

function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref?.();
  });
}
