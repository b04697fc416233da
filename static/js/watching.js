/* watching: tells who looks at which request and who is deciding. It informs; nobody is kept from answering. */
(function () {
  "use strict";
  const { find, findAll } = window.openclaw;
  const words = find("#approvals-words")?.dataset;
  if (!words?.watchers) return;
  const LOOK_EVERY_MS = 1000, REPEAT_MS = 10000, REREAD_MS = 12000;
  let mine = null, sentAt = 0, read = null, readAt = 0, asked = false;

  const current = () => document.hidden ? null : find("#queue > .ap[aria-current=true]") || (find("#queue") ? null : find("article.ap"));
  const send = (id, doing) => {
    if (!window.openclaw.isLive?.()) return;
    window.openclaw.send({ type: "look", id, doing });
    mine = id;
    sentAt = Date.now();
  };
  setInterval(() => {
    const card = current();
    const id = card?.dataset.state === "requested" ? card.id : null;
    if (id === null) { if (mine !== null) { window.openclaw.send({ type: "unlook" }); mine = null; } } else if (id !== mine) send(id, "looking");
    else if (Date.now() - sentAt > REPEAT_MS) send(id, "still");
    if (read?.childElementCount && Date.now() - readAt > REREAD_MS) reread();
  }, LOOK_EVERY_MS);
  const decides = event => {
    const card = event.target.closest?.(".ap[data-state=requested]");
    if (card && event.target.closest("[data-do=deny], [data-reason], .ap-deny, .always")) send(card.id, "deciding");
  };
  document.addEventListener("click", event => {
    const take = event.target.closest("[data-take]");
    if (take) send(take.dataset.take, "taking"); else decides(event);
  });
  document.addEventListener("input", decides);

  async function reread() {
    if (asked) return;
    asked = true;
    readAt = Date.now();
    try {
      const answer = await fetch(words.watchers, { headers: { "HX-Request": "true" } });
      if (answer.ok) { read = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("watchers"); place(); }
    } catch { /* the next event asks again */ } finally { asked = false; }
  }
  function place() {
    if (!read) return;
    findAll(".ap-watch").forEach(slot => {
      const id = slot.closest(".ap").id;
      const parts = findAll(`[data-for="${id}"], [data-taken="${id}"]`, read);
      const said = parts.map(part => `${"for" in part.dataset} ${part.textContent}`).join("");
      if (slot.dataset.shown === said) return;
      slot.dataset.shown = said;
      slot.replaceChildren(...parts.flatMap(part => [...part.cloneNode(true).childNodes]));
      slot.hidden = !parts.length;
    });
  }
  let soon = 0;
  document.body.addEventListener("approval-watched", () => { clearTimeout(soon); soon = setTimeout(reread, 150); });
  ["live-reconnected", "listener-reconnected"].forEach(name => document.body.addEventListener(name, () => { mine = null; reread(); }));
  document.addEventListener("htmx:after:swap", place);
  reread();
})();
