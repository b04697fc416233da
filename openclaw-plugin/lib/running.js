// What runs at this gateway: calls that were told to run, and commands that calls left running in the background.
import { randomUUID } from "node:crypto";

const KEPT = 2_000;

/** The part of the shared state that says what runs. */
export function runningOf(state) {
  return (state.running ??= { calls: new Map(), background: new Map(), last: new Map(), marks: new Map() });
}

/** Note a call that was told to run, and where. */
export function began(state, id, event, ctx) {
  if (!id) return;
  keep(runningOf(state).calls, id, {
    sessionId: text(ctx?.sessionId),
    sessionKey: text(ctx?.sessionKey),
    tool: text(event?.toolName),
  });
}

/**
 * Note that a call came to its end. Its command may run on: then the gateway says so, with a pid. What a command left
 * behind without a word is looked for under the last call of its session.
 */
export function finished(state, id, result) {
  const { calls, background, last } = runningOf(state);
  const place = calls.get(id);
  calls.delete(id);
  if (!place) return;
  const details = result?.details;
  if (details?.status === "running" && Number.isInteger(details.pid) && details.pid > 1) {
    keep(background, id, { ...place, pid: details.pid });
  } else if (place.tool === "exec" && place.sessionId) {
    keep(last, place.sessionId, { call: id, place });
  }
}

/** Give the mark of a session's commands; each session has one of its own, which says nothing of it. */
export function markOf(state, ctx) {
  const session = text(ctx?.sessionId) || text(ctx?.sessionKey);
  const { marks } = runningOf(state);
  if (session && !marks.has(session)) keep(marks, session, randomUUID().replaceAll("-", ""));
  return session ? marks.get(session) : undefined;
}

function keep(map, name, value) {
  map.set(name, value);
  if (map.size > KEPT) map.delete(map.keys().next().value);
}

function text(value) {
  return typeof value === "string" ? value : "";
}
