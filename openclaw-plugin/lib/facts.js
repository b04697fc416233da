// What the server is told of a call. Only named members leave: a context holds signals and, at times, whole settings.
import { createHash } from "node:crypto";

export const RESULT_LIMIT = 64 * 1024;
const TEXT = 512;

/** Say who calls, from where, which tool with what. */
export function factsOf(event, ctx) {
  const requester = ctx?.requester ?? {};
  const session = text(ctx?.sessionKey);
  const context = defined({
    channel: text(requester.channel) || undefined,
    account_id: text(requester.accountId) || undefined,
    sender_id: text(requester.senderId) || undefined,
    sender_is_owner: typeof requester.senderIsOwner === "boolean" ? requester.senderIsOwner : undefined,
  });
  return defined({
    agent: text(ctx?.agentId) || agentOf(session) || undefined,
    session: session || undefined,
    context,
    tool: text(event?.toolName),
    tool_kind: text(event?.toolKind) || undefined,
    params: plain(event?.params),
    run: text(event?.runId ?? ctx?.runId).slice(0, 200),
    tool_call: text(event?.toolCallId ?? ctx?.toolCallId).slice(0, 300),
  });
}

/** Name a call within the gateway's process. */
export function callName(event, ctx) {
  return `${text(event?.runId ?? ctx?.runId)}\n${text(event?.toolCallId ?? ctx?.toolCallId)}`;
}

/** Write how a call ended, no larger than the server stores. */
export function reportOf(event) {
  const details = event?.result?.details;
  const error = errorText(event?.error) || (isFailure(details) ? text(details.reason ?? details.error ?? details.status) : "");
  return { is_error: Boolean(event?.error) || isFailure(details), error: error.slice(0, 4000), result: bounded(event?.result) };
}

/** Say whether some other guard of the gateway kept a call from running. */
export function wasBlocked(result) {
  return result?.details?.status === "blocked" && typeof result.details.deniedReason === "string";
}

/** Say whether the gateway reports that it has no such tool, so that nothing ran. */
export function isUnknownTool(event) {
  return errorText(event?.error) === `Tool ${event?.toolName} not found`;
}

/** Give a result as an object of bounded size; what is left out is named by its size and hash. */
export function bounded(result) {
  if (result === undefined || result === null) return null;
  const value = plain(result);
  const written = JSON.stringify(value);
  if (Buffer.byteLength(written) <= RESULT_LIMIT) return value;
  return {
    truncated: true,
    size_bytes: Buffer.byteLength(written),
    sha256: createHash("sha256").update(written).digest("hex"),
    beginning: written.slice(0, RESULT_LIMIT / 2),
  };
}

/** Copy what JSON can carry, as an object. */
export function plain(value) {
  let copy;
  try {
    copy = JSON.parse(JSON.stringify(value ?? {}));
  } catch {
    copy = { unreadable: true };
  }
  return copy !== null && typeof copy === "object" && !Array.isArray(copy) ? copy : { value: copy };
}

/** Compare two values whatever the order of their members. */
export function same(one, other) {
  return ordered(one) === ordered(other);
}

function ordered(value) {
  return JSON.stringify(value, (_, each) =>
    each && typeof each === "object" && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

function isFailure(details) {
  return ["failed", "error", "blocked", "denied", "timeout"].includes(details?.status);
}

function errorText(error) {
  return typeof error === "string" ? error : text(error?.message);
}

function agentOf(session) {
  return session.startsWith("agent:") ? session.split(":")[1] : "";
}

function text(value) {
  return typeof value === "string" ? value.slice(0, TEXT) : "";
}

function defined(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
