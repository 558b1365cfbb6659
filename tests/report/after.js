addEventListener("load", () => setTimeout(async () => {
  const found = {};
  const all = (query, within = document) => [...within.querySelectorAll(query)];
  const wait = () => new Promise((done) => setTimeout(done, 100));
  try {
    const charts = all(".chart");
    const plot = (chart) => chart.querySelector("svg.plot");
    const shape = (chart) => all("svg.plot", chart).map((svg) => svg.innerHTML).join("");
    found.charts = charts.map((chart) => ({
      shapes: all("svg.plot .line, svg.plot .bar, svg.plot .mark, svg.plot image", chart).length,
      says: all("svg.plot .nothing", chart).map((text) => text.textContent).join(),
    }));
    const tails = charts[0];
    const herd = charts.find((chart) => chart.querySelector("image"));
    const item = tails.querySelector(".legend button");
    const states = [[item.getAttribute("aria-pressed"), shape(tails)]];
    for (let i = 0; i < 2; i++) {
      item.click();
      states.push([item.getAttribute("aria-pressed"), shape(tails)]);
    }
    const plain = (text) => text.replaceAll(/about-\d+/g, "");
    const pictures = all("image", herd).length;
    herd.querySelector(".legend button").click();
    found.legend = {
      pressed: states.map(([pressed]) => pressed),
      changed: plain(states[0][1]) !== plain(states[1][1]),
      restored: plain(states[0][1]) === plain(states[2][1]),
      picture: all("image", herd).length === pictures - 1,
    };
    const [x, y] = all(".tools button", tails);
    const even = shape(tails);
    y.click();
    found.log = plain(shape(tails)) !== plain(even);
    y.click();
    x.click();
    x.click();

    const tip = (chart) => chart.querySelector(".tip:not([hidden])")?.textContent ?? "";
    const point = (svg, across, up) => {
      const frame = svg.getBoundingClientRect();
      const at = { clientX: frame.left + across * frame.width, clientY: frame.top + up * frame.height, bubbles: true };
      svg.dispatchEvent(new PointerEvent("pointermove", at));
    };
    point(plot(tails), 0.01, 0.01);
    found.hover = tip(tails);
    plot(tails).dispatchEvent(new PointerEvent("pointerleave"));
    if (tip(tails)) heard.push("the values stay");
    plot(tails).dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
    found.keys = tip(tails);
    point(plot(herd), 0.5, 0.5);
    found.cell = tip(herd);

    let saved = null;
    URL.createObjectURL = (blob) => ((saved = blob), "#");
    HTMLAnchorElement.prototype.click = () => {};
    all(".tools button", tails).find((button) => button.textContent.includes("CSV")).click();
    found.data = await saved.text();
    const details = tails.querySelector("details");
    details.open = true;
    await wait();
    found.rows = all("tbody tr", details).length;
    const more = document.querySelector("button.all");
    const hidden = document.querySelector("tr.more");
    const before = hidden.offsetParent;
    more.click();
    found.more = before === null && hidden.offsetParent !== null;

    const style = getComputedStyle(document.body);
    Object.assign(found, { ground: style.backgroundColor, ink: style.color });
    found.line = getComputedStyle(plot(tails).querySelector(".line")).stroke;
    found.width = innerWidth;
    found.scroll = document.documentElement.scrollWidth;
    const letters = plot(tails).querySelector("text");
    found.letters = letters.getBoundingClientRect().height / 1.17;
    // What sticks out to the right, but for what scrolls by itself.
    const inside = (element) => !element.closest(".wide, pre, .tip, svg");
    const wide = all("body *").filter((element) => inside(element) && element.getBoundingClientRect().right > innerWidth + 1);
    found.beyond = wide.map((element) => element.tagName + "." + element.className);
    found.images = all("img").length;
  } catch (error) {
    heard.push("the test itself: " + error + " " + error.stack);
  }
  found.errors = heard;
  parent.postMessage(JSON.stringify(found), "*");
}, 300));
