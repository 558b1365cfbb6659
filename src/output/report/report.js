"use strict";
// Draws the figures of the page from the JSON in it. Text goes in as text, never as HTML.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const COLOURS = 7;
  const ROWS = 500;
  document.documentElement.classList.add("js");

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === true) element.setAttribute(name, "");
      else if (value !== false && value != null) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child != null));
    return element;
  }
  const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const button = (text, press, attributes) => {
    const element = html("button", { type: "button", ...attributes }, text);
    element.addEventListener("click", () => press(element));
    return element;
  };
  const pressed = (element, on) => element.setAttribute("aria-pressed", on ? "true" : "false");
  const finite = (x) => typeof x === "number" && Number.isFinite(x);
  const show = (x) => (finite(x) ? String(Number(x.toPrecision(5))) : "none");
  const round = (x) => Math.round(x * 100) / 100;

  // Scales: values to pixels, with ticks.

  function step(width, count) {
    const raw = width / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const factor = [1, 2, 5, 10].find((f) => f * power >= raw * 0.999) || 10;
    return factor * power;
  }

  function evenTicks(low, high, count) {
    const width = step(high - low, count);
    const ticks = [];
    const first = Math.ceil(low / width - 1e-9);
    for (let i = 0; i < 50 && (first + i) * width <= high + width * 1e-9; i++) ticks.push((first + i) * width);
    const decimals = Math.min(Math.max(0, -Math.floor(Math.log10(width) + 1e-9)), 12);
    const large = Math.max(Math.abs(low), Math.abs(high)) >= 1e6 || width < 1e-5;
    const label = (x) => (large ? String(Number(x.toPrecision(4))) : x.toFixed(decimals)).replace(/^-(0(\.0*)?)$/, "$1");
    return ticks.map((value) => ({ value, label: label(value) }));
  }

  function logTicks(low, high, count) {
    const [first, last] = [Math.ceil(low - 1e-9), Math.floor(high + 1e-9)];
    const stride = Math.max(1, Math.ceil((last - first + 1) / Math.max(count, 2)));
    const ticks = [];
    for (let e = first; e <= last; e += stride) ticks.push({ value: 10 ** e, label: tenTo(e) });
    if (ticks.length > 2 || (ticks.length > 1 && count < 3)) return ticks;
    const finer = [];
    for (let e = Math.floor(low); e <= last; e++) {
      for (const factor of [1, 2, 5]) {
        const at = e + Math.log10(factor);
        if (at >= low - 1e-9 && at <= high + 1e-9) finer.push({ value: 10 ** at, label: show(10 ** at) });
      }
    }
    return finer.length > 1 ? finer.filter((_, i) => i % Math.ceil(finer.length / Math.max(count, 2)) === 0)
      : evenTicks(10 ** low, 10 ** high, count).filter((tick) => tick.value > 0);
  }

  function tenTo(e) {
    if (e >= -3 && e <= 4) return e < 0 ? (10 ** e).toFixed(-e) : String(10 ** e);
    return "1e" + e;
  }

  // A scale over values; null when none of them has a place on it.
  function scale(values, log, start, end, count, zero) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      if (!finite(value) || (log && value <= 0)) continue;
      const at = log ? Math.log10(value) : Math.max(-1e300, Math.min(1e300, value));
      low = Math.min(low, at);
      high = Math.max(high, at);
    }
    if (low > high) return null;
    if (!log && (zero || (low > 0 && low < 0.5 * high))) low = Math.min(low, 0);
    const floor = low;
    if (high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high))) {
      const room = log ? 0.5 : Math.abs(low) * 0.1 || 1;
      [low, high] = [low - room, high + room];
    } else {
      const room = 0.03 * (high - low);
      [low, high] = [low - room, high + room];
      if (!log && floor === 0) low = 0;
    }
    const to = (value) => {
      const at = log ? (value > 0 ? Math.log10(value) : low) : value;
      return start + ((Math.max(low, Math.min(high, at)) - low) / (high - low)) * (end - start);
    };
    const ticks = log ? logTicks(low, high, count) : evenTicks(low, high, count);
    const has = (value) => finite(value) && (!log || value > 0);
    return { to, has, ticks, base: log || low > 0 ? to(log ? 10 ** low : low) : to(high < 0 ? high : 0) };
  }

  // Marks, a shape for each series.

  const POINTS = {
    square: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
    triangle: [[0, -1.25], [1.2, 0.9], [-1.2, 0.9]],
    diamond: [[0, -1.4], [1.4, 0], [0, 1.4], [-1.4, 0]],
    nabla: [[0, 1.25], [1.2, -0.9], [-1.2, -0.9]],
  };
  const SHAPES = ["circle", "square", "triangle", "diamond", "nabla"];
  function mark(index, x, y, size = 3.5) {
    const shape = SHAPES[index % SHAPES.length];
    const look = { class: "mark" + (Math.floor(index / SHAPES.length) % 2 ? " solid" : "") };
    if (shape === "circle") return svg("circle", { ...look, cx: round(x), cy: round(y), r: size });
    const corners = POINTS[shape].map(([dx, dy]) => round(x + dx * size) + "," + round(y + dy * size)).join(" ");
    return svg("polygon", { ...look, points: corners });
  }

  // Series with their colour and mark; theory has those of the simulated series before it.
  function dress(series) {
    let count = 0;
    let simulated = null;
    return series.map((own) => {
      if (own.kind !== "theory" || simulated === null) {
        const place = count++;
        if (own.kind !== "theory") simulated = place;
        return { ...own, place, colour: "k" + (place % COLOURS), on: true };
      }
      return { ...own, place: simulated, colour: "k" + (simulated % COLOURS), on: true };
    });
  }

  function swatch(series) {
    const picture = svg("svg", { width: 26, height: 14, class: series.colour, "aria-hidden": "true" });
    if (series.kind === "bars") picture.append(svg("rect", { class: "bar", x: 6, y: 2, width: 14, height: 10 }));
    else {
      picture.append(svg("path", { class: "line" + (series.kind === "theory" ? " dashed" : ""), d: "M1 7H25" }));
      if (series.kind === "estimates" || (series.kind === "curve" && series.marked)) picture.append(mark(series.place, 13, 7));
    }
    return picture;
  }

  // Stretches of points without a gap between them.
  function stretches(points, x, y) {
    const found = [[]];
    for (const point of points) {
      if (x.has(point[0]) && y.has(point[1])) found[found.length - 1].push(point);
      else if (found[found.length - 1].length) found.push([]);
    }
    return found.filter((stretch) => stretch.length);
  }

  function barWidth(points, x) {
    const places = points.filter((point) => x.has(point[0])).map((point) => x.to(point[0])).sort((a, b) => a - b);
    let gap = 40;
    for (let i = 1; i < places.length; i++) if (places[i] - places[i - 1] > 0.01) gap = Math.min(gap, places[i] - places[i - 1]);
    return Math.max(1, gap * 0.8);
  }

  function drawSeries(series, x, y, targets) {
    const group = svg("g", { class: series.colour });
    const parts = stretches(series.points, x, y);
    for (const part of parts) for (const point of part) targets.push({ px: x.to(point[0]), py: y.to(point[1]), point, series });
    if (series.kind === "bars") {
      const width = barWidth(series.points, x);
      for (const point of parts.flat()) {
        const [top, bottom] = [Math.min(y.to(point[1]), y.base), Math.max(y.to(point[1]), y.base)];
        group.append(svg("rect", { class: "bar", x: round(x.to(point[0]) - width / 2), y: round(top), width: round(width), height: round(bottom - top) }));
      }
    }
    const marks = [];
    for (const part of parts) {
      if (series.kind === "bars") break;
      const path = part.map((point, i) => (i ? "L" : "M") + round(x.to(point[0])) + " " + round(y.to(point[1]))).join("");
      const alone = part.length === 1;
      if (alone && series.kind !== "estimates") {
        const [px, py] = [x.to(part[0][0]), y.to(part[0][1])];
        group.append(svg("path", { class: "line", d: "M" + round(px - 6) + " " + round(py) + "h12" }));
      } else group.append(svg("path", { class: "line" + (series.kind === "theory" ? " dashed" : ""), d: path }));
      if (series.kind === "estimates") marks.push(...part);
      if (series.kind === "curve" && series.marked) {
        const every = Math.max(1, Math.ceil(part.length / 8));
        marks.push(...part.filter((_, i) => (i + (series.place % 3)) % every === 0));
      }
    }
    for (const point of series.kind === "theory" ? [] : parts.flat()) {
      if (!finite(point[2]) || !finite(point[3])) continue;
      const [px, top, bottom] = [x.to(point[0]), y.to(point[3]), y.to(point[2])].map(round);
      if (Math.abs(bottom - top) < 1.5) continue;
      const cap = (py) => "M" + (px - 3) + " " + py + "h6";
      group.append(svg("path", { class: "whisker", d: "M" + px + " " + bottom + "V" + top + cap(top) + cap(bottom) }));
    }
    group.append(...marks.map((point) => mark(series.place, x.to(point[0]), y.to(point[1]))));
    return group;
  }

  function axes(plot, x, y, box) {
    for (const tick of y.ticks) {
      const at = round(y.to(tick.value));
      plot.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: at, y2: at }));
      plot.append(svg("text", { x: box.left - 6, y: at + 4, "text-anchor": "end" }, tick.label));
    }
    let free = -Infinity;
    for (const tick of x.ticks) {
      const at = round(x.to(tick.value));
      plot.append(svg("line", { class: "frame", x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4 }));
      const half = tick.label.length * 3.6 + 4;
      if (at - half < free) continue;
      free = at + half;
      plot.append(svg("text", { x: at, y: box.bottom + 18, "text-anchor": "middle" }, tick.label));
    }
    plot.append(svg("path", { class: "frame", fill: "none", d: "M" + box.left + " " + box.top + "V" + box.bottom + "H" + box.right }));
  }

  const widest = (ticks) => Math.max(0, ...ticks.map((tick) => tick.label.length));

  // A plot of its own size with the name and description that a screen reader says.
  function canvas(width, height, title, description) {
    // No title element: browsers show it over our own values.
    const id = "about-" + canvas.count++;
    const size = { width, height, viewBox: "0 0 " + width + " " + height };
    return svg("svg", { class: "plot", ...size, role: "img", tabindex: 0, "aria-label": title, "aria-describedby": id },
      svg("desc", { id }, description));
  }
  canvas.count = 0;

  function nothing(plot, width, height, text) {
    plot.classList.add("empty");
    plot.append(svg("text", { class: "nothing", x: width / 2, y: height / 2 }, text));
  }

  // A box of values beside the pointer.
  function tip(chart) {
    const box = html("div", { class: "tip", hidden: true, role: "status" });
    chart.append(box);
    return {
      hide: () => (box.hidden = true),
      show(x, y, lines) {
        box.replaceChildren(...lines);
        box.hidden = false;
        const left = x + 14 + box.offsetWidth > chart.clientWidth ? x - 14 - box.offsetWidth : x + 14;
        box.style.left = Math.max(0, left) + "px";
        box.style.top = Math.max(0, y - box.offsetHeight / 2) + "px";
      },
    };
  }

  function save(name, rows) {
    const cell = (value) => {
      const text = value == null ? "" : String(value);
      return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
    };
    const text = rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
    const link = html("a", { download: name + ".csv", href: URL.createObjectURL(new Blob([text], { type: "text/csv" })) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function asTable(rows) {
    const details = html("details", {}, html("summary", {}, "Data as a table"));
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      const [head, ...body] = rows();
      const cells = (row) => row.map((value) => html("td", { class: typeof value === "number" ? "n" : null }, value == null ? "-" : typeof value === "number" ? show(value) : value));
      const table = html("table", {}, html("thead", {}, html("tr", {}, ...head.map((name) => html("th", { scope: "col" }, name)))),
        html("tbody", {}, ...body.slice(0, ROWS).map((row) => html("tr", {}, ...cells(row)))));
      details.append(html("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Data of the figure" }, table));
      if (body.length > ROWS) details.append(html("p", { class: "note" }, "The first " + ROWS + " of " + body.length + " rows; the download has all."));
    });
    return details;
  }

  // Calls `draw` with the width there is, now and whenever that changes.
  function fit(element, draw) {
    let width = 0;
    const look = () => {
      const now = Math.floor(element.clientWidth);
      if (now > 0 && now !== width) draw((width = now));
    };
    new ResizeObserver(look).observe(element);
    look();
    return () => draw(width || 640);
  }

  function switches(tools, name, on, change) {
    const press = (element) => {
      on = !on;
      pressed(element, on);
      change(on);
    };
    tools.append(button("log " + name, press, { "aria-pressed": on ? "true" : "false" }));
  }

  // Lines and points on two axes.
  function lines(chart, figure, title, caption) {
    const { x: across, y: up } = figure.content.lines;
    const series = dress(figure.content.lines.series);
    const simulated = series.filter((own) => own.kind !== "theory").length;
    for (const own of series) own.marked = simulated > 1;
    const log = { x: across.scale === "logarithmic", y: up.scale === "logarithmic" };
    const tools = html("div", { class: "tools" });
    const legend = html("ul", { class: "legend", "aria-label": "Series; press to show or hide" });
    const place = html("div", {});
    const rows = () => [["series", "kind", across.label, up.label, "low", "high"],
      ...series.flatMap((own) => own.points.map((point) => [own.label, own.kind, point[0], point[1], point[2], point[3]]))];
    chart.append(tools, html("div", { class: "axis-name" }, up.label), place, html("div", { class: "axis-name below" }, across.label), legend,
      figure.note ? html("p", { class: "chart-note" }, figure.note) : null, asTable(rows));
    const values = tip(chart);

    function draw(width) {
      values.hide();
      const height = Math.round(Math.max(240, Math.min(420, width * 0.5)));
      const seen = series.filter((own) => own.on);
      const points = seen.flatMap((own) => own.points);
      const about = seen.length + " of " + series.length + " series, " + points.length + " points. " + caption;
      const plot = canvas(width, height, title, about);
      place.replaceChildren(plot);
      const both = (at) => points.filter((point) => finite(point[0]) && finite(point[1])).flatMap(at);
      const box = { top: 8, bottom: height - 26, left: 30, right: width - 10 };
      const bars = seen.some((own) => own.kind === "bars");
      const y = scale(both((point) => point.slice(1)), log.y, box.bottom, box.top, Math.floor(height / 52), bars);
      if (y) box.left = Math.min(width / 3, 14 + 7 * widest(y.ticks));
      const pad = bars ? 14 : 0;
      const x = scale(both((point) => [point[0]]), log.x, box.left + pad, box.right - pad, Math.max(2, Math.floor(width / 90)), false);
      if (!x || !y) {
        const places = log.x || log.y ? "no data on a logarithmic axis" : "no data";
        return nothing(plot, width, height, series.length && !seen.length ? "every series is off" : places);
      }
      axes(plot, x, y, box);
      const targets = [];
      const order = [...seen].sort((a, b) => (a.kind === "theory" ? 1 : 0) - (b.kind === "theory" ? 1 : 0));
      for (const own of order) plot.append(drawSeries(own, x, y, targets));
      if (!targets.length) return nothing(plot, width, height, "no data on these axes");
      hover(plot, targets, box);
    }

    function hover(plot, targets, box) {
      const guide = svg("line", { class: "guide", y1: box.top, y2: box.bottom, visibility: "hidden" });
      plot.append(guide);
      const tell = (target) => {
        guide.setAttribute("x1", target.px);
        guide.setAttribute("x2", target.px);
        guide.setAttribute("visibility", "visible");
        const same = targets.filter((other) => other.point[0] === target.point[0]);
        const rest = same.length > 12 ? [html("div", {}, "and " + (same.length - 12) + " more")] : [];
        const line = ({ point, series: own }) => {
          const range = finite(point[2]) && finite(point[3]) ? " (" + show(point[2]) + " .. " + show(point[3]) + ")" : "";
          return html("div", {}, html("i", { class: own.colour }), html("span", {}, own.label + ": " + show(point[1]) + range));
        };
        const factor = plot.getBoundingClientRect().width / plot.viewBox.baseVal.width;
        values.show(plot.parentElement.offsetLeft + target.px * factor, plot.parentElement.offsetTop + target.py * factor,
          [html("b", {}, across.label + ": " + show(target.point[0])), ...same.slice(0, 12).map(line), ...rest]);
      };
      const hide = () => {
        values.hide();
        guide.setAttribute("visibility", "hidden");
      };
      const nearest = (event) => {
        const frame = plot.getBoundingClientRect();
        const factor = plot.viewBox.baseVal.width / frame.width;
        const [px, py] = [(event.clientX - frame.left) * factor, (event.clientY - frame.top) * factor];
        let [best, least] = [targets[0], Infinity];
        for (const target of targets) {
          const distance = (target.px - px) ** 2 + ((target.py - py) / 4) ** 2;
          if (distance < least) [best, least] = [target, distance];
        }
        tell(best);
      };
      plot.addEventListener("pointermove", nearest);
      plot.addEventListener("pointerdown", nearest);
      plot.addEventListener("pointerleave", hide);
      plot.addEventListener("blur", hide);
      const places = [...new Map(targets.map((target) => [target.point[0], target])).values()].sort((a, b) => a.px - b.px);
      let at = -1;
      plot.addEventListener("keydown", (event) => {
        const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (event.key === "Escape") return hide();
        if (!move) return;
        event.preventDefault();
        at = Math.max(0, Math.min(places.length - 1, at < 0 ? (move > 0 ? 0 : places.length - 1) : at + move));
        tell(places[at]);
      });
    }

    const redraw = fit(place, draw);
    switches(tools, "x", log.x, (on) => { log.x = on; redraw(); });
    switches(tools, "y", log.y, (on) => { log.y = on; redraw(); });
    tools.append(button("Download data (CSV)", () => save(figure.name, rows())));
    for (const own of series) {
      const press = (element) => {
        own.on = !own.on;
        pressed(element, own.on);
        redraw();
      };
      const item = button(own.label, press, { "aria-pressed": "true" });
      item.prepend(swatch(own));
      legend.append(html("li", {}, item));
    }
    if (series.length > 1) {
      const all = (on) => () => {
        for (const own of series) own.on = on;
        for (const item of legend.querySelectorAll("button")) pressed(item, on);
        redraw();
      };
      if (series.length > 4) tools.append(button("All on", all(true)), button("All off", all(false)));
    }
  }

  // Pictures: colours for the values of cells.

  const RAMP = [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37]];
  function colour(fraction) {
    const place = Math.max(0, Math.min(1, fraction)) * (RAMP.length - 1);
    const below = Math.min(Math.floor(place), RAMP.length - 2);
    const mix = RAMP[below].map((from, i) => Math.round(from + (RAMP[below + 1][i] - from) * (place - below)));
    return "rgb(" + mix.join(",") + ")";
  }

  function maps(chart, figure, title, caption) {
    const { x: across, y: up, colour: depth } = figure.content.maps;
    const panels = figure.content.maps.panels.map((panel) => ({ ...panel, on: true }));
    let log = depth.scale === "logarithmic";
    const tools = html("div", { class: "tools" });
    const place = html("div", { class: "panels" });
    const ramp = html("div", { class: "scale" });
    const legend = html("ul", { class: "legend", "aria-label": "Pictures; press to show or hide" });
    const each = (panel, take) => panel.rows.forEach((row, r) => row.forEach((value, c) => take(value, c, r)));
    const rows = () => {
      const all = [["picture", across.label + " from", across.label + " to", up.label, depth.label]];
      for (const panel of panels) {
        const high = panel.height / Math.max(1, panel.rows.length);
        each(panel, (value, c, r) => all.push([panel.label, panel.edges[c], panel.edges[c + 1], Math.round(r * high), value]));
      }
      return all;
    };
    chart.append(tools, html("div", { class: "axis-name" }, up.label), place, ramp, legend,
      figure.note ? html("p", { class: "chart-note" }, figure.note) : null, asTable(rows));
    const values = tip(chart);

    function draw() {
      values.hide();
      const seen = panels.filter((panel) => panel.on);
      let [low, high] = [Infinity, -Infinity];
      for (const panel of seen) {
        each(panel, (value) => {
          if (!finite(value) || (log && value <= 0)) return;
          low = Math.min(low, value);
          high = Math.max(high, value);
        });
      }
      const some = low <= high;
      const at = (value) => {
        if (!finite(value)) return null;
        if (high === low) return value < low ? 0 : 0.5;
        return log ? (value > 0 ? Math.log(value / low) / Math.log(high / low) : 0) : (value - low) / (high - low);
      };
      const stops = RAMP.map((_, i) => colour(i / (RAMP.length - 1))).join(",");
      const bar = html("span", { class: "ramp" });
      bar.style.background = "linear-gradient(to right," + stops + ")";
      ramp.replaceChildren(...(some ? [html("span", {}, depth.label + (log ? " (logarithmic)" : "")), html("span", {}, show(low)), bar, html("span", {}, show(high))] : []));
      place.replaceChildren();
      if (!seen.length) {
        const plot = canvas(320, 120, title, caption);
        nothing(plot, 320, 120, panels.length ? "every picture is off" : "no data");
        place.append(plot);
      }
      for (const panel of seen) {
        const cell = html("div", {}, html("div", { class: "panel-name" }, panel.label));
        place.append(cell);
        const width = Math.max(200, Math.floor(cell.clientWidth));
        cell.append(picture(panel, width, some ? at : null), html("div", { class: "axis-name below" }, across.label));
      }
    }

    function picture(panel, width, at) {
      const height = 260;
      const plot = canvas(width, height, title + ": " + panel.label, panel.rows.length + " rows, " + Math.max(0, panel.edges.length - 1) + " columns. " + caption);
      const box = { top: 8, bottom: height - 26, left: 40, right: width - 14 };
      const edges = panel.edges.filter(finite);
      if (!at || edges.length < 2 || !panel.rows.length || edges.length !== panel.edges.length) {
        nothing(plot, width, height, log ? "no data on a logarithmic scale" : "no data");
        return plot;
      }
      // The picture fills its box: no room is left around it.
      const [first, last] = [edges[0], edges[edges.length - 1]];
      const span = last - first || 1;
      const x = { to: (value) => box.left + ((value - first) / span) * (box.right - box.left), ticks: evenTicks(first, first + span, Math.max(2, width / 90)) };
      const y = { to: (value) => box.bottom - (value / panel.height) * (box.bottom - box.top), ticks: evenTicks(0, panel.height, 5) };
      const [wide, high] = [2 * Math.round(box.right - box.left), 2 * (box.bottom - box.top)];
      const paper = html("canvas", { width: wide, height: high });
      const ink = paper.getContext("2d");
      const row = high / panel.rows.length;
      const column = (edge) => Math.round(((edge - first) / span) * wide);
      each(panel, (value, c, r) => {
        const fraction = at(value);
        if (fraction === null || c + 1 >= edges.length) return;
        const [top, bottom] = [Math.round(high - (r + 1) * row), Math.round(high - r * row)];
        ink.fillStyle = colour(fraction);
        ink.fillRect(column(edges[c]), top, Math.max(1, column(edges[c + 1]) - column(edges[c])), Math.max(1, bottom - top));
      });
      axes(plot, x, y, box);
      plot.append(svg("image", { href: paper.toDataURL(), x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, preserveAspectRatio: "none" }));
      plot.addEventListener("pointermove", (event) => {
        const frame = plot.getBoundingClientRect();
        const factor = plot.viewBox.baseVal.width / frame.width;
        const [px, py] = [(event.clientX - frame.left) * factor, (event.clientY - frame.top) * factor];
        const when = first + ((px - box.left) / (box.right - box.left)) * span;
        const c = edges.findIndex((edge, i) => i + 1 < edges.length && when >= edge && when < edges[i + 1]);
        const r = Math.floor(((box.bottom - py) / (box.bottom - box.top)) * panel.rows.length);
        if (c < 0 || r < 0 || r >= panel.rows.length) return values.hide();
        const own = chart.getBoundingClientRect();
        const name = Math.floor((r * panel.height) / panel.rows.length);
        values.show(event.clientX - own.left, event.clientY - own.top, [
          html("b", {}, across.label + ": " + show(edges[c]) + " .. " + show(edges[c + 1])),
          html("div", {}, up.label + ": " + name), html("div", {}, depth.label + ": " + show(panel.rows[r][c]))]);
      });
      plot.addEventListener("pointerleave", values.hide);
      return plot;
    }

    const redraw = fit(place, draw);
    switches(tools, "colours", log, (on) => { log = on; redraw(); });
    tools.append(button("Download data (CSV)", () => save(figure.name, rows())));
    for (const panel of panels) {
      const press = (element) => {
        panel.on = !panel.on;
        pressed(element, panel.on);
        redraw();
      };
      legend.append(html("li", {}, button(panel.label, press, { "aria-pressed": "true" })));
    }
  }

  const figures = JSON.parse(document.getElementById("charts").textContent);
  for (const chart of document.querySelectorAll(".chart")) {
    const figure = figures[Number(chart.dataset.figure)];
    const owner = chart.closest("figure");
    const title = owner.querySelector("h3").textContent;
    const caption = owner.querySelector("figcaption").textContent;
    if (figure.content.lines) lines(chart, figure, title, caption);
    else maps(chart, figure, title, caption);
  }

  for (const more of document.querySelectorAll("button.all")) {
    more.hidden = false;
    pressed(more, false);
    const table = more.previousElementSibling.querySelector("table");
    more.addEventListener("click", () => {
      const open = table.classList.toggle("open");
      pressed(more, open);
      more.textContent = open ? "Show fewer rows" : "Show all rows";
    });
  }
})();
