// The server over HTTP. Messages of its errors never hold the token or the address.
export const GIVEN_UP = "the call was given up";
const ANSWER_LIMIT_BYTES = 8 * 1024 * 1024;

/**
 * The server does not answer, or not as it should; `refused` when it is no use to ask again now: it answered and said no,
 * or, with `isUnheard`, it was never asked.
 */
export class ServerError extends Error {
  constructor(message, { refused = false, isUnheard = !refused, code = "" } = {}) {
    super(message);
    this.name = "ServerError";
    this.refused = refused;
    this.isUnheard = isUnheard;
    this.code = code;
  }
}

export class Client {
  constructor(settings, { fetch = globalThis.fetch } = {}) {
    this.settings = settings;
    this.fetch = fetch;
  }

  /**
   * Send one request.
   * @param {AbortSignal[]} signals what ends it besides its time.
   * @throws {ServerError}
   */
  async send(method, path, body, { timeoutMs = 10_000, signals = [] } = {}) {
    const { settings } = this;
    if (settings.problem) throw new ServerError(settings.problem, { refused: true, isUnheard: true });
    let bearer;
    try {
      bearer = settings.token();
    } catch {
      throw new ServerError("its token cannot be read", { refused: true, isUnheard: true });
    }
    let response;
    let answer;
    try {
      response = await this.fetch(`${settings.server}/api/v1/openclaw${path}`, {
        method,
        redirect: "error",
        headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...signals]),
      });
      answer = await readJson(response);
    } catch (error) {
      const message = why(error);
      throw new ServerError(message, { isUnheard: message !== GIVEN_UP });
    }
    if (response.ok) return answer;
    const refused = response.status < 500 && response.status !== 429;
    const said = answer && typeof answer.message === "string" ? `: ${answer.message.slice(0, 300)}` : "";
    throw new ServerError(`it answered ${response.status}${said}`, { refused, code: answer?.code });
  }
}

async function readJson(response) {
  const parts = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > ANSWER_LIMIT_BYTES) throw new Error("answer too large");
    parts.push(part);
  }
  const answer = JSON.parse(Buffer.concat(parts).toString("utf8") || "null");
  if (answer === null || typeof answer !== "object") throw new Error("no JSON object");
  return answer;
}

function why(error) {
  if (error?.name === "TimeoutError") return "it did not answer in time";
  if (error?.name === "AbortError") return GIVEN_UP;
  const code = error?.cause?.code ?? error?.code;
  return typeof code === "string" && /^[A-Z_]+$/.test(code) ? `it cannot be reached (${code})` : "it cannot be reached";
}
