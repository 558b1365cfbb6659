// What every figure has around it.

// A plot of its own size with the name and description that a screen reader says.
function canvas(width, height, title, description) {
  // No title element: browsers show it over our own values.
  const id = "about-" + canvas.count++;
  const size = { width, height, viewBox: "0 0 " + width + " " + height };
  return svg("svg", { class: "plot", ...size, role: "img", tabindex: 0, "aria-label": title, "aria-describedby": id },
    svg("desc", { id }, description));
}
canvas.count = 0;

// Instead of a plot: why there is none.
function nothing(plot, width, text) {
  const height = 80;
  plot.setAttribute("height", height);
  plot.setAttribute("viewBox", "0 0 " + width + " " + height);
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
    const side = (value) => (typeof value === "number" ? "n" : null);
    const cells = (row) => row.map((value) => html("td", { class: side(value) }, value == null ? "-" : typeof value === "number" ? show(value) : value));
    const table = html("table", {}, html("thead", {}, html("tr", {}, ...head.map((name, i) => html("th", { scope: "col", class: body.length ? side(body[0][i]) : null }, name)))),
      html("tbody", {}, ...body.slice(0, ROWS).map((row) => html("tr", {}, ...cells(row)))));
    details.append(html("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Data of the figure" }, table));
    if (body.length > ROWS) details.append(html("p", { class: "note" }, "The first " + ROWS + " of " + body.length + " rows; the download has all."));
  });
  return details;
}

const note = (figure) => (figure.note ? [html("p", { class: "chart-note" }, figure.note)] : []);

// Calls `draw` with the width there is, now and whenever that changes.
function fit(element, draw) {
  let width = 0;
  const look = () => {
    const now = Math.floor(element.clientWidth);
    if (now > 0 && now !== width) draw((width = now));
  };
  // Not within the observer's own round, in which a new size would have to wait.
  new ResizeObserver(() => requestAnimationFrame(look)).observe(element);
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
