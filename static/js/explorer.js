/* explorer: the filter box narrows the table in the browser; after a tool was opened, focus goes to its trace. */
(function () {
  "use strict";
  const { find, findAll, say } = window.openclaw;
  let wanted = "", opening = false;
  function filter() {
    const box = find("[data-filter]"), table = find("#verdicts");
    if (!box || !table) return;
    let shown = 0;
    findAll("[data-section]", table).forEach(section => {
      let any = false;
      findAll("[data-tool]", section).forEach(row => {
        row.hidden = !row.dataset.tool.includes(wanted);
        if (!row.hidden) { any = true; shown += 1; }
      });
      section.hidden = !any;
    });
    return shown;
  }
  function prepare() {
    findAll("[data-script-replaces]").forEach(button => { button.hidden = true; });
    const box = find("[data-filter]");
    if (box && box.hidden) { box.hidden = false; box.value = wanted; }
    filter();
  }
  document.addEventListener("input", event => {
    const box = event.target.closest("[data-filter]");
    if (!box) return;
    wanted = box.value.trim().toLowerCase();
    const shown = filter();
    say(shown ? String(shown) : box.dataset.none);
  });
  document.addEventListener("click", event => { if (event.target.closest("[data-opens-trace]")) opening = true; });
  document.addEventListener("htmx:after:swap", () => {
    prepare();
    const trace = opening && find("#trace");
    opening = false;
    if (trace) { trace.focus({ preventScroll: true }); trace.scrollIntoView({ block: "start" }); }
  });
  prepare();
})();
