// JSON values, kept exactly: a number is sent as it was written, however long it is.

/** A number whose spelling says more than a JavaScript number can. */
export class Exact {
  constructor(text) { this.text = text; }
}

export function parse(text) {
  return JSON.parse(text, (key, value, context) =>
    typeof value === "number" && context?.source !== undefined && context.source !== String(value)
      ? new Exact(context.source) : value);
}

export function stringify(value, indent = "", margin = "") {
  if (value instanceof Exact) return value.text;
  if (value === undefined) return "null";
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const inner = margin + indent;
  const isArray = Array.isArray(value);
  const parts = isArray
    ? value.map((each) => stringify(each, indent, inner))
    : Object.entries(value).map(([name, each]) =>
        `${JSON.stringify(name)}:${indent ? " " : ""}${stringify(each, indent, inner)}`);
  const [open, close] = isArray ? "[]" : "{}";
  if (!parts.length) return open + close;
  if (!indent) return open + parts.join(",") + close;
  const isShort = parts.length <= 12 && parts.every((part) => part.length < 60);
  const flat = isShort && `${open}${isArray ? "" : " "}${parts.join(", ")}${isArray ? "" : " "}${close}`;
  if (flat && flat.length + margin.length <= 60 && !flat.includes("\n")) return flat;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`;
}

export const pretty = (value) => stringify(value, "  ");

export function kindOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof Exact) return "number";
  return typeof value;
}

export const EMPTY = {
  string: "", number: 0, integer: 0, boolean: false, null: null, object: {}, array: [],
};

export function tokens(pointer) {
  return pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function pointer(path) {
  return path.map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function getAt(value, path) {
  for (const token of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, token)) return undefined;
    value = value[token];
  }
  return value;
}

// Members are made by fromEntries, so that one called __proto__ is a member like any other.

export function setAt(value, path, made) {
  if (!path.length) return made;
  const [token, ...rest] = path;
  if (Array.isArray(value)) {
    const items = [...value];
    items[Math.min(Number(token), items.length)] = setAt(items[token], rest, made);
    return items;
  }
  const entries = kindOf(value) === "object" ? Object.entries(value) : [];
  const at = entries.findIndex(([name]) => name === token);
  const entry = [token, setAt(at < 0 ? undefined : entries[at][1], rest, made)];
  if (at < 0) entries.push(entry); else entries[at] = entry;
  return Object.fromEntries(entries);
}

export function removeAt(value, path) {
  const [token, ...rest] = path;
  if (getAt(value, [token]) === undefined) return value;
  if (rest.length) return setAt(value, [token], removeAt(value[token], rest));
  if (Array.isArray(value)) return value.filter((_, index) => index !== Number(token));
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== token));
}
