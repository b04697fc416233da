/* ages: "2 min ago" stays true while a page is open. The server writes the same words. */
(function () {
  "use strict";
  const words = document.getElementById("age-words")?.dataset;
  if (!words) return;
  const now = () => (window.openclaw?.now ? window.openclaw.now() : Date.now());
  function text(at) {
    const seconds = Math.max(0, Math.floor((now() - at) / 1000)), days = Math.floor(seconds / 86400);
    const [number, word] = seconds < 60 ? [seconds, words.s]
      : seconds < 3600 ? [Math.floor(seconds / 60), words.min]
      : seconds < 172800 ? [Math.floor(seconds / 3600), words.h]
      : [days, days === 1 ? words.day : words.days];
    return word.replace("%(number)s", number);
  }
  function renew() {
    document.querySelectorAll("time[data-age]").forEach(node => {
      const written = text(Date.parse(node.dateTime));
      if (node.textContent !== written) node.textContent = written;
    });
  }
  setInterval(renew, 5000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) renew(); });
})();
