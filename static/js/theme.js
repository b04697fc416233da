/* theme: sets the colours before the first paint; the choice of this browser wins over the one in the settings. */
(function () {
  "use strict";
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  function choice() {
    try { return localStorage.getItem("theme") || root.dataset.theme; } catch { return root.dataset.theme; }
  }
  function apply() {
    const wanted = choice();
    root.dataset.bsTheme = wanted === "dark" || wanted === "light" ? wanted : dark.matches ? "dark" : "light";
    window.dispatchEvent(new Event("themechange"));
  }
  apply();
  dark.addEventListener("change", apply);
  document.addEventListener("click", event => {
    if (!event.target.closest("[data-theme-switch]")) return;
    try { localStorage.setItem("theme", root.dataset.bsTheme === "dark" ? "light" : "dark"); } catch { /* private mode */ }
    apply();
  });
  document.addEventListener("submit", event => {
    if (!event.target.closest("[data-resets-theme]")) return;
    try { localStorage.removeItem("theme"); } catch { /* private mode */ }
  });
})();
