// What the configuration says, or why nothing can be asked. A mistake here must block calls, so it is never thrown.
import { readFileSync } from "node:fs";

export const PERSON_WAIT_S = 570;
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Read the plugin's configuration.
 * @returns {{server?: string, token?: () => string, environment: string, personWaitS: number, spoolFile: string, problem: string}}
 *   `problem` says what is wrong, and is empty when everything is there. `token` is read anew each time: it may change.
 */
export function readSettings(config, { env = process.env, read = (path) => readFileSync(path, "utf8") } = {}) {
  const given = config && typeof config === "object" ? config : {};
  const server = text(given.server) || text(env.OPENCLAW_ADMIN_URL);
  const settings = {
    environment: text(given.environment) || text(env.OPENCLAW_ADMIN_ENVIRONMENT),
    personWaitS: seconds(given.personWaitSeconds),
    spoolFile: spoolFile(text(given.tokenFile) || text(env.OPENCLAW_ADMIN_TOKEN_FILE)),
    problem: "",
  };
  const url = URL.canParse(server) ? new URL(server) : null;
  if (!server) return { ...settings, problem: "no server is configured" };
  if (!url || !["http:", "https:"].includes(url.protocol)) return { ...settings, problem: "`server` is no web address" };
  if (url.protocol === "http:" && !LOOPBACK.has(url.hostname) && given.allowPlainHttp !== true) {
    return { ...settings, problem: "`server` must be https: its token would travel unencrypted" };
  }
  return { ...settings, server: url.href.replace(/\/+$/, ""), token: () => token(given, env, read) };
}

function token(given, env, read) {
  const file = text(given.tokenFile) || text(env.OPENCLAW_ADMIN_TOKEN_FILE);
  const found = text(given.token) || (file ? text(read(file)) : text(env.OPENCLAW_ADMIN_TOKEN));
  if (!/^oca_[\x21-\x7e]+$/.test(found)) throw new Error("no token is configured");
  return found;
}

/** Say where reports lie that could not be sent: beside the token, for its owner alone. */
function spoolFile(tokenFile) {
  return tokenFile ? `${tokenFile.replace(/\.token$/, "")}.spool` : "";
}

function text(value) {
  return typeof value === "string" ? value.trim() : "";
}

function seconds(value) {
  return Number.isInteger(value) && value >= 10 && value <= PERSON_WAIT_S ? value : PERSON_WAIT_S;
}
