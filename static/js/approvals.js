/* approvals: countdown, selection, keys, live swaps. The server decides about time-outs; this only draws them. */
(function () {
  "use strict";
  const { find, findAll, say } = window.openclaw;
  const words = find("#approvals-words").dataset;
  const queue = find("#queue");
  const VERDICT_MS = 1500, QUIET_MS = 400, WARN_S = 45, CRITICAL_S = 15, SPOKEN_S = new Set([30, 10]);
  const PLACEHOLDER = "ap_00000000000000000000000000";
  const now = () => (window.openclaw.now ? window.openclaw.now() : Date.now());
  const urlOf = (template, id) => template.replace(PLACEHOLDER, id);
  const cards = () => findAll("#queue > .ap");
  const shown = () => cards().filter(card => !card.hidden);
  const current = () => find("#queue > .ap[aria-current=true]");
  let movedAt = -Infinity, keyDown = false, pointerDown = false;

  /* countdown */
  function tick() {
    findAll(".ap[data-expires]").forEach(card => {
      const ring = find(".ring", card);
      if (!ring) return;
      const left = Math.max(0, Math.floor((Number(card.dataset.expires) - now()) / 1000));
      if (ring.dataset.left === String(left)) return;
      ring.dataset.left = String(left);
      ring.dataset.level = left <= CRITICAL_S ? "crit" : left <= WARN_S ? "warn" : "ok";
      find("circle + circle", ring).setAttribute("stroke-dasharray", `${(left * 100 / Number(card.dataset.total)).toFixed(1)} 100`);
      ring.lastElementChild.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
      ring.setAttribute("aria-label", words.left.replace("{seconds}", left));
      if (SPOKEN_S.has(left)) say(words.expires.replace("{seconds}", left));
      if (left === 0 && card.dataset.state === "requested") setTimeout(() => refresh(card.id), 1500);
    });
  }
  setInterval(tick, 500);
  tick();

  /* "always" asks once more, whatever it was pressed with, and names what would be saved; the focus is on Cancel */
  const confirm = find("#confirm");
  let asking = null;
  function askAlways(form) {
    const choice = find("input[name=scope]:checked", form), agents = find("select[name=agents]", form);
    const days = find("select[name=days]", form);
    const put = (name, text) => { find(`[data-${name}]`, confirm).textContent = text; };
    put("words", choice.dataset.words);
    put("scope", choice.dataset.label);
    put("agents", agents.selectedOptions[0].textContent);
    put("until", days.selectedOptions[0].dataset.until);
    find("[data-broad]", confirm).hidden = !choice.hasAttribute("data-broad");
    find("[data-every]", confirm).hidden = agents.value !== "every";
    asking = form;
    confirm.showModal();
    find("[data-cancel]", confirm).focus();
  }
  confirm.addEventListener("click", event => {
    if (!event.target.closest("[data-confirm]") || !asking) return;
    const form = asking;
    confirm.close();
    if (!form.isConnected) return; // answered or expired meanwhile: its card says so
    find("[data-confirmed]", form).value = "yes";
    form.requestSubmit();
  });
  confirm.addEventListener("close", () => { asking = null; });
  document.addEventListener("submit", event => {
    const confirmed = find("[data-confirmed]", event.target);
    if (confirmed && !confirmed.value) { event.preventDefault(); event.stopImmediatePropagation(); askAlways(event.target); }
  }, true);
  document.addEventListener("click", event => {
    const always = event.target.closest("[data-do=always]");
    if (always) find("[data-confirmed]", always.form).value = ""; // what was confirmed once is not confirmed again
    const reason = event.target.closest("[data-reason]");
    if (reason) {
      const form = reason.closest("form");
      findAll("[data-reason]", form).forEach(other => other.setAttribute("aria-pressed", String(other === reason)));
      const input = find("input[name=reason]", form);
      input.value = reason.dataset.reason;
      input.focus();
    }
  }, true);
  if (!queue) return;
  queue.dataset.live = "";

  /* selection */
  function select(card, focus) {
    cards().forEach(other => { if (other === card) other.setAttribute("aria-current", "true"); else other.removeAttribute("aria-current"); });
    if (!card) return;
    if (focus) { card.focus({ preventScroll: true }); card.scrollIntoView({ block: "nearest" }); }
    movedAt = performance.now();
  }
  function step(by) {
    const all = shown();
    if (!all.length) return;
    const at = all.indexOf(current());
    select(all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + by))], true);
  }
  queue.addEventListener("click", event => { const card = event.target.closest(".ap"); if (card && card !== current() && !event.target.closest("button, a, input, label")) select(card, false); });
  queue.addEventListener("focusin", event => { const card = event.target.closest(".ap"); if (card && card !== current() && event.target !== card && !pointerDown) select(card, false); });
  document.addEventListener("pointerdown", () => { pointerDown = true; }, true);
  ["pointerup", "pointercancel"].forEach(name => document.addEventListener(name, () => { pointerDown = false; }));

  /* keys: off while typing, in dialogs, with modifiers, while held, just after the list moved, and by choice */
  const PRESSES = { a: "[data-do=once]", A: "[data-do=always]", d: "[data-do=deny]", e: "[data-do=explain]", o: "[data-do=open]" };
  document.addEventListener("keydown", event => {
    const wasDown = keyDown;
    keyDown = true;
    if (event.ctrlKey || event.metaKey || event.altKey || words.keys === "off") return;
    if (event.target.matches("input:not([type=radio]), select, textarea, [contenteditable]") || find("dialog[open]")) return;
    if (event.key === "j" || event.key === "k") { step(event.key === "j" ? 1 : -1); event.preventDefault(); return; }
    if (event.key === "?") { event.preventDefault(); find("#keys").showModal(); return; }
    const wanted = PRESSES[event.key];
    const card = current();
    if (!wanted || !card || event.repeat || wasDown && event.repeat) return;
    if (performance.now() - movedAt < QUIET_MS && !find(wanted, card)?.matches("[data-do=deny], [data-do=explain], [data-do=open]")) { event.preventDefault(); return; }
    const button = find(wanted, card);
    if (!button || button.disabled || card.hasAttribute("data-refused-key")) return;
    event.preventDefault();
    button.click();
  });
  document.addEventListener("keyup", () => { keyDown = false; });

  /* filter and order: in this browser only */
  const filters = { risk: "", agent: "" };
  const agentFilter = find("#agent-filter"), sort = find("#sort");
  function arrange() {
    const all = cards();
    const agents = [...new Set(all.map(card => card.dataset.agent))].sort();
    findAll("option:not([value=''])", agentFilter).forEach(option => { if (!agents.includes(option.value) && option.value !== agentFilter.value) option.remove(); });
    agents.filter(agent => !findAll("option", agentFilter).some(option => option.value === agent)).forEach(agent => agentFilter.add(new Option(agent, agent)));
    all.forEach(card => { card.hidden = filters.risk !== "" && card.dataset.risk !== filters.risk || filters.agent !== "" && card.dataset.agent !== filters.agent; });
    const risky = all.filter(card => card.dataset.risk === "high").length;
    const badge = find("#risk-count");
    badge.hidden = !risky;
    badge.textContent = String(risky);
    const mine = all.filter(card => card.dataset.mine === "yes").length, own = find("#mine-count");
    own.hidden = !mine;
    own.textContent = String(mine);
    find("#all-clear").hidden = all.length > 0;
    queue.hidden = !all.length; // a feed without an article says nothing to a screen reader
    find("#no-match").hidden = !all.length || shown().length > 0;
    if (!current() || current().hidden) select(shown()[0] || null, false);
  }
  const rank = card => sort.value === "newest" ? -Number(card.dataset.asked) : Number(card.dataset.expires);
  function order() {
    const focused = document.activeElement;
    cards().sort((a, b) => rank(a) - rank(b)).forEach((card, at) => { if (queue.children[at] !== card) queue.insertBefore(card, queue.children[at]); });
    if (focused && focused !== document.activeElement) focused.focus({ preventScroll: true });
  }
  const risk = find("[data-filter]");
  function onlyRisky(on) {
    filters.risk = on ? risk.dataset.filter : "";
    risk.setAttribute("aria-pressed", String(on));
    arrange();
  }
  risk.addEventListener("click", () => onlyRisky(!filters.risk));
  agentFilter.addEventListener("change", () => { filters.agent = agentFilter.value; arrange(); });
  sort.addEventListener("change", order);
  find("#show-all").addEventListener("click", () => { agentFilter.value = ""; filters.agent = ""; onlyRisky(false); });

  /* live swaps */
  const busy = new Map();
  function once(key, work) {
    const last = busy.get(key) || Promise.resolve();
    const next = last.then(work, work);
    busy.set(key, next);
    return next;
  }
  const quiet = () => new Promise(resolve => {
    const look = () => { if (keyDown || pointerDown) setTimeout(look, 60); else resolve(); };
    look();
  });
  async function add(id) {
    if (document.getElementById(id)) { await reload(id); return; }
    await quiet();
    const held = current(), top = held?.getBoundingClientRect().top;
    const how = sort.value === "newest" ? "upsert key:data-asked sort:desc" : "upsert key:data-expires sort";
    await htmx.ajax("GET", urlOf(words.card, id), { target: "#queue", swap: how });
    const card = document.getElementById(id);
    if (!card) return;
    if (card.dataset.state !== "requested" || words.mine && card.dataset.mine !== "yes") { card.remove(); return; }
    if (alike(card.dataset.shape) >= Number(words.similarFrom)) { card.remove(); news.look(); return; }
    card.classList.add("arrive");
    arrange();
    if (held?.isConnected) window.scrollBy(0, held.getBoundingClientRect().top - top);
    movedAt = performance.now();
    tick();
    say(card.dataset.title);
    notify(card);
  }
  async function reload(id) {
    const card = document.getElementById(id);
    if (!card || card.dataset.leaving) return;
    if (card.hasAttribute("data-pile")) { news.look(); return; }
    await htmx.ajax("GET", urlOf(words.card, id), { target: `#${id}`, swap: "outerMorph" });
    settle(id);
  }
  const refresh = id => once(id, () => reload(id));
  /* a decided card keeps its verdict for a moment, then goes; focus goes to the next one */
  function settle(id) {
    const card = document.getElementById(id);
    if (!card || card.dataset.state === "requested" || card.dataset.leaving) return;
    card.dataset.leaving = "true";
    recent(id);
    clearTimeout(leaving.get(id));
    leaveIn(card, find("[data-refused]", card) ? VERDICT_MS * 4 : VERDICT_MS);
  }
  /* whoever has answered as well is told what became of it, however late that comes: the card waits for it */
  const leaving = new Map(), answering = new Set();
  const leaveIn = (card, ms) => leaving.set(card.id, setTimeout(() => answering.has(card.id) ? leaveIn(card, VERDICT_MS) : leave(card), ms));
  const answered = event => event.detail?.ctx?.request?.method === "POST" && event.detail.ctx.target?.matches?.(".ap") ? event.detail.ctx.target.id : "";
  document.addEventListener("htmx:before:request", event => answering.add(answered(event)));
  document.addEventListener("htmx:finally:request", event => answering.delete(answered(event)));
  function leave(card) {
    const all = shown(), at = all.indexOf(card);
    const next = all[at + 1] || all[at - 1] || null;
    const wasCurrent = card === current(), hadFocus = card.contains(document.activeElement);
    card.remove();
    if (wasCurrent) select(next, false);
    arrange();
    movedAt = performance.now();
    if (hadFocus) (next || find("#all-clear")).focus({ preventScroll: !next });
    if (!cards().length) say(words.clear);
  }
  const listed = new Set();
  async function recent(id) {
    const list = find("#recent");
    if (!list || listed.has(id) || document.getElementById(`recent-${id}`)) return;
    listed.add(id);
    await htmx.ajax("GET", urlOf(words.item, id), { target: "#recent", swap: "afterbegin" });
    find("[data-none]", list)?.remove();
    findAll("li", list).slice(Number(words.recentLimit)).forEach(item => item.remove());
  }
  const body = document.body;
  /* similar requests share a card, which counts as many as make one */
  const alike = shape => shape ? cards().filter(card => card.dataset.shape === shape).reduce((sum, card) => sum + (card.hasAttribute("data-pile") ? Number(words.similarFrom) : 1), 0) : 0;
  function each(kind, id) {
    if (document.getElementById(id) || kind === "changed" && !words.mine) refresh(id);
    else if (find("#queue > [data-pile]")) news.look();
    else if (kind !== "resolved") once(id, () => add(id)); // what is escalated may be ours from now on
    else recent(id);
  }
  async function whole() {
    if (find("#queue > [data-leaving]")) { setTimeout(news.look, VERDICT_MS); return; }
    await quiet();
    const known = new Set(cards().map(card => card.id));
    await reread("");
    const fresh = cards().find(card => !known.has(card.id));
    if (fresh) { say(fresh.dataset.title); notify(fresh); }
  }
  const news = window.openclaw.flood(each, whole);
  ["requested", "changed", "resolved"].forEach(kind => body.addEventListener(`approval-${kind}`, event => news.hear(kind, event.detail.id)));
  async function reread(told = words.reread) {
    const held = current()?.id;
    await htmx.ajax("GET", words.queue, { target: "#queue", swap: "outerMorph" });
    select(document.getElementById(held) || shown()[0] || null, false);
    arrange();
    tick();
    if (told) say(told);
  }
  body.addEventListener("live-reconnected", () => reread());
  body.addEventListener("listener-reconnected", () => reread());

  /* a card that says why our answer was not applied is not overwritten by news that comes in behind it */
  document.addEventListener("htmx:before:swap", event => {
    const ctx = event.detail.ctx;
    if (ctx?.request.method === "GET" && ctx.target instanceof Element && ctx.target.matches("#queue > .ap[data-leaving]")) event.preventDefault();
  });

  /* an answer to our own click: the card comes back decided */
  document.addEventListener("htmx:after:swap", event => {
    const card = event.target.closest?.("#queue > .ap") || event.detail?.ctx?.target?.closest?.("#queue > .ap");
    if (card) { settle(card.id); guard(); tick(); }
  });

  /* while not live, buttons are off and the page says since when */
  function guard() {
    const live = window.openclaw.isLive?.() !== false;
    findAll("#queue .ap-acts button, #queue .always button").forEach(button => { button.disabled = !live; });
    cards().forEach(card => card.classList.toggle("stale", !live));
    const since = window.openclaw.lostAt?.();
    const note = find("#not-live");
    note.hidden = live || !since;
    if (since) find("[data-since]", note).textContent = words.notLive.replace("{time}", new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "medium", hour12: false }).format(since));
  }
  body.addEventListener("live-state", event => { if (event.detail.state === "live" || window.openclaw.lostAt?.()) guard(); });

  /* sound and desktop alert: only when asked for, never the only sign */
  let audio = null;
  function notify(card) {
    if (window.openclaw.choice("sound", "off")) chime();
    if (window.openclaw.choice("alerts", "off") && document.hidden && "Notification" in window && Notification.permission === "granted") {
      const note = new Notification(card.dataset.title, { tag: card.id });
      note.addEventListener("click", () => { window.focus(); select(card, true); note.close(); });
    }
  }
  function chime() {
    try {
      audio ||= new AudioContext();
      const tone = audio.createOscillator(), volume = audio.createGain(), at = audio.currentTime;
      tone.frequency.setValueAtTime(660, at);
      tone.frequency.setValueAtTime(880, at + 0.12);
      volume.gain.setValueAtTime(0.12, at);
      volume.gain.exponentialRampToValueAtTime(0.001, at + 0.4);
      tone.connect(volume).connect(audio.destination);
      tone.start(at);
      tone.stop(at + 0.4);
    } catch { /* no sound here */ }
  }
  arrange();
  movedAt = -Infinity;
})();
