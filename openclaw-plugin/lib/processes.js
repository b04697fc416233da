// Processes of commands at this machine: found by a mark in their environment and by their parents, and ended for sure.
// Only Linux tells of environments and parents without another program; elsewhere only process groups are ended.
import { readFileSync, readdirSync } from "node:fs";

export const MARK = "OPENCLAW_ADMIN_SESSION";
const MARKED = new RegExp(`\\0${MARK}=([0-9a-f]{32})\\0`);
const LIMIT = 4_096;
const LOOK_MS = 50;

/** Say what runs now: one `{pid, parent, group, started}` for each process that can be read. */
export function processes() {
  const found = [];
  for (const name of names()) {
    const told = stat(Number(name));
    if (told) found.push(told);
  }
  return found;
}

/** Find the processes with a mark, those of some pids, and everything that they started and that is still their child. */
export function treeOf({ mark, pids = [] }) {
  const all = processes();
  const met = new Set(pids.filter((pid) => Number.isInteger(pid) && pid > 1));
  for (const { pid } of all) if (mark && markIn(pid) === mark) met.add(pid);
  const groups = new Set(all.filter(({ pid, group }) => met.has(pid) && group === pid).map(({ group }) => group));
  for (const { pid, group } of all) if (groups.has(group)) met.add(pid);
  for (let size = -1; size !== met.size && met.size < LIMIT; ) {
    size = met.size;
    for (const { pid, parent } of all) if (met.has(parent)) met.add(pid);
  }
  met.delete(process.pid);
  return all.filter(({ pid }) => met.has(pid));
}

/** Give every mark that some process has. */
export function marksOfAll() {
  const marks = new Set();
  for (const name of names()) {
    const mark = markIn(Number(name));
    if (mark) marks.add(mark);
  }
  return marks;
}

/** Leave of some processes those that still run; another process with the same pid is not one of them. */
export function alive(those) {
  return those.filter(({ pid, started }) => {
    const told = stat(pid);
    return told !== null && told.started === started && told.state !== "Z";
  });
}

/** Ask processes to end, make them after a while, and give those that are there still. */
export async function ended(those, { graceMs = 700, limitMs = 3_000 } = {}) {
  signal(alive(those), "SIGTERM");
  if (await gone(those, graceMs)) return [];
  signal(alive(those), "SIGKILL");
  await gone(those, limitMs);
  return alive(those);
}

/** Wait until processes are gone; false when they are not in time. */
export async function gone(those, withinMs) {
  const until = Date.now() + withinMs;
  while (alive(those).length) {
    if (Date.now() >= until) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return true;
}

/** Say whether a process runs; also where nothing tells of it but its pid. */
export function runs(pid) {
  if (canRead()) return alive([stat(pid) ?? { pid, started: "" }]).length > 0;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error?.code === "EPERM";
  }
}

/** End the group of a process where nothing tells of its children. */
export function endGroup(pid) {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, "SIGKILL");
      return;
    } catch {
      // it leads no group, or is gone
    }
  }
}

export function canRead() {
  return process.platform === "linux";
}

function names() {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function stat(pid) {
  let text;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null;
  }
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // a name may hold anything
  return { pid, state: fields[0], parent: Number(fields[1]), group: Number(fields[2]), started: fields[19] };
}

function markIn(pid) {
  try {
    return MARKED.exec(`\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`)?.[1] ?? "";
  } catch {
    return ""; // gone, or another person's
  }
}

function signal(those, name) {
  for (const { pid } of those) {
    try {
      process.kill(pid, name);
    } catch {
      // gone meanwhile, or not ours: whoever looks finds it alive
    }
  }
}
