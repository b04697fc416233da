/* shell: menu, disclosures, dialogs, tabs, copying. Delegated from document, so swaps need no re-binding. */
(function () {
  "use strict";
  const find = (selector, root) => (root || document).querySelector(selector);
  const findAll = (selector, root) => [...(root || document).querySelectorAll(selector)];
  const say = text => { const node = find("#announce"); if (node) node.textContent = text; };
  /* one note above the page: an alert that is read aloud when it comes */
  function flash(kind, text) {
    const note = document.createElement("div");
    note.className = `note ${kind} mb3`;
    note.setAttribute("role", "alert");
    note.textContent = text;
    if (find("#flash")?.textContent !== text) find("#flash")?.replaceChildren(note);
  }
  window.openclaw = { say, find, findAll, flash };

  /* what a control opens: <button data-show="#id" aria-expanded aria-controls> */
  function toggle(button, open) {
    const panel = find(button.dataset.show);
    if (!panel) return;
    panel.hidden = !open;
    findAll(`[data-show="${button.dataset.show}"]`).forEach(twin => twin.setAttribute("aria-expanded", String(open)));
    if (open) (find("input:not([type=hidden]), select, textarea", panel) || find("button, a[href]", panel))?.focus();
  }
  function closePops(except) {
    findAll("[data-show][aria-expanded=true]").forEach(button => {
      const panel = find(button.dataset.show);
      if (!panel || !panel.matches("[data-pop]") || panel.contains(except) || button.contains(except)) return;
      toggle(button, false);
    });
  }
  let navOpener = null;
  function nav(open, by) {
    const side = find("#nav");
    if (!side) return;
    if (open) navOpener = by;
    side.classList.toggle("open", open);
    findAll("[data-nav-toggle]").forEach(button => button.setAttribute("aria-expanded", String(open)));
    if (open) find("a", side)?.focus();
  }
  document.addEventListener("click", event => {
    const target = event.target;
    closePops(target);
    const opener = target.closest("[data-nav-toggle]");
    if (opener) { event.preventDefault(); nav(!find("#nav").classList.contains("open"), opener); } else if (!target.closest("#nav")) nav(false);
    const show = target.closest("[data-show]");
    if (show) toggle(show, find(show.dataset.show)?.hidden === true);
    const hide = target.closest("[data-hide]");
    if (hide) { const button = find(`[data-show="${hide.dataset.hide}"]`); if (button) { toggle(button, false); button.focus(); } }
    const dialog = target.closest("[data-dialog]");
    if (dialog && !(event.ctrlKey || event.metaKey)) { event.preventDefault(); openDialog(find(dialog.dataset.dialog)); }
    const tab = target.closest("[role=tab]");
    if (tab) pick(tab);
    const copy = target.closest("[data-copy]");
    if (copy) copyText(copy);
    if (target.closest("[data-reload]")) location.reload();
  });
  document.addEventListener("keydown", event => {
    if (event.key === "Escape") {
      const open = findAll("[data-show][aria-expanded=true]").find(button => find(button.dataset.show)?.contains(document.activeElement));
      if (open) { toggle(open, false); open.focus(); event.preventDefault(); } // one key closes one thing
      if (find("#nav.open")) { nav(false); navOpener?.focus(); }
    }
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k" && find("#palette")) {
      event.preventDefault();
      openDialog(find("#palette"));
    }
  });
  function openDialog(dialog) {
    if (!dialog || dialog.open) return;
    dialog.showModal();
    find("input, button", dialog)?.focus();
  }

  /* copying: data-copy holds the text, or the id of the element whose text is meant */
  async function copyText(button) {
    const source = button.dataset.copy;
    const text = source.startsWith("#") ? find(source)?.textContent ?? "" : source;
    try {
      await navigator.clipboard.writeText(text);
      say(button.dataset.copied || "");
      button.dataset.done = "true";
      setTimeout(() => delete button.dataset.done, 1500);
    } catch { /* no clipboard: the text stays selectable */ }
  }

  /* a link to something inside closed details opens them */
  const unfold = () => { const aim = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1))); const box = aim && aim.closest("details"); if (box) box.open = true; };
  addEventListener("hashchange", unfold);
  unfold();

  /* tabs: <button role=tab aria-controls=id> */
  function pick(tab) {
    findAll("[role=tab]", tab.closest("[role=tablist]")).forEach(other => {
      const on = other === tab;
      other.setAttribute("aria-selected", String(on));
      other.tabIndex = on ? 0 : -1;
      const panel = document.getElementById(other.getAttribute("aria-controls"));
      if (panel) panel.hidden = !on;
    });
  }
  document.addEventListener("keydown", event => {
    const tab = event.target.closest?.("[role=tab]");
    if (!tab || (event.key !== "ArrowRight" && event.key !== "ArrowLeft")) return;
    const all = findAll("[role=tab]", tab.closest("[role=tablist]"));
    const next = all[(all.indexOf(tab) + (event.key === "ArrowRight" ? 1 : -1) + all.length) % all.length];
    next.focus();
    pick(next);
  });
  if (location.hash) { const tab = find(`[role=tab][aria-controls="${CSS.escape(location.hash.slice(1))}"]`); if (tab) pick(tab); }

  /* a request that never arrived; the last word about it goes when another one succeeds */
  document.addEventListener("htmx:error", event => {
    if (event.detail?.ctx?.request && event.detail.error?.name !== "AbortError") flash("deny", find("#flash")?.dataset.failed);
  });
  document.addEventListener("htmx:after:request", event => { if (event.detail?.ctx?.response?.status < 400) find("#flash")?.replaceChildren(); });

  /* the socket says that an export of this person has ended; where its files are listed that is seen anyway */
  document.addEventListener("export-ended", () => {
    const note = find("#export-ended");
    if (!note || find("#export-list")?.checkVisibility()) return;
    note.hidden = false;
    say(note.textContent.trim());
  });

  /* forms that send themselves when a choice changes; without scripts their button does it */
  document.addEventListener("change", event => { const form = event.target.closest("form[data-autosend]"); if (form) form.requestSubmit(); });
  findAll("[data-without-script]").forEach(element => { element.hidden = true; });
})();
