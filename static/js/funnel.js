/* funnel: the preview runs by itself, so its button is not needed; a preview that failed says so. */
(function () {
  "use strict";
  document.querySelectorAll("[data-script-replaces]").forEach(button => { button.hidden = true; });
  const time = document.getElementById("funnel-time");
  const grid = document.getElementById("ag-grid");
  if (!time || !grid) return;
  const failed = () => { time.firstElementChild?.setAttribute("class", "dot bad"); };
  ["htmx:response:error", "htmx:error"].forEach(name => grid.addEventListener(name, event => { if (event.target === grid) failed(); }));
})();
