// Several lines in one chart by time: Series that are laid over one another (data-numbers), or formulas whose values stand in the
// page (data-columns). Every line has its colour, its dashes and its mark in the legend, and a zoom by dragging.
(() => {
  "use strict";
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colours = ["--line", "--mark-worse", "--third", "--fourth"];
  const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
  const look = (at) => ({ stroke: css(colours[at % colours.length]), dash: dashes[Math.floor(at / colours.length + at) % dashes.length] });
  const two = (number) => String(number).padStart(2, "0");
  // Ticks of the time axis, written as everywhere else: months, days, or hours with the day below where it changes.
  const ticks = (_, splits, __, ___, step) => {
    const years = splits[splits.length - 1] - splits[0] > 360 * 86400;
    return splits.map((seconds, place) => {
      const at = new Date(seconds * 1000);
      const day = `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
      if (years) return `${at.getFullYear()}-${two(at.getMonth() + 1)}`;
      if (step >= 86400) return day;
      const fresh = place === 0 || new Date(splits[place - 1] * 1000).getDate() !== at.getDate();
      return `${two(at.getHours())}:${two(at.getMinutes())}${fresh ? `\n${day}` : ""}`;
    });
  };
  const when = (seconds) => {
    const at = new Date(seconds * 1000);
    return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  };

  // As calm as a chart of one Series: at least four per cent of the value is shown, and a line of nothing but zeros runs in the middle.
  function calmRange(_, low, high) {
    if (low === null || high === null || low === undefined) return [0, 1];
    const least = Math.abs((low + high) / 2) * 0.04 || 1;
    const missing = Math.max(0, least - (high - low)) / 2;
    const pad = Math.max(high - low, least) * 0.08;
    return [low - missing - pad, high + missing + pad];
  }

  function legend(figure, lines) {
    const list = figure.querySelector(".legend");
    lines.forEach((line, at) => {
      const item = document.createElement("li");
      const { stroke, dash } = look(at);
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const stretch = document.createElementNS("http://www.w3.org/2000/svg", "line");
      for (const [name, value] of [["width", 34], ["height", 8], ["aria-hidden", "true"]]) svg.setAttribute(name, value);
      for (const [name, value] of [["x1", 0], ["x2", 34], ["y1", 4], ["y2", 4], ["stroke", stroke], ["stroke-width", 2], ["stroke-dasharray", dash.join(" ")]]) stretch.setAttribute(name, value);
      svg.append(stretch);
      item.append(svg, line.label);
      list.append(item);
    });
  }

  // Of each Series its times in order; the last of two Points at one moment stands.
  function ordered(data, size) {
    const pairs = data[4].map((at, index) => [at, data[1][index] / size]).sort((a, b) => a[0] - b[0]);
    const kept = pairs.filter(([at], index) => index === pairs.length - 1 || pairs[index + 1][0] !== at);
    return [kept.map(([at]) => at), kept.map(([, value]) => value)];
  }

  async function columns(figure, lines) {
    if (figure.dataset.columns) return JSON.parse(figure.dataset.columns);
    const answer = await fetch(figure.dataset.numbers);
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error ?? `HTTP ${answer.status}`);
    const byId = new Map(told.series.map((one) => [one.id, one]));
    return uPlot.join(lines.map((line) => ordered(byId.get(line.id).data, line.size)));
  }

  function draw(figure, lines, data) {
    const plot = figure.querySelector(".plot");
    const readout = figure.querySelector(".readout");
    const log = figure.dataset.log === "yes";
    const axis = { stroke: css("--quiet"), grid: { stroke: css("--rule"), width: 1 }, ticks: { stroke: css("--rule"), width: 1 }, font: "11px system-ui, sans-serif" };
    let chart;
    let chosen = null;
    const read = (index) => {
      if (index === null || index === undefined) return;
      chosen = index;
      // A line that was not measured at this very moment says its last value before.
      const last = (column) => {
        for (let at = index; at >= 0; at -= 1) if (column[at] !== null && column[at] !== undefined) return column[at];
        return null;
      };
      const told = lines.map((line, at) => [line, last(data[at + 1])]);
      readout.textContent = [when(data[0][index]), ...told.map(([line, value]) => `${line.label}: ${value === null ? "none yet" : `${value.toFixed(line.decimals)} ${line.unit}`}`)].join(" · ");
    };
    const query = new URLSearchParams(location.search);
    const [from, to] = ["from", "to"].map((name) => Date.parse(query.get(name) ?? "") / 1000);
    const make = () => {
      if (chart) chart.destroy();
      chart = new uPlot(
        {
          width: plot.clientWidth,
          height: plot.clientWidth < 500 ? 240 : 300,
          legend: { show: false },
          cursor: { y: false, drag: { x: true, y: false } },
          scales: { x: { time: true }, y: log ? { distr: 3 } : { range: calmRange } },
          axes: [{ ...axis, space: 80, values: ticks }, { ...axis, size: 64 }],
          series: [{}, ...lines.map((line, at) => ({ ...look(at), width: 1.6, spanGaps: true, points: { show: data[0].length <= 120, size: 4 } }))],
          hooks: { setCursor: [(self) => read(self.cursor.idx)] },
        },
        data,
        plot,
      );
      if (!Number.isNaN(from) || !Number.isNaN(to)) {
        const [min, max] = [Number.isNaN(from) ? data[0][0] : from, Number.isNaN(to) ? data[0][data[0].length - 1] : to + 86400];
        if (max > min) chart.setScale("x", { min, max });
      }
      figure.dataset.drawn = "yes";
    };
    figure.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
      if (!(event.key in steps)) return;
      const last = data[0].length - 1;
      const next = Math.min(last, Math.max(0, (chosen ?? last + 1) + steps[event.key]));
      chart.setCursor({ left: chart.valToPos(data[0][next], "x"), top: 10 });
      read(next);
      event.preventDefault();
    });
    make();
    addEventListener("resize", make);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", make);
  }

  async function show(figure) {
    const lines = JSON.parse(figure.dataset.lines);
    try {
      const data = await columns(figure, lines);
      legend(figure, lines);
      draw(figure, lines, data);
    } catch (error) {
      const said = document.createElement("p");
      said.className = "alarm";
      said.textContent = `The chart cannot be drawn: ${error.message}. The table holds the last values; load the page again to try once more.`;
      figure.querySelector(".plot").replaceChildren(said);
    }
  }

  document.querySelectorAll("figure.lines").forEach(show);
})();
