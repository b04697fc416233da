/* choices: switches kept in this browser, <input data-setting="sound" data-default="off">. */
(function () {
  "use strict";
  const read = (name, fallback) => {
    try { return localStorage.getItem(`console.${name}`) || fallback; } catch { return fallback; }
  };
  window.openclaw.choice = (name, fallback) => read(name, fallback) === "on";
  document.querySelectorAll("[data-setting]").forEach(input => {
    input.checked = read(input.dataset.setting, input.dataset.default) === "on";
  });
  document.addEventListener("change", async event => {
    const input = event.target.closest("[data-setting]");
    if (!input) return;
    if (input.dataset.setting === "alerts" && input.checked && "Notification" in window) {
      if (await Notification.requestPermission() !== "granted") input.checked = false;
    }
    try { localStorage.setItem(`console.${input.dataset.setting}`, input.checked ? "on" : "off"); } catch { /* private mode */ }
    document.body.dispatchEvent(new CustomEvent("choice-changed", { detail: { name: input.dataset.setting, on: input.checked } }));
  });
})();
