// Series as charts. Numbers come first, from /api/v1/points, which reads one index: value line, 95 % interval as a band. A large
// chart (data-href) then gets what each Point is from /api/v1/series/{id}: Changes and epochs as rules, one Point a click. Of a long
// Series both give the extremes of every stretch, and it asks for the Points when it is zoomed. Small charts side by side
// (data-series alone) are drawn from one request; a click opens the Series.
(() => {
  "use strict";
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const two = (number) => String(number).padStart(2, "0");
  const day = (text) => {
    const moment = new Date(text);
    return `${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  };
  const month = (text) => {
    const moment = new Date(text);
    return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}`;
  };
  const clock = (text) => {
    const moment = new Date(text);
    return `${moment.getFullYear()}-${day(text)} ${two(moment.getHours())}:${two(moment.getMinutes())}`;
  };
  const brief = (revision, length) => (/^[0-9a-f]{40,64}$/.test(revision) ? revision.slice(0, length) : revision.slice(0, 24)); // half a version is another one
  // 1,234.5: at most six decimals. Not by Intl, whose first use takes a new page 25 to 60 ms (uplot-begin.js).
  const grouped = (value) => {
    const [whole, decimals] = value.toFixed(6).split(".");
    return `${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${decimals ?? ""}`.replace(/\.?0*$/, "");
  };
  const percent = (effect) => `${effect > 0 ? "+" : "−"}${Math.abs(effect * 100).toFixed(1)} %`;

  // Marks that turn the direction of text, written out as the server does it (perfd/domain/direction.py).
  const upright = (text) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);

  // The index of the last x that is not beyond `place`: x counts in the whole Series, an index only what is drawn.
  function indexOf(xs, place) {
    let low = 0;
    let high = xs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (xs[middle] <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function describe(series, at) {
    const { points, data, display } = series;
    const show = (value) => (value / display.size).toFixed(display.decimals);
    const lines = [`${show(data[1][at])} ${display.unit}`];
    if (data[2][at] !== null) lines[0] += `  [${show(data[2][at])}, ${show(data[3][at])}]`;
    if (!points) return [lines[0], clock(data[4][at] * 1000)];
    lines.push(`Build ${points.build[at].slice(0, 12)}, revision ${brief(points.revision[at], 12)}`);
    if (points.title[at]) lines.push(points.title[at].slice(0, 120));
    lines.push(`${clock(points.measured_at[at])}, ${points.n[at]} Sample${points.n[at] === 1 ? "" : "s"}, on ${points.host[at]}`);
    if (points.occasion[at].startsWith("checkpoint:")) lines.push("◆ a Checkpoint");
    for (const change of series.changes) {
      if (change.index === data[0][at]) lines.push(`${change.effect > 0 ? "▲" : "▼"} Change ${percent(change.effect)}: ${change.word}`);
    }
    return lines.map(upright);
  }

  function calmRange(chart, low, high) {
    // The same least span as the sparklines: noise within four per cent must not look like mountains.
    if (low === null || high === null || low === undefined) return [0, 1];
    const least = Math.abs((low + high) / 2) * 0.04 || 1;
    const missing = Math.max(0, least - (high - low)) / 2;
    const pad = Math.max(high - low, least) * 0.08;
    return [low - missing - pad, high + missing + pad];
  }

  // The first row of words in which nothing stands between left and right; none of the first five: the table below has the words.
  function freeRow(rows, left, right) {
    const row = rows.findIndex((taken) => taken.every(([start, stop]) => right < start || left > stop));
    if (row >= 0) rows[row].push([left, right]);
    return row;
  }

  function rule(chart, at, colour, dash, text, rows) {
    const left = chart.valToPos(at - 0.5, "x", true);
    if (left < chart.bbox.left || left > chart.bbox.left + chart.bbox.width) return;
    const { ctx } = chart;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = ratio;
    ctx.setLineDash(dash.map((length) => length * ratio));
    ctx.beginPath();
    ctx.moveTo(left, chart.bbox.top);
    ctx.lineTo(left, chart.bbox.top + chart.bbox.height);
    ctx.stroke();
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textBaseline = "top";
    const width = ctx.measureText(text).width + 8 * ratio;
    const fits = left + width < chart.bbox.left + chart.bbox.width;
    ctx.textAlign = fits ? "left" : "right";
    const row = fits ? freeRow(rows, left, left + width) : freeRow(rows, left - width, left);
    if (row >= 0) ctx.fillText(text, left + (fits ? 4 : -4) * ratio, chart.bbox.top + (3 + row * 13) * ratio);
    ctx.restore();
  }

  // Levels between the Changes that the Series shows, and two standard deviations of its noise around each.
  function levels(series) {
    const steps = series.changes.filter((one) => one.status === "detected" && (one.kind === "step" || one.kind === "drift"));
    const edges = [-Infinity, ...steps.map((one) => one.index), Infinity];
    const middle = () => {
      const values = series.data[1].filter((value) => value !== null).sort((a, b) => a - b);
      return values[values.length >> 1];
    };
    const heights = steps.length ? [steps[0].before, ...steps.map((one) => one.after)] : [middle()];
    return heights.map((level, at) => ({ level, start: edges[at] - 0.5, stop: edges[at + 1] - 0.5 }));
  }

  function drawLevels(series) {
    return (chart) => {
      const noise = series.verdict ? series.verdict.noise : null;
      const { ctx, bbox } = chart;
      const across = (place) => Math.min(bbox.left + bbox.width, Math.max(bbox.left, chart.valToPos(place, "x", true)));
      const down = (value) => chart.valToPos(value / series.display.size, "y", true);
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      for (const { level, start, stop } of levels(series)) {
        const [left, right] = [Number.isFinite(start) ? across(start) : bbox.left, Number.isFinite(stop) ? across(stop) : bbox.left + bbox.width];
        if (right <= left) continue;
        if (noise) {
          ctx.fillStyle = css("--noise");
          const top = down(level * (1 + 2 * noise));
          ctx.fillRect(left, top, right - left, down(level * (1 - 2 * noise)) - top);
        }
        ctx.strokeStyle = css("--quiet");
        ctx.lineWidth = devicePixelRatio;
        ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
        ctx.beginPath();
        ctx.moveTo(left, down(level));
        ctx.lineTo(right, down(level));
        ctx.stroke();
      }
      ctx.restore();
    };
  }

  // A diamond for a Checkpoint, a square for a Point of another host than most.
  function drawKinds(series, chart) {
    const { occasion, host } = series.points;
    const counts = new Map();
    for (const one of host) counts.set(one, (counts.get(one) ?? 0) + 1);
    const usual = [...counts].sort((a, b) => b[1] - a[1])[0][0];
    const { ctx, bbox } = chart;
    const size = 5 * devicePixelRatio;
    ctx.save();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.strokeStyle = css("--ink");
    occasion.forEach((name, at) => {
      const checkpoint = name.startsWith("checkpoint:");
      if (!checkpoint && host[at] === usual) return;
      const left = chart.valToPos(series.data[0][at], "x", true);
      if (left < bbox.left || left > bbox.left + bbox.width) return;
      const top = chart.valToPos(series.data[1][at] / series.display.size, "y", true);
      ctx.beginPath();
      if (checkpoint) [[0, -1], [1, 0], [0, 1], [-1, 0]].forEach(([x, y], corner) => ctx[corner ? "lineTo" : "moveTo"](left + x * size * 1.3, top + y * size * 1.3));
      else ctx.rect(left - size, top - size, 2 * size, 2 * size);
      ctx.closePath();
      ctx.stroke();
    });
    ctx.restore();
  }

  // A ring with its letter around every Point of a Build that the page marks.
  function drawBuilds(series, builds, chart) {
    const { ctx, bbox } = chart;
    const radius = 7 * devicePixelRatio;
    ctx.save();
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.font = `bold ${12 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    ctx.textBaseline = "bottom";
    builds.forEach(({ letter, build }, place) => {
      ctx.strokeStyle = ctx.fillStyle = css(["--mark-worse", "--third"][place % 2]);
      series.points.build.forEach((one, at) => {
        const left = chart.valToPos(series.data[0][at], "x", true);
        if (one !== build || left < bbox.left || left > bbox.left + bbox.width) return;
        const top = chart.valToPos(series.data[1][at] / series.display.size, "y", true);
        ctx.beginPath();
        ctx.arc(left, top, radius, 0, 2 * Math.PI);
        ctx.stroke();
        ctx.fillText(letter, left, top - radius - 2 * devicePixelRatio);
      });
    });
    ctx.restore();
  }

  const times = (series) => (series.points ? series.points.measured_at.map((text) => Date.parse(text) / 1000) : series.data[4]);
  const utcDay = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

  // The places that lie in the days of the address; null where it names none, or none of them was measured.
  function asked(series) {
    const query = new URLSearchParams(location.search);
    const [from, to] = [Date.parse(query.get("from") ?? ""), Date.parse(query.get("to") ?? "")];
    if (Number.isNaN(from) && Number.isNaN(to)) return null;
    const within = (at) => (Number.isNaN(from) || at * 1000 >= from) && (Number.isNaN(to) || at * 1000 < to + 86400000);
    const places = series.data[0].filter((place, index) => within(times(series)[index]));
    return places.length ? { min: places[0], max: places[places.length - 1] } : null;
  }

  function remember(series, seen) {
    const address = new URL(location.href);
    for (const name of ["from", "to"]) address.searchParams.delete(name);
    if (seen) {
      const days = times(series).filter((at, index) => series.data[0][index] >= seen.min && series.data[0][index] <= seen.max).map(utcDay).sort();
      if (days.length) {
        address.searchParams.set("from", days[0]);
        address.searchParams.set("to", days[days.length - 1]);
      }
    }
    history.replaceState(null, "", address);
    for (const name of ["from", "to"]) {
      const input = document.querySelector(`form.view input[name="${name}"]`);
      if (input) input.value = address.searchParams.get(name) ?? "";
    }
  }

  function marks(series, builds) {
    return (chart) => {
      if (series.points) {
        drawKinds(series, chart);
        drawBuilds(series, builds, chart);
      }
      const rows = [[], [], [], [], []];
      for (const change of series.changes) {
        const colour = change.word.startsWith("worse") ? css("--mark-worse") : css("--mark-better");
        rule(chart, change.index, colour, change.status === "detected" ? [] : [5, 4], `${change.effect > 0 ? "▲" : "▼"} ${percent(change.effect)} ${change.word}`, rows);
      }
      for (const epoch of series.epochs) rule(chart, epoch.index, css("--epoch"), [2, 3], epoch.word, rows);
    };
  }

  const margin = 0.6; // places left free on either side

  function options(series, width, height, hooks, log) {
    const axis = { stroke: css("--quiet"), grid: { stroke: css("--rule"), width: 1 }, ticks: { stroke: css("--rule"), width: 1 }, font: "11px system-ui, sans-serif" };
    const { points, data } = series;
    const when = times(series);
    const date = when[when.length - 1] - when[0] > 360 * 86400 ? month : day; // a day without its year would be any year's
    const label = (place) => {
      const at = indexOf(data[0], place);
      if (!Number.isInteger(place) || place < data[0][0] || place > data[0][data[0].length - 1]) return "";
      return points ? `${date(points.measured_at[at])}\n${brief(points.revision[at], 7)}` : date(data[4][at] * 1000);
    };
    const dot = (chart, which) => (which === 1 ? css("--line") : "transparent"); // the interval's ends have none
    const edge = { stroke: "transparent", width: 0, points: { show: false } };
    return {
      width,
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false }, points: { size: 9, width: 2, fill: dot, stroke: dot } },
      scales: { x: { time: false, range: (chart, low, high) => [low - margin, high + margin] }, y: log ? { distr: 3 } : { range: calmRange } },
      axes: [
        { ...axis, size: 44, space: 88, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000], values: (chart, splits) => splits.map(label) },
        { ...axis, size: 64, values: (chart, splits) => splits.map((value) => (typeof value === "number" ? grouped(value) : null)) },
      ],
      series: [
        {},
        { stroke: css("--line"), width: 1.5, points: { show: data[0].length <= 200, size: 5, stroke: css("--line"), fill: css("--page") } },
        edge,
        edge,
      ],
      bands: [{ series: [3, 2], fill: css("--interval") }],
      hooks,
    };
  }

  function scale(series) {
    const { size } = series.display;
    const columns = series.data.slice(1, 4).map((column) => column.map((value) => (value === null ? null : value / size)));
    return [series.data[0], ...columns];
  }

  // Draws the numbers; answers a function that takes the same Points with all that is known of them.
  function draw(figure, drawn, small) {
    const plot = figure.querySelector(".plot");
    const readout = figure.querySelector(".readout");
    const tip = figure.querySelector(".tip");
    let whole = drawn;
    let series = whole;
    let scaled = scale(series);
    let chart;
    let chosen = null;
    let zoomed = null;
    const log = figure.dataset.log === "yes";

    const point = (index) => {
      chosen = index;
      if (index === null || index === undefined) {
        tip.hidden = true;
        return;
      }
      const lines = describe(series, index);
      if (readout) readout.textContent = lines.join(" · ");
      tip.textContent = lines.join("\n");
      tip.hidden = false;
      const left = chart.over.offsetLeft + chart.valToPos(scaled[0][index], "x");
      const top = chart.over.offsetTop + chart.valToPos(scaled[1][index], "y");
      const beside = left + 14 + tip.offsetWidth <= plot.offsetWidth ? left + 14 : Math.max(0, left - 14 - tip.offsetWidth);
      tip.style.left = `${beside}px`;
      tip.style.top = `${Math.max(0, top - tip.offsetHeight - 10)}px`;
    };
    const open = () => {
      if (small) location.href = `/series/${figure.dataset.series}`;
      else if (series.points && chosen !== null && chosen !== undefined) location.href = `/runs/${encodeURIComponent(series.points.run[chosen])}`;
    };
    const show = (now) => {
      series = now;
      scaled = scale(series);
      point(null);
    };
    // Zoomed into a long Series: the Points of that stretch come in place of the extremes of longer ones.
    const look = async () => {
      if (small || !series.decimated) return;
      const { min, max } = zoomed;
      const [start, stop] = [Math.max(0, Math.floor(min)), Math.ceil(max) + 1];
      const answer = await fetch(`${figure.dataset.href}?start=${start}&stop=${stop}`);
      if (!answer.ok) return;
      show(shown(figure, await answer.json()));
      make();
    };
    const zoom = () => {
      if (small) return;
      const { min, max } = chart.scales.x;
      zoomed = { min: min + margin, max: max - margin };
      remember(series, zoomed);
      look();
    };
    const out = () => {
      if (small) return;
      zoomed = null;
      remember(series, null);
      if (series !== whole) show(whole);
      make();
    };
    const builds = JSON.parse(figure.dataset.builds ?? "[]");
    const marked = (self) => !small && marks(series, builds)(self);
    const under = (self) => !small && series.points && drawLevels(series)(self); // before, no Change is known, nor any level
    const make = () => {
      if (chart) chart.destroy();
      const size = [plot.clientWidth, small ? 150 : plot.clientWidth < 500 ? 240 : 300];
      const hooks = { drawClear: [under], draw: [marked], setCursor: [(self) => point(self.cursor.idx)], setSelect: [(self) => self.select.width > 0 && setTimeout(zoom)] };
      chart = new uPlot(options(series, ...size, hooks, log), scaled, plot);
      if (zoomed) chart.setScale("x", zoomed);
      if (chosen !== null && chosen !== undefined) point(chosen);
      let pressed = 0;
      chart.over.addEventListener("mousedown", (event) => (pressed = event.clientX));
      chart.over.addEventListener("click", (event) => Math.abs(event.clientX - pressed) < 4 && open());
      chart.over.addEventListener("dblclick", () => setTimeout(out));
      figure.dataset.drawn = "yes";
      figure.dataset.points = scaled[0].length;
    };
    const move = (index) => {
      const left = chart.valToPos(scaled[0][index], "x");
      chart.setCursor({ left, top: chart.valToPos(scaled[1][index], "y") });
    };
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
    figure.addEventListener("keydown", (event) => {
      const last = scaled[0].length - 1;
      if (event.key === "Enter") open();
      else if (event.key === "Home") move(0);
      else if (event.key === "End") move(last);
      else if (event.key in steps) move(Math.min(last, Math.max(0, (chosen ?? last + 1) + steps[event.key])));
      else return;
      event.preventDefault();
    });
    if (!small) zoomed = asked(series);
    if (!small && !zoomed && /[?&](from|to)=[0-9]/.test(location.search)) {
      figure.after(Object.assign(document.createElement("p"), { className: "note", textContent: "No Point lies in these days, so all are drawn." }));
    }
    make();
    addEventListener("resize", make);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", make);
    return (told) => {
      const looking = series === whole; // otherwise somebody has zoomed already, and keeps what is seen
      whole = told;
      if (!looking) return;
      series = whole;
      scaled = scale(series);
      make(); // the axis names Revisions from now on, too
      if (zoomed) look();
    };
  }

  // Where the page shows a ratio, every number is divided by the one that the page names.
  function shown(figure, told) {
    const { ratio, size, unit, decimals } = figure.dataset;
    return ratio ? { ...told, display: { size: Number(size), unit, decimals: Number(decimals) } } : told;
  }

  function trouble(figure, why) {
    const said = document.createElement("p");
    said.className = "alarm";
    said.textContent = `The chart cannot be drawn: ${why}. The table holds the same numbers; load the page again to try once more.`;
    figure.querySelector(".plot").replaceChildren(said);
  }

  async function read(address) {
    const answer = await fetch(address);
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error ?? `HTTP ${answer.status}`);
    return told;
  }

  function plain(figure, one) {
    const { size, unit, decimals } = figure.dataset;
    return { ...one, changes: [], epochs: [], display: { size: Number(size), unit, decimals: Number(decimals) } };
  }

  async function large(figure) {
    try {
      const numbers = await read(figure.dataset.numbers);
      if (!numbers.series.length || !numbers.series[0].data[0].length) return;
      const tell = draw(figure, plain(figure, numbers.series[0]), false);
      tell(shown(figure, await read(figure.dataset.href)));
      figure.dataset.detailed = "yes";
    } catch (error) {
      trouble(figure, error.message);
    }
  }

  async function small(figures) {
    if (!figures.length) return;
    try {
      const told = await read(document.querySelector("[data-charts]").dataset.charts);
      const byId = new Map(told.series.map((one) => [String(one.id), one]));
      for (const figure of figures) {
        const one = byId.get(figure.dataset.series);
        if (one && one.data[0].length) draw(figure, plain(figure, one), true);
        else trouble(figure, "it has no Points");
      }
      document.documentElement.dataset.charts = "drawn";
    } catch (error) {
      figures.forEach((figure) => trouble(figure, error.message));
    }
  }

  const figures = [...document.querySelectorAll("figure.chart")];
  figures.filter((figure) => figure.dataset.href).forEach(large);
  small(figures.filter((figure) => !figure.dataset.href));
})();
