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
