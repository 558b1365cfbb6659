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
  const legend = html("ul", { class: "legend boxed", "aria-label": "Pictures; press to show or hide" });
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
    ...note(figure), asTable(rows));
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
    ramp.replaceChildren(...(some ? [html("span", {}, depth.label + (log ? " (logarithmic)" : "")), html("span", {}, show(low)), ...(low < high ? [bar, html("span", {}, show(high))] : [])] : []));
    place.replaceChildren();
    if (!seen.length) {
      const plot = canvas(320, 80, title, caption);
      nothing(plot, 320, panels.length ? "every picture is off" : "no data");
      place.append(plot);
    }
    // All of them first: they share the width.
    const cells = seen.map((panel) => html("div", {}, html("div", { class: "panel-name" }, panel.label)));
    place.append(...cells);
    for (const [i, cell] of cells.entries()) {
      const width = Math.max(200, Math.floor(cell.clientWidth));
      cell.append(picture(seen[i], width, some ? at : null), html("div", { class: "axis-name below" }, across.label));
    }
  }

  function picture(panel, width, at) {
    const height = 260;
    const plot = canvas(width, height, title + ": " + panel.label, panel.rows.length + " rows, " + Math.max(0, panel.edges.length - 1) + " columns. " + caption);
    const box = { top: 8, bottom: height - 26, left: 40, right: width - 14 };
    const edges = panel.edges.filter(finite);
    if (!at || edges.length < 2 || !panel.rows.length || edges.length !== panel.edges.length) {
      nothing(plot, width, log ? "no data on a logarithmic scale" : "no data");
      return plot;
    }
    // The picture fills its box: no room is left around it.
    const [first, last] = [edges[0], edges[edges.length - 1]];
    const span = last - first || 1;
    const x = { to: (value) => box.left + ((value - first) / span) * (box.right - box.left), ticks: evenTicks(first, first + span, Math.max(2, width / 90)) };
    const y = { to: (value) => box.bottom - (value / panel.height) * (box.bottom - box.top), ticks: evenTicks(0, panel.height, 5, true) };
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
  for (const panel of panels.length > 1 ? panels : []) {
    const press = (element) => {
      panel.on = !panel.on;
      pressed(element, panel.on);
      redraw();
    };
    legend.append(html("li", {}, button(panel.label, press, { "aria-pressed": "true" })));
  }
}
