/* palette: the field asks the server, this moves through its answer. Focus stays in the field; the list is spoken through
   aria-activedescendant. */
(function () {
  "use strict";
  const { find, findAll, say } = window.openclaw;
  const palette = find("#palette");
  if (!palette) return;
  const input = find("[role=combobox]", palette);
  const list = () => find("#palette-list");
  const options = () => findAll("[role=option]:not([aria-disabled])", list());
  const chosen = () => options().find(option => option.getAttribute("aria-selected") === "true");
  const typed = () => input.value.trim().replace(/\s+/g, " ");
  const isFresh = () => list().dataset.text === typed();
  let isWanted = false; /* Enter was pressed before the answer to what was typed came */

  function mark(option) {
    options().forEach(other => other.setAttribute("aria-selected", String(other === option)));
    if (option) input.setAttribute("aria-activedescendant", option.id); else input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }
  function take(option) {
    if (!option) return;
    option.click();
    if (option.matches("a")) palette.close(); /* a link to a part of this very page leaves the dialog open */
  }
  input.addEventListener("keydown", event => {
    if (event.isComposing) return;
    const all = options();
    const at = all.indexOf(chosen());
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (to !== undefined && all.length) { event.preventDefault(); mark(all[(to + all.length) % all.length]); }
    if (event.key === "Enter") {
      event.preventDefault();
      if (isFresh()) take(chosen()); else isWanted = true;
    }
  });
  input.addEventListener("input", () => { isWanted = false; });
  palette.addEventListener("toggle", () => { if (palette.open) { input.select(); mark(options()[0]); } });
  palette.addEventListener("pointermove", event => { const option = event.target.closest("[role=option]"); if (option && option !== chosen()) mark(option); });
  palette.addEventListener("click", event => {
    if (event.target === palette || event.target.closest("[data-closes]")) palette.close();
  });
  document.addEventListener("htmx:after:swap", () => {
    if (!palette.open || chosen()) return;
    mark(options()[0]);
    say(list().dataset.count);
    if (isWanted && isFresh()) { isWanted = false; take(chosen()); }
  });
})();
