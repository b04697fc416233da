// The plugin as the gateway loads it: it joins the hooks to the governor, and decides nothing itself.
import { readFileSync } from "node:fs";
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { register } from "./lib/registration.js";

const { version } = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8"));

export default definePluginEntry({
  id: "openclaw-admin",
  name: "OpenClaw Admin",
  description: "Has OpenClaw Admin decide every tool call of this gateway",
  register: (api) => register(api, { version, harness: () => import("openclaw/plugin-sdk/agent-harness") }),
});
