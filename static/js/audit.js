/* audit: rows, drawer, zoom, what is new. Without it every row is still a link. */
(function () {
  "use strict";
  const { find, findAll } = window.openclaw;
  const grid = find("#audit-grid");
  if (!grid) return;
  const drawer = find("#drawer");
  const links = () => findAll("#calls .call-link");
  const current = () => find("#calls .call-link[aria-current]");
  let opener = null;

  function mark(link) {
    links().forEach(other => { if (other === link) other.setAttribute("aria-current", "true"); else other.removeAttribute("aria-current"); });
  }
  function show(open) {
    if (drawer.hidden !== open) return;
    drawer.hidden = !open;
    grid.classList.toggle("has-drawer", open);
    window.openclaw.drawCharts?.();
  }
  document.addEventListener("click", event => {
    const link = event.target.closest("#calls .call-link");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) { mark(link); opener = link.closest("tr").id; }
    const row = event.target.closest("#calls tbody tr");
    if (row && !link && !event.target.closest("a, button") && !String(getSelection())) find(".call-link", row)?.click();
    const step = event.target.closest("[data-step]");
    if (step) move(Number(step.dataset.step), false);
    if (event.target.closest("[data-close-drawer]")) close();
  });
  function move(by, focus) {
    const all = links();
    if (!all.length) return;
    const next = all[Math.min(all.length - 1, Math.max(0, all.indexOf(current()) + by))];
    next.click();
    if (focus) next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
  function close() {
    const row = opener && document.getElementById(opener);
    mark(null);
    show(false);
    const url = new URL(location.href);
    url.searchParams.delete("call");
    history.pushState(history.state, "", url);
    (row ? find(".call-link", row) : find("#filters input"))?.focus();
  }
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.closest("#calls")) { event.preventDefault(); move(event.key === "ArrowDown" ? 1 : -1, true); }
    if (event.key === "Escape" && !event.defaultPrevented && !drawer.hidden && !find("dialog[open]") && !event.target.closest("input, select")) close();
  });
  document.addEventListener("htmx:after:swap", event => {
    const target = event.detail?.ctx?.target;
    if (target === drawer || target?.id === "drawer") {
      show(true);
      if (matchMedia("(max-width: 999px)").matches) { drawer.focus(); drawer.scrollIntoView({ block: "start" }); }
    }
    if (target?.id === "audit") settle();
  });
  /* a morph keeps what a person chose in a control; after a chip was removed the controls must say so */
  function settle() {
    findAll("#filters select").forEach(select => { const chosen = find("option[selected]", select); select.value = chosen ? chosen.value : select.options[0].value; });
    const search = find("#filters input[name=q]");
    if (search !== document.activeElement) search.value = search.getAttribute("value") || "";
    findAll("[data-current-query]").forEach(input => { input.value = find("#audit").dataset.query; });
    const wanted = new URL(location.href).searchParams.get("call");
    if (!drawer.hidden && wanted) mark(find(`#row-${CSS.escape(wanted)} .call-link`));
    find("#new-calls")?.replaceChildren();
  }

  /* a choice is a search at once; words are one when they are sent: each search is recorded */
  document.addEventListener("change", event => {
    if (event.target.matches("#filters [data-submits]")) event.target.form.requestSubmit();
  });

  /* dragging over the chart chooses a span */
  document.addEventListener("chart-zoom", event => {
    const url = new URL(location.href);
    const iso = seconds => new Date(Math.round(seconds) * 1000).toISOString().replace(".000Z", "+00:00");
    ["after", "before", "call", "span"].forEach(name => url.searchParams.delete(name));
    url.searchParams.set("since", iso(event.detail.from));
    url.searchParams.set("until", iso(event.detail.to));
    const path = url.pathname + url.search;
    htmx.ajax("GET", path, { target: "#audit", swap: "outerMorph", push: path });
  });

  /* the socket says that the ledger grew; how much of it these filters select is the server's answer */
  let asked = 0, tailing = null;
  const tail = find("[data-tail]");
  tail?.addEventListener("click", () => {
    const on = tail.getAttribute("aria-pressed") !== "true";
    tail.setAttribute("aria-pressed", String(on));
    if (on) follow();
  });
  const isTailing = () => tail?.getAttribute("aria-pressed") === "true";
  function follow() {
    clearTimeout(tailing);
    const list = find("#audit");
    if (!isTailing() || !find("#new-calls")?.hasAttribute("data-first")) return;
    const query = list.dataset.query;
    htmx.ajax("GET", `${list.dataset.url}?${query ? `${query}&` : ""}look=${encodeURIComponent(list.dataset.look)}`, { target: "#audit", swap: "outerMorph" });
  }
  document.body.addEventListener("live-state", event => { if (event.detail.state === "live") window.openclaw.send?.({ type: "watch" }); });
  document.body.addEventListener("audit-recorded", () => {
    const place = find("#new-calls");
    if (!place?.hasAttribute("data-first") || Date.now() - asked < 1000) return;
    asked = Date.now();
    if (isTailing()) { clearTimeout(tailing); tailing = setTimeout(follow, 1000); return; }
    const query = find("#audit").dataset.query;
    htmx.ajax("GET", `${place.dataset.url}?${query ? `${query}&` : ""}newest=${encodeURIComponent(place.dataset.newest)}`, { target: "#new-calls", swap: "innerHTML" });
  });
})();
