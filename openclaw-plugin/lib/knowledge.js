// What the gateway's other hooks and its session store tell of a call: the model, who speaks, who spawned the session.
// A member that is null is one of which the gateway says that there is none; what it never told is left out, and the
// server refuses where a rule needs it. Nothing here is guessed.
const LIMITS = { models: 2_000, people: 5_000, spawned: 5_000 };
const AGE_MS = 24 * 60 * 60 * 1000; // what is older is not relied on
const TEXT = 512;
const GROUP_KEY = /:(group|channel):/;
const ALWAYS = ["channel", "account_id", "sender_id", "sender_is_owner"]; // of whoever asks; each call brings them

/** State that every copy of this module in one process shares; the gateway evaluates plugins more than once. */
export function sharedMemory() {
  return (globalThis[Symbol.for("openclaw-admin.knowledge")] ??= newMemory());
}

export function newMemory() {
  return { models: new Map(), people: new Map(), spawned: new Map() };
}

export class Knowledge {
  /** @param {object} runtime the gateway's helpers for plugins; older gateways have fewer. */
  constructor({ memory = sharedMemory(), runtime, now = Date.now } = {}) {
    Object.assign(this, { memory, runtime, now, facts: [...ALWAYS] });
  }

  /** Listen to the hooks that tell of models, messages and sub-agents, and say in `facts` what can be told. */
  listen(api) {
    this.runtime ??= api.runtime;
    const hooks = [
      ["model_call_started", (event) => this.model(event), ["provider", "model_id"]],
      ["message_received", (event, ctx) => this.message(event, ctx), ["sender_username", "sender_name", "sender_e164"]],
      ["subagent_spawned", (event, ctx) => this.spawned(event, ctx), ["spawned_by"]],
    ];
    for (const [name, handler, facts] of hooks) {
      try {
        api.on(name, handler);
        this.facts.push(...facts);
      } catch {
        // an older gateway does not know the hook: what it tells is unknown here
      }
    }
    if (typeof this.runtime?.agent?.session?.getSessionEntry === "function") this.facts.push("group_channel", "group_space");
    return this;
  }

  /** Hear that a run asks a model. */
  model(event) {
    const [run, provider, model] = [text(event?.runId), text(event?.provider), text(event?.model)];
    if (run && provider) this.#keep("models", run, { provider, model });
  }

  /** Hear a message: what its sender is called, and where it was said. */
  message(event, ctx) {
    const session = text(event?.sessionKey) || text(ctx?.sessionKey);
    const sender = text(event?.senderId) || text(ctx?.senderId);
    const told = event?.metadata;
    if (!session || !sender || !told || typeof told !== "object") return;
    this.#keep("people", `${session}\n${sender}`, {
      channel: text(told.originatingChannel) || text(told.provider) || text(ctx?.channelId),
      username: text(told.senderUsername) || null,
      name: text(told.senderName) || null,
      e164: text(told.senderE164) || null,
      space: text(told.guildId) || null,
      room: text(told.channelName) || null,
    });
  }

  /** Hear that a session spawned another. */
  spawned(event, ctx) {
    const child = text(event?.childSessionKey) || text(ctx?.childSessionKey);
    const parent = text(ctx?.requesterSessionKey);
    if (child && parent) this.#keep("spawned", child, { parent });
  }

  /** Say what is known of a call, by the server's names. */
  contextOf(event, ctx) {
    const session = text(ctx?.sessionKey);
    const person = this.#person(session, ctx?.requester);
    return {
      ...this.#modelOf(text(event?.runId ?? ctx?.runId)),
      ...speakerOf(ctx?.requester, person),
      ...this.#sessionOf(text(ctx?.agentId), session, person),
      ...this.#sandboxOf(text(ctx?.agentId), session),
    };
  }

  #modelOf(run) {
    const told = run ? this.#look("models", run) : undefined;
    return told ? { provider: told.provider, model_id: told.model || null } : {};
  }

  #person(session, requester) {
    const sender = text(requester?.senderId);
    const told = session && sender ? this.#look("people", `${session}\n${sender}`) : undefined;
    return told && told.channel === text(requester?.channel) ? told : undefined;
  }

  #sessionOf(agent, session, person) {
    const entry = this.#entry(agent, session);
    const parent = text(entry?.spawnedBy) || this.#look("spawned", session)?.parent || (entry ? null : undefined);
    const isGroup = GROUP_KEY.test(session) || GROUP_KEY.test(parent ?? "");
    const none = entry || person ? null : undefined;
    const space = isGroup ? person?.space || text(entry?.space) : "";
    const room = isGroup ? person?.room || text(entry?.groupChannel) || text(entry?.subject) : "";
    const depth = Number.isInteger(entry?.spawnDepth) && entry.spawnDepth > 0 ? entry.spawnDepth : undefined;
    return defined({
      spawned_by: parent,
      subagent_depth: depth,
      group_space: space || none,
      group_channel: room || (entry || person?.room ? null : undefined),
    });
  }

  #entry(agent, session) {
    if (!agent || !session) return undefined;
    try {
      const entry = this.runtime?.agent?.session?.getSessionEntry?.({ agentId: agent, sessionKey: session });
      return entry && typeof entry === "object" ? entry : undefined;
    } catch {
      return undefined;
    }
  }

  #sandboxOf(agent, session) {
    if (!agent || !session) return {};
    try {
      const config = this.runtime?.config?.current?.();
      const found = this.runtime?.sandbox?.resolveWorkspaceAuthority?.({ config, agentId: agent, sessionKey: session });
      return typeof found?.sandboxed === "boolean" ? { sandboxed: found.sandboxed } : {};
    } catch {
      return {};
    }
  }

  /** Keep a fact as the newest of its kind; the oldest goes when there are too many. */
  #keep(kind, key, value) {
    const map = this.memory[kind];
    map.delete(key);
    map.set(key, { ...value, at: this.now() });
    if (map.size > LIMITS[kind]) map.delete(map.keys().next().value);
  }

  #look(kind, key) {
    const found = this.memory[kind].get(key);
    if (found && this.now() - found.at > AGE_MS) {
      this.memory[kind].delete(key);
      return undefined;
    }
    return found;
  }
}

/** Say who asks. Without a requester the gateway says nothing of them; one without an id is nobody. */
function speakerOf(requester, person) {
  if (!requester || typeof requester !== "object") return {};
  const sender = text(requester.senderId) || null;
  const names = sender && !person ? {} : { sender_username: null, sender_name: null, sender_e164: null };
  if (person) Object.assign(names, { sender_username: person.username, sender_name: person.name, sender_e164: person.e164 });
  return {
    channel: text(requester.channel) || null,
    account_id: text(requester.accountId) || null,
    sender_id: sender,
    sender_is_owner: typeof requester.senderIsOwner === "boolean" ? requester.senderIsOwner : null,
    ...names,
  };
}

function text(value) {
  return typeof value === "string" ? value.slice(0, TEXT) : "";
}

function defined(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
