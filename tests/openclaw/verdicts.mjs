// Asks the real package which tools it leaves to a session, by its own functions: read from its modules when this runs.
// Reads {config, tools, contexts} as JSON from standard input, one question a line; writes what is left, a line each.
// To {server, listed} it answers how the tools that a server lists are named.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const dist = process.argv[2];

/** Find the module that holds a function and exports it, under whatever short name. */
async function load(names) {
  const found = {};
  for (const file of readdirSync(dist).filter((name) => name.endsWith(".mjs"))) {
    const text = readFileSync(join(dist, file), "utf8");
    for (const name of names) {
      if (found[name] || !new RegExp(`^(?:async )?(?:function|const) ${name}\\b`, "m").test(text)) continue;
      const exported = text.match(new RegExp(`^export \\{.*?\\b${name} as ([\\w$]+)`, "m"));
      if (exported) found[name] = (await import(pathToFileURL(join(dist, file)).href))[exported[1]];
    }
  }
  for (const name of names) if (found[name] === undefined) throw new Error(`the package has no ${name}`);
  return found;
}

const real = await load([
  "resolveConversationCapabilityProfile",
  "resolveConversationToolPolicies",
  "buildConversationToolPolicyPipelineSteps",
  "applyToolPolicyPipeline",
  "filterToolsByMessageProvider",
  "getPluginToolMeta",
  "setPluginToolMeta",
  "replaceWithEffectiveToolAllowlist",
  "hasRestrictiveAllowPolicy",
  "resolveSandboxRuntimeStatus",
  "resolveSandboxToolPolicyForAgent",
  "resolveTelegramDirectToolPolicy",
  "GATEWAY_OWNER_ONLY_CORE_TOOLS",
  "assignSafeServerNames",
  "buildSafeToolName",
]);

function profileOf(config, asked, entry) {
  const { sandbox, direct, ...facts } = asked;
  const status = real.resolveSandboxRuntimeStatus({ cfg: config, sessionKey: facts.sessionKey, preparedSessionEntry: entry ?? null });
  const isSandboxed = sandbox ?? status.sandboxed;
  return real.resolveConversationCapabilityProfile({
    config,
    ...facts,
    ...(entry ? { preparedSessionEntry: { sessionKey: facts.sessionKey, entry } } : {}),
    sandboxToolPolicy: isSandboxed ? real.resolveSandboxToolPolicyForAgent(config, facts.agentId) : undefined,
    conversationToolPolicy: direct ? directPolicy(config, facts, direct) : undefined,
  });
}

/** Do what the Telegram plugin does when a message comes: the entry of the chat, else that of any chat. */
function directPolicy(config, facts, direct) {
  const telegram = config.channels?.telegram ?? {};
  const chats = telegram.accounts?.[direct.account]?.direct ?? telegram.direct ?? {};
  const directConfig = chats[direct.peer] ?? chats["*"];
  return real.resolveTelegramDirectToolPolicy({
    directConfig,
    senderId: facts.senderId,
    senderName: facts.senderName,
    senderUsername: facts.senderUsername,
  });
}

function left(config, asked, tools, entry) {
  const capabilityProfile = profileOf(config, asked, entry);
  const ownerOnly = asked.senderIsOwner === false ? { deny: [...real.GATEWAY_OWNER_ONLY_CORE_TOOLS] } : undefined;
  const kept = real.applyToolPolicyPipeline({
    tools: real.filterToolsByMessageProvider(tools, asked.messageProvider),
    toolMeta: (tool) => real.getPluginToolMeta(tool),
    warn: () => {},
    steps: real.buildConversationToolPolicyPipelineSteps({
      capabilityProfile,
      policies: real.resolveConversationToolPolicies({ capabilityProfile }),
      additionalStepsAfterSandbox: [{ policy: ownerOnly, label: "gateway sender owner-only tools" }],
      includeRuntimeToolPolicy: true,
    }),
  });
  return { policy: capabilityProfile.policy, ownerOnly, kept };
}

/** Store of a child what the tools that spawn store of it. */
function spawned(config, asked, tools) {
  const { policy, ownerOnly, kept } = left(config, asked.parent, tools, asked.parent.entry);
  const deny = [...policy.explicitToolDenylist, ...(ownerOnly?.deny ?? [])];
  const allow = [];
  if (policy.inheritancePolicies.some(real.hasRestrictiveAllowPolicy)) real.replaceWithEffectiveToolAllowlist(allow, kept);
  return {
    spawnedBy: asked.parent.sessionKey,
    spawnDepth: 1,
    subagentControlScope: "children",
    inheritedToolPolicyVersion: 1,
    ...(allow.length > 0 ? { inheritedToolAllow: allow } : {}),
    ...(deny.length > 0 ? { inheritedToolDeny: deny } : {}),
  };
}

function answer(config, tools, asked) {
  const { parent, ...own } = asked;
  try {
    const entry = parent ? spawned(config, asked, tools) : undefined;
    const facts = entry ? { ...own, spawnedBy: parent.sessionKey } : own;
    return left(config, facts, tools, entry).kept.map((tool) => tool.name);
  } catch (error) {
    return { error: String(error) };
  }
}

function named(server, listed) {
  const serverName = real.assignSafeServerNames([server]).get(server);
  const reservedNames = new Set();
  return listed.map((toolName) => {
    const name = real.buildSafeToolName({ serverName, toolName, reservedNames }).toLowerCase();
    reservedNames.add(name);
    return name;
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { config, tools, contexts, server, listed } = JSON.parse(line);
  if (listed) {
    process.stdout.write(`${JSON.stringify(named(server, listed))}\n`);
    continue;
  }
  const made = tools.map(({ name, pluginId }) => {
    const tool = { name, description: name, parameters: { type: "object", properties: {} } };
    if (pluginId) real.setPluginToolMeta(tool, { pluginId, optional: false });
    return tool;
  });
  process.stdout.write(`${JSON.stringify(contexts.map((asked) => answer(config, made, asked)))}\n`);
}
process.exit(0);
