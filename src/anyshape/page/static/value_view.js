// A value, to be looked at: a table where it is a list of objects, else a tree, and always its JSON.

import { el, line, prose, visible } from "./dom.js";
import { Exact, kindOf, pretty, stringify } from "./values.js";

const MOST = 100;
const COLUMNS = 24;

export function valueView(value) {
  const views = new Map();
  if (isTable(value)) views.set("Table", () => table(value));
  if (value !== null && typeof value === "object" && !(value instanceof Exact)) views.set("Tree", () => tree(value));
  views.set("JSON", () => prose(pretty(value), "pre", "code"));
  const panel = el("div", { className: "value" });
  if (views.size === 1) return el("div", { className: "value single" }, leaf(value));
  const buttons = [...views.keys()].map((title) =>
    el("button", { type: "button", className: "small", on: { click: () => choose(title) } }, title));
  const choose = (title) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === title));
    panel.replaceChildren(views.get(title)());
  };
  choose(views.keys().next().value);
  return el("div", {}, el("div", { className: "switch", role: "group", "aria-label": "Show as" }, buttons), panel);
}

function isTable(value) {
  return Array.isArray(value) && value.length > 0 && value.every((row) => kindOf(row) === "object")
    && columnsOf(value).length <= COLUMNS;
}

function columnsOf(rows) {
  const names = new Set();
  for (const row of rows.slice(0, 500)) for (const name of Object.keys(row)) names.add(name);
  return [...names];
}

function table(rows) {
  const columns = columnsOf(rows);
  const body = el("tbody");
  const more = (from) => {
    for (const row of rows.slice(from, from + MOST)) {
      body.append(el("tr", {}, columns.map((name) => {
        const cell = Object.hasOwn(row, name) ? row[name] : undefined;
        return el("td", { className: kindOf(cell) }, cell === undefined ? "" : isLeaf(cell) ? leafText(cell) : brief(cell));
      })));
    }
    return from + MOST;
  };
  const shown = el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Table" }, el("table", {},
    el("thead", {}, el("tr", {}, columns.map((name) => el("th", { scope: "col", className: isNumeric(rows, name) ? "number" : "" }, line(name, 60))))), body));
  return el("div", {}, shown, continued(rows.length, more));
}

function isNumeric(rows, name) {
  return rows.slice(0, MOST).every((row) => !Object.hasOwn(row, name) || kindOf(row[name]) === "number");
}

/** Show the first of many, and a button for more of them. */
function continued(count, more) {
  let at = more(0);
  if (at >= count) return null;
  const button = el("button", { type: "button", className: "quiet small" });
  const tell = () => { button.textContent = `Show more (${at.toLocaleString("en")} of ${count.toLocaleString("en")})`; };
  button.addEventListener("click", () => { at = more(at); if (at >= count) button.remove(); else tell(); });
  tell();
  return button;
}

const isLeaf = (value) => value === null || typeof value !== "object" || value instanceof Exact;

function leafText(value) {
  return typeof value === "string" ? line(value, 300) : stringify(value);
}

function leaf(value) {
  if (typeof value === "string") return prose(value === "" ? "“” (a text without characters)" : value, "pre", "prose string");
  return el("code", { className: kindOf(value) }, stringify(value));
}

function brief(value) {
  const text = stringify(value);
  return line(text, 80);
}

export function tree(value, open = 2) {
  const entries = Array.isArray(value) ? value.map((each, index) => [String(index), each]) : Object.entries(value);
  const list = el("ul", { className: "tree" });
  const more = (from) => {
    for (const [name, each] of entries.slice(from, from + MOST)) list.append(el("li", {}, branch(name, each, open)));
    return from + MOST;
  };
  const rest = continued(entries.length, more);
  if (!entries.length) return el("code", { className: "faint" }, Array.isArray(value) ? "[]" : "{}");
  return el("div", {}, list, rest);
}

function branch(name, value, open) {
  const key = el("span", { className: "key" }, line(name, 120));
  if (isLeaf(value)) {
    const long = typeof value === "string" && value.length > 300;
    return el("div", { className: "leaf" }, key, long ? prose(value, "pre", "prose string")
      : el("code", { className: kindOf(value) }, typeof value === "string" ? visible(JSON.stringify(value)) : stringify(value)));
  }
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  const details = el("details", {}, el("summary", {}, key, el("span", { className: "faint" },
    Array.isArray(value) ? `[${count}]` : `{${count}}`)));
  const fill = () => { if (details.childElementCount === 1) details.append(tree(value, open - 1)); };
  details.addEventListener("toggle", fill);
  if (open > 0 && count <= 20) { details.open = true; fill(); }
  return details;
}
