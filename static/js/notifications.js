/* notifications: this browser takes web push, or says why it cannot. */
(function () {
  "use strict";
  const { find, say } = window.openclaw;
  const words = find("#push").dataset;
  const button = find("#push-on"), note = find("#push-note");
  const tell = text => { note.textContent = text; note.hidden = false; say(text); };
  const octets = text => {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/").padEnd(Math.ceil(text.length / 4) * 4, "="));
    return Uint8Array.from(binary, letter => letter.charCodeAt(0));
  };
  const nameOf = () => {
    const brand = navigator.userAgentData?.brands?.find(each => !each.brand.includes("Not"));
    return [brand?.brand, navigator.userAgentData?.platform].filter(Boolean).join(", ") || navigator.platform || "";
  };
  if (!("serviceWorker" in navigator) || !("PushManager" in window)) {
    button.disabled = true;
    tell(words.unable);
    return;
  }
  async function subscribe() {
    const worker = await navigator.serviceWorker.register(words.worker);
    if (await Notification.requestPermission() !== "granted") { tell(words.denied); return; }
    const taken = (await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: octets(words.key) })).toJSON();
    const body = new FormData(find("#push-form"));
    body.set("endpoint", taken.endpoint);
    body.set("p256dh", taken.keys.p256dh);
    body.set("auth", taken.keys.auth);
    body.set("browser", nameOf());
    const answer = await fetch(words.add, { method: "POST", body });
    if (answer.ok) location.reload();
    else tell((await answer.json().catch(() => ({}))).message || words.failed);
  }
  button.addEventListener("click", async () => {
    button.disabled = true;
    try { await subscribe(); } catch { tell(words.failed); } finally { button.disabled = false; }
  });
  /* the open console is a channel, too: the try arrives here as an event */
  document.body.addEventListener("notification-tried", event => {
    if (event.detail.id !== words.person) return;
    const heard = find("#heard");
    if (heard) heard.hidden = false;
    say(words.heard);
  });
})();
