// What the server must hear although it cannot be reached now: kept in order, sent again, and on disk until it was taken.
import { appendFileSync, chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

const PAUSES_MS = [1_000, 5_000, 20_000, 60_000];
const COUNT_LIMIT = 1_000;
const SIZE_LIMIT_BYTES = 8 * 1024 * 1024;
const AGE_LIMIT_MS = 7 * 24 * 3_600_000;

/** The backlog that every copy of this module in one process shares. */
export function backlogOf(state) {
  return (state.backlog ??= { items: [], size: 0, dropped: 0, draining: null, isRead: false });
}

export class Spool {
  /** @param {string} file where the backlog lies while it is not empty; "" keeps it in memory alone. */
  constructor(client, state, { file = "", log = console, pause = sleep } = {}) {
    Object.assign(this, { client, state, file, log, pause });
  }

  /** Send something now, or as soon as the server can be reached. Never throws. */
  async send(method, path, body) {
    try {
      return await this.client.send(method, path, body);
    } catch (error) {
      if (this.#isFinal(error)) return undefined;
      return this.keep(method, path, body);
    }
  }

  /** Keep something that is not tried at once: the server was just not reached. */
  keep(method, path, body) {
    const backlog = backlogOf(this.state);
    const text = JSON.stringify({ at: Date.now(), method, path, body });
    const isFirst = backlog.items.length === 0;
    backlog.items.push(text);
    backlog.size += text.length;
    const isFull = backlog.items.length > COUNT_LIMIT || backlog.size > SIZE_LIMIT_BYTES;
    while (backlog.items.length > COUNT_LIMIT || backlog.size > SIZE_LIMIT_BYTES) {
      backlog.size -= backlog.items.shift().length;
      backlog.dropped += 1;
    }
    if (isFull) this.#rewrite();
    else this.#append(text, isFirst);
    return this.drain(1);
  }

  /** Take up what an earlier process could not send. */
  resume() {
    const backlog = backlogOf(this.state);
    if (!backlog.isRead && this.file) {
      backlog.isRead = true;
      const items = readItems(this.file);
      backlog.items.unshift(...items);
      backlog.size += items.reduce((size, text) => size + text.length, 0);
    }
    return backlog.items.length ? this.drain() : undefined;
  }

  /**
   * Send the backlog in its order until it is empty, or the server stays away; each heartbeat that it takes begins anew.
   * One at a time, however often this is called.
   * @param {number} failures that came just before: after one, there is a pause first.
   */
  drain(failures = 0) {
    const backlog = backlogOf(this.state);
    backlog.draining ??= this.#drained(backlog, failures).finally(() => {
      backlog.draining = null;
    });
    return backlog.draining;
  }

  async #drained(backlog, before) {
    for (let failures = before; backlog.items.length || backlog.dropped; ) {
      const pauseMs = failures ? PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] : 0;
      if (pauseMs) await this.pause(pauseMs);
      try {
        await this.#sendNext(backlog);
        failures = 0;
      } catch (error) {
        if (failures === before) this.log.warn?.(`OpenClaw Admin could not be reached with a report: ${error.message}`);
        failures += 1;
        if (failures > PAUSES_MS.length) return;
      }
    }
    this.#rewrite();
  }

  async #sendNext(backlog) {
    if (backlog.dropped) {
      const { dropped } = backlog;
      await this.#tried("POST", "/blocked", { dropped });
      backlog.dropped -= dropped;
      return;
    }
    const [text] = backlog.items;
    const item = JSON.parse(text);
    if (Date.now() - item.at > AGE_LIMIT_MS) backlog.dropped += 1;
    else await this.#tried(item.method, item.path, item.body);
    if (backlog.items[0] !== text) return; // it fell out meanwhile
    backlog.items.shift();
    backlog.size -= text.length;
    if (backlog.items.length % 50 === 0) this.#rewrite();
  }

  async #tried(method, path, body) {
    try {
      await this.client.send(method, path, body);
    } catch (error) {
      if (!this.#isFinal(error)) throw error;
    }
  }

  /** Say whether the server answered that it does not take it: then it is not sent again. */
  #isFinal(error) {
    if (!error?.refused || error.isUnheard) return false;
    this.log.warn?.(`OpenClaw Admin did not take a report: ${error.message}`);
    return true;
  }

  #append(text, isFirst) {
    this.#onDisk(() => {
      appendFileSync(this.file, `${text}\n`, { mode: 0o600 });
      if (isFirst) chmodSync(this.file, 0o600);
    });
  }

  #rewrite() {
    const { items } = backlogOf(this.state);
    this.#onDisk(() => {
      if (!items.length) return rmSync(this.file, { force: true });
      writeFileSync(`${this.file}.new`, items.map((text) => `${text}\n`).join(""), { mode: 0o600 });
      return renameSync(`${this.file}.new`, this.file);
    });
  }

  #onDisk(write) {
    if (!this.file) return;
    try {
      write();
    } catch (error) {
      this.log.warn?.(`reports wait in memory alone: ${error.code ?? error.message}`);
    }
  }
}

function readItems(file) {
  if (!existsSync(file)) return [];
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").filter(isItem).slice(-COUNT_LIMIT);
}

/** Say whether a line is one of ours and whole: a process may have died while it wrote. */
function isItem(line) {
  try {
    const { at, method, path } = JSON.parse(line);
    return Number.isFinite(at) && ["POST", "DELETE"].includes(method) && /^\/[\w/]+$/.test(path);
  } catch {
    return false;
  }
}

function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref?.();
  });
}
