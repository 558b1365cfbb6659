// Fills the page.

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
