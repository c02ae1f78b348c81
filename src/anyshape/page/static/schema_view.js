// JSON on lines, each of which knows its place, so that it can be marked.

import { el, visible } from "./dom.js";
import { Exact, kindOf, stringify } from "./values.js";

const MOST_LINES = 2000;

/** Show a document; `marks` maps the pointer of a place to what is said about it. */
export function schemaView(document, marks = new Map()) {
  const lines = [];
  write(document, "", "", "", lines, marks);
  const shown = lines.slice(0, MOST_LINES);
  if (lines.length > MOST_LINES) shown.push(el("span", { className: "line faint" }, `… ${lines.length - MOST_LINES} lines more`));
  return el("pre", { className: "code lines", tabIndex: 0 }, shown);
}

function write(value, place, key, margin, lines, marks, comma = "") {
  if (lines.length > MOST_LINES) { lines.push(null); return; }
  const notes = marks.get(place) ?? [];
  const flat = isPlain(value) ? stringify(value) : null;
  if (flat !== null && (flat.length < 72 || kindOf(value) !== "array") && !hasMarks(place, marks)) {
    lines.push(row(margin, key, flat, kindOf(value), comma, notes));
    return;
  }
  const isArray = Array.isArray(value);
  lines.push(row(margin, key, isArray ? "[" : "{", "punctuation", "", notes));
  const entries = Object.entries(value);
  entries.forEach(([name, each], index) => {
    const inner = `${place}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    write(each, inner, isArray ? "" : JSON.stringify(name), `${margin}  `, lines, marks, index < entries.length - 1 ? "," : "");
  });
  lines.push(row(margin, "", isArray ? "]" : "}", "punctuation", comma, []));
}

const isPlain = (value) => value === null || typeof value !== "object" || value instanceof Exact
  || Object.keys(value).length === 0 || (Array.isArray(value) && value.every((each) => each === null || typeof each !== "object"));

function hasMarks(place, marks) {
  for (const marked of marks.keys()) if (marked.startsWith(`${place}/`)) return true;
  return false;
}

function row(margin, key, text, kind, comma, notes) {
  return el("span", { className: `line ${notes.length ? "lost" : ""}` }, margin,
    key ? el("span", { className: "key" }, visible(key)) : "", key ? ": " : "",
    el("span", { className: kind }, visible(text)), comma,
    notes.length ? el("span", { className: "lost-note" }, visible(notes.join("; "))) : "");
}
