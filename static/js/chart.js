/* chart: draws [data-chart] with uPlot from the JSON element it names. Colours come from the tokens. */
(function () {
  "use strict";
  const { findAll } = window.openclaw;
  const PARTS = { bars: ["--chart", "--ask-fill", "--deny-fill"], lines: ["--accent", "--draft"] };
  const probe = document.createElement("i");
  probe.hidden = true;
  document.body.append(probe);
  /* canvas cannot read light-dark(): resolve a token through an element */
  function colour(token) {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  }
  const faded = (value, alpha) => value.replace("rgb(", "rgba(").replace(")", `, ${alpha})`);
  const charts = new Map();
  function moment(seconds, span, timeZone) {
    const at = new Date(seconds * 1000);
    if (span > 2 * 86400) return new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "short", timeZone }).format(at);
    const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone };
    return new Intl.DateTimeFormat("en-GB", span <= 600 ? { ...clock, second: "2-digit" } : clock).format(at);
  }
  function stacked(data) {
    const [times, ...parts] = data;
    return [times, ...parts.map((_, from) => times.map((__, at) => parts.slice(from).reduce((sum, part) => sum + part[at], 0)))];
  }
  function draw(element) {
    const source = document.getElementById(element.dataset.chart);
    if (!source) return;
    const given = JSON.parse(source.textContent);
    const isBars = element.dataset.kind === "bars";
    const times = given.data[0];
    if (!times.length || !element.clientWidth) return;
    const span = times[times.length - 1] - times[0], step = given.stepSeconds || (times[1] - times[0]) || 1;
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const axis = { stroke: colour("--text-3"), ticks: { show: false }, font, gap: 4 };
    const colours = (given.colours || PARTS[element.dataset.kind]).map(colour);
    const series = [{}, ...given.data.slice(1).map((_, at) => isBars
      ? { fill: colours[at], stroke: colours[at], width: 0, paths: uPlot.paths.bars({ size: [0.78, 40] }), points: { show: false } }
      : { stroke: colours[at], width: 1.75, fill: at ? undefined : faded(colours[at], 0.1), paths: uPlot.paths.linear(), points: { show: given.data[at + 1].filter(value => value !== null).length < 12, size: 5, fill: colours[at] } })];
    const options = {
      width: element.clientWidth, height: Number(element.dataset.h) || 150, series,
      tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), given.timeZone || "Etc/UTC"),
      legend: { show: false }, padding: [8, 18, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: element.hasAttribute("data-zoom"), y: false, setScale: false } },
      scales: { x: { range: () => [times[0] - step / 2, times[times.length - 1] + step / 2] }, y: { range: (_, low, high) => [0, Math.max(1, high * 1.12)] } },
      axes: [
        { ...axis, size: 24, grid: { show: false }, values: (_, values) => values.map(value => moment(value, span, given.timeZone || "UTC")) },
        { ...axis, size: (_, values) => Math.max(44, 16 + 7 * Math.max(0, ...(values || []).map(value => String(value).length))), grid: { stroke: colour("--line"), width: 1 }, space: element.dataset.h < 140 ? 22 : 34,
          values: (_, values) => values.map(value => given.unit ? value + given.unit : value >= 1000 ? `${value / 1000}k` : value % 1 ? "" : value) },
      ],
      hooks: { setSelect: [plot => {
        if (plot.select.width < 4) return;
        const from = plot.posToVal(plot.select.left, "x"), to = plot.posToVal(plot.select.left + plot.select.width, "x");
        element.dispatchEvent(new CustomEvent("chart-zoom", { bubbles: true, detail: { from, to } }));
      }] },
    };
    charts.get(element)?.destroy();
    element.replaceChildren();
    charts.set(element, new uPlot(options, isBars ? stacked(given.data) : given.data, element));
  }
  function all() {
    for (const [element, plot] of charts) if (!element.isConnected) { plot.destroy(); charts.delete(element); }
    findAll("[data-chart]").forEach(draw);
  }
  window.openclaw.drawCharts = all;
  document.fonts.ready.then(all);
  window.addEventListener("themechange", all);
  document.addEventListener("htmx:after:swap", all);
  let waiting = 0;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(all, 120); });
})();
