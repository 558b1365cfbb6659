// The heights that a logarithmic axis must have room for: those simulated, and of theory and intervals what is not far
// below them.
function belowTop(own, all) {
  const simulated = all.filter((other) => other.kind !== "theory").flatMap((other) => other.points);
  const lowest = simulated.reduce((low, point) => (point[1] > 0 ? Math.min(low, point[1]) : low), Infinity);
  const least = Number.isFinite(lowest) ? lowest / 30 : 0;
  return own.points.flatMap(([, height, low, high]) => [height, low, high].filter((value) => value >= least));
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
    ...note(figure), asTable(rows));
  const values = tip(chart);

  function draw(width) {
    values.hide();
    const height = Math.round(Math.max(240, Math.min(420, width * 0.5)));
    const seen = series.filter((own) => own.on);
    const points = seen.flatMap((own) => own.points);
    const about = seen.length + " of " + series.length + " series, " + points.length + " points. " + caption;
    const plot = canvas(width, height, title, about);
    place.replaceChildren(plot);
    const box = { top: 8, bottom: height - 26, left: 30, right: width - 10 };
    const bars = seen.some((own) => own.kind === "bars");
    const heights = (log.y ? belowTop : (own) => own.points.flatMap((point) => point.slice(1)));
    const y = scale(seen.flatMap((own) => heights(own, seen)), log.y, box.bottom, box.top, Math.floor(height / 52), bars ? "always" : "near");
    if (y) box.left = Math.min(width / 3, 14 + 7 * widest(y.ticks));
    const pad = bars ? 14 : 0;
    // Only what has a height within the plot takes room across.
    const within = (height) => y && y.has(height) && y.to(height) <= box.bottom + 1;
    const x = scale(points.filter((point) => within(point[1])).map((point) => point[0]), log.x, box.left + pad, box.right - pad, Math.max(2, Math.floor(width / 90)));
    if (!x || !y) {
      const places = log.x || log.y ? "no data on a logarithmic axis" : "no data";
      return nothing(plot, width, series.length && !seen.length ? "every series is off" : places);
    }
    axes(plot, x, y, box);
    const all = [];
    const clip = "clip-" + plot.getAttribute("aria-describedby");
    const [wide, tall] = [box.right - box.left + 8, box.bottom - box.top + 8];
    plot.append(svg("clipPath", { id: clip }, svg("rect", { x: box.left - 4, y: box.top - 8, width: wide, height: tall })));
    const inside = svg("g", { "clip-path": "url(#" + clip + ")" });
    for (const theory of [false, true]) {
      for (const own of seen) if ((own.kind === "theory") === theory) inside.append(drawSeries(own, x, y, all));
    }
    plot.append(inside);
    const targets = all.filter((target) => target.py >= box.top - 8 && target.py <= box.bottom + 1);
    if (!targets.length) return nothing(plot, width, "no data on these axes");
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
