// Elements of the page. Text goes in as text, never as HTML.

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
