/* live: one socket per tab. It carries events, never HTML: each message becomes a DOM event on body
   (`approval.requested` -> `approval-requested`), and whoever is concerned fetches its own fragment. */
(function () {
  "use strict";
  const settings = document.getElementById("live");
  if (!settings) return;
  const words = settings.dataset;
  const LONGEST_WAIT_MS = 5000, PING_EVERY_MS = 15000, SILENCE_MS = 25000, OFFLINE_AFTER_MS = 30000;
  let socket = null, attempt = 0, lostAt = null, heardAt = 0, retryAt = 0, everLive = false, ended = false, timer = 0;
  let skewMs = null;

  const tell = (name, detail) => document.body.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  const clock = at => new Intl.DateTimeFormat(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", hour12: false }).format(at);
  window.openclaw.now = () => Date.now() + (skewMs ?? Number(words.skew || 0));
  window.openclaw.isLive = () => !ended && socket !== null && socket.readyState === WebSocket.OPEN;
  window.openclaw.send = message => { if (window.openclaw.isLive()) socket.send(JSON.stringify(message)); };
  window.openclaw.lostAt = () => lostAt;

  /* the page itself carries the server's time; a message that travelled less gives a better one */
  const rendered = Number(words.serverTime);
  if (rendered) skewMs = rendered - Date.now();
  function learn(serverTime) {
    const measured = serverTime - Date.now();
    skewMs = skewMs === null ? measured : Math.max(skewMs, measured);
  }

  function show() {
    let state = "live", text = words.textLive;
    if (ended) { state = "offline"; text = words.textEnded; } else if (!window.openclaw.isLive()) {
      const since = lostAt ?? Date.now();
      if (!navigator.onLine || Date.now() - since > OFFLINE_AFTER_MS) {
        state = "offline";
        text = words.textOffline.replace("{time}", clock(since));
      } else {
        state = "reconnecting";
        const left = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
        text = everLive || attempt > 1 ? words.textReconnecting.replace("{seconds}", left) : words.textConnecting;
      }
    }
    document.querySelectorAll("[data-conn]").forEach(pill => {
      if (pill.dataset.state === state && pill.lastElementChild.textContent === text) return;
      const changed = pill.dataset.state !== state;
      pill.dataset.state = state;
      pill.firstElementChild.className = "dot " + { live: "ok", reconnecting: "warn", offline: "bad" }[state];
      pill.lastElementChild.textContent = text;
      if (changed) pill.setAttribute("aria-live", "polite");
    });
    document.body.dataset.live = state;
  }

  function connect() {
    clearTimeout(timer);
    if (ended) return;
    attempt += 1;
    socket = new WebSocket((location.protocol === "https:" ? "wss://" : "ws://") + location.host + words.path);
    socket.addEventListener("open", () => { heardAt = Date.now(); });
    socket.addEventListener("message", event => {
      heardAt = Date.now();
      let message;
      try { message = JSON.parse(event.data); } catch { return; }
      if (typeof message.server_time === "number") learn(message.server_time);
      if (message.type === "hello") hello();
      else if (message.type !== "pong") tell(message.type.replaceAll(".", "-"), message);
    });
    socket.addEventListener("close", event => {
      if (lostAt === null) lostAt = Date.now();
      if (event.code === 4401 || event.code === 4403) { ended = true; show(); tell("live-state", { state: "offline" }); return; }
      const wait = Math.min(LONGEST_WAIT_MS, 250 * 2 ** Math.min(attempt, 5)) * (0.75 + Math.random() / 4);
      retryAt = Date.now() + wait;
      timer = setTimeout(connect, wait);
      show();
      tell("live-state", { state: "reconnecting" });
    });
  }
  function hello() {
    const again = everLive && lostAt !== null;
    attempt = 0;
    lostAt = null;
    everLive = true;
    show();
    tell("live-state", { state: "live" });
    if (again) tell("live-reconnected", {});
  }
  setInterval(() => {
    show();
    if (!window.openclaw.isLive()) return;
    if (Date.now() - heardAt > SILENCE_MS) socket.close();
    else if (Date.now() - heardAt > PING_EVERY_MS) socket.send('{"type":"ping"}');
  }, 1000);
  window.addEventListener("online", () => { if (!window.openclaw.isLive()) { attempt = 0; connect(); } });
  window.addEventListener("offline", () => socket?.close());
  document.addEventListener("click", event => { if (event.target.closest("[data-retry]") && !window.openclaw.isLive()) connect(); });

  /* the number of waiting requests: menu, tab bar, title */
  const title = document.title.replace(/^\(\d+\) /, "");
  function count() {
    const waiting = Number(document.getElementById("nav-approvals")?.dataset.count || 0);
    document.title = (waiting ? `(${waiting}) ` : "") + title;
  }
  new MutationObserver(count).observe(document.querySelector("#nav") || document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-count"] });
  count();
  show();
  connect();
})();
