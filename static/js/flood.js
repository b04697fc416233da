/* flood: a few pieces of news are looked at one by one, many at once by one look at the whole, which then rests. */
(function () {
  "use strict";
  const FEW = 5, GATHER_MS = 150, REST_MS = 1000;
  window.openclaw.flood = function (each, whole) {
    const waiting = new Map();
    let timer = 0, restUntil = -Infinity, wantsWhole = false, isLooking = false;
    function plan() {
      if (timer || isLooking || !(waiting.size || wantsWhole)) return;
      timer = setTimeout(look, Math.max(GATHER_MS, restUntil - performance.now()));
    }
    async function look() {
      timer = 0;
      isLooking = true;
      const news = [...waiting], many = wantsWhole || news.length > FEW;
      waiting.clear();
      wantsWhole = false;
      try {
        if (many) await whole();
        else news.forEach(([id, kind]) => each(kind, id));
      } finally {
        isLooking = false;
        if (many) restUntil = performance.now() + REST_MS;
        plan();
      }
    }
    return {
      hear(kind, id) { if (kind !== "changed" || !waiting.has(id)) waiting.set(id, kind); plan(); },
      look() { wantsWhole = true; plan(); },
    };
  };
})();
