// One field of a form: its label, its control for the kind of value, and what is wrong with it.

import { badge, el, fresh, line, prose, sync } from "./dom.js";
import { EMPTY, Exact, stringify, tokens } from "./values.js";

const NAMES = {
  string: "text", number: "number", integer: "whole number", boolean: "true or false", object: "object",
  array: "list", null: "null",
};
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Return the row of a field: `element`, `inner` for fields in it, and how to bring it up to date. */
export function control(form, field, sort) {
  const id = fresh("field");
  const path = tokens(field.path);
  const isGroup = Boolean(field.fields || field.items) || (!field.options && isNested(field.kind));
  const label = el(isGroup ? "span" : "label", { className: "label", id: `${id}-label`, ...(isGroup ? {} : { htmlFor: id }) });
  const type = el("code", { className: "type" });
  const about = el("div", { className: "about", id: `${id}-about` });
  const wrong = el("ul", { className: "wrong", id: `${id}-wrong` });
  const head = el("div", { className: "head" });
  const choices = el("div", { className: "choices" });
  const made = isGroup ? group(form, field, path) : scalar(form, field, path, id);
  const kinds = kindPicker(form, field, path);
  const removal = el("button", { type: "button", className: "quiet small", on: { click: () => form.remove(path) } }, "Remove");
  const element = el("div", {
    className: `field ${isGroup ? "group" : ""}`, "data-path": field.path,
    ...(isGroup ? { role: "group", "aria-labelledby": `${id}-label` } : {}),
  }, head, about, choices, ...(isGroup ? [wrong, made.element] : [made.element, wrong]));
  let described = null;
  return {
    element, inner: made.inner, sort, field,
    update(now, value) {
      label.replaceChildren(line(now.title || now.name || "Arguments", 120));
      label.classList.toggle("optional", !now.required);
      type.textContent = line(now.type, 90);
      const canGo = now.given && path.length && (now.extra || isGroup || form.isItem(path));
      removal.setAttribute("aria-label", `Remove ${now.name}`);
      sync(head, [label, now.required && path.length && !form.isItem(path) ? star() : null,
        path.length ? type : null, kinds, now.forbidden ? badgeOnce(this) : null, canGo ? removal : null]);
      if (described !== now.description) {
        described = now.description;
        about.replaceChildren(...(now.description ? [prose(now.description, "p", "")] : []));
      }
      showAlternatives(form, choices, path, now.alternatives ?? []);
      made.update(now, value);
    },
    tell(messages) {
      element.classList.toggle("bad", messages.length > 0);
      wrong.replaceChildren(...messages.map((message) => el("li", {}, prose(message, "span", ""))));
      made.input?.setAttribute("aria-invalid", String(messages.length > 0));
      made.input?.setAttribute("aria-describedby", `${id}-wrong ${id}-about`);
    },
  };
}

const isNested = (kind) => kind === "object" || kind === "array";

function star() {
  return el("span", { className: "star" }, "required");
}

function badgeOnce(row) {
  row.mark ??= badge("not allowed here", "bad");
  return row.mark;
}

function kindPicker(form, field, path) {
  if (field.kinds.length < 2 || field.options) return null;
  const select = el("select", { className: "small", "aria-label": `Kind of ${field.name || "value"}`,
    on: { change: () => form.put(path, EMPTY[select.value], { now: true }) } },
  field.kinds.map((kind) => el("option", { value: kind, selected: kind === field.kind }, NAMES[kind] ?? kind)));
  return select;
}

function showAlternatives(form, place, path, alternatives) {
  const known = JSON.stringify(alternatives);
  if (place.dataset.shown === known) return;
  place.dataset.shown = known;
  place.replaceChildren(...alternatives.map(({ place: where, labels, chosen }) => {
    const name = fresh("choice");
    return el("div", { className: "alternatives", role: "radiogroup", "aria-label": "One of" },
      labels.map((text, index) => el("label", {},
        el("input", { type: "radio", name, checked: index === chosen,
          on: { change: () => form.choose(path, where, index) } }),
        el("span", {}, line(text, 90)))));
  }));
}

// Values in one piece.

function scalar(form, field, path, id) {
  if (field.options) return choice(form, field, path, id);
  if (field.kind === "boolean") return choice(form, { ...field, options: [true, false], titles: {} }, path, id);
  if (field.kind === "null") return fixed();
  const isNumber = field.kind === "number" || field.kind === "integer";
  const read = () => {
    const text = input.value;
    if (text === "") return form.isItem(path) ? form.put(path, "") : form.remove(path, {});
    if (isNumber && NUMBER.test(text)) return form.put(path, String(Number(text)) === text ? Number(text) : new Exact(text));
    return form.put(path, text);
  };
  const input = field.long
    ? el("textarea", { id, rows: 4, on: { input: read } })
    : el("input", { id, type: "text", autocomplete: "off", spellcheck: false, on: { input: read },
        ...(isNumber ? { inputmode: "decimal", className: "number" } : {}) });
  const empty = el("button", { type: "button", className: "quiet small empty", title: "Give a text without characters",
    on: { click: () => form.put(path, "", { now: true }) } }, "“”");
  const element = el("div", { className: "control" }, input);
  const suggestions = form.suggest ? el("datalist", { id: `${id}-list` }) : null;
  if (suggestions) {
    input.setAttribute("list", suggestions.id);
    element.append(suggestions);
    const look = async () => {
      const values = await form.suggest(field.name, input.value);
      suggestions.replaceChildren(...values.map((value) => el("option", { value: line(value) })));
    };
    input.addEventListener("focus", look);
    input.addEventListener("input", look);
  }
  return {
    element, input,
    update(now, value) {
      const text = value === undefined ? "" : typeof value === "string" ? value : stringify(value);
      if (document.activeElement !== input && input.value !== text) input.value = text;
      input.placeholder = now.default === undefined || now.given ? "" : `${line(stringify(now.default), 60)} unless given`;
      const offers = !isNumber && !now.given && !suggestions;
      if (offers !== empty.isConnected) offers ? element.append(empty) : empty.remove();
    },
  };
}

function choice(form, field, path, id) {
  const options = field.options;
  const spelled = options.map((option) => stringify(option));
  const select = el("select", { id, on: { change: () => {
    if (select.value === "") form.remove(path);
    else form.put(path, options[Number(select.value)], { now: true });
  } } });
  select.append(el("option", { value: "" }, "—"), ...options.map((option, index) =>
    el("option", { value: String(index) }, line(field.titles?.[index] ?? (typeof option === "string" ? option : spelled[index]), 120))));
  return {
    element: el("div", { className: "control" }, select), input: select,
    update(now, value) {
      const at = value === undefined ? -1 : spelled.indexOf(stringify(value));
      select.value = at < 0 ? "" : String(at);
      select.options[0].textContent = now.given && at < 0 ? line(stringify(value), 60)
        : now.default === undefined ? "—" : `${line(stringify(now.default), 60)} unless given`;
    },
  };
}

function fixed() {
  return { element: el("div", { className: "control" }, el("code", {}, "null")), update() {} };
}

// Values of several parts.

function group(form, field, path) {
  const inner = el("div", { className: "inner" });
  const foot = el("div", { className: "foot" });
  const isArray = field.kind === "array";
  const add = el("button", { type: "button", className: "quiet small" });
  const name = el("input", { type: "text", className: "small", placeholder: "name", "aria-label": "Name of the new property", autocomplete: "off" });
  const note = el("p", { className: "faint" }, "More than a form can show: write it as JSON.");
  let now = field;
  const act = () => {
    if (!now.given && !now.fields && !now.items) return form.add(path);
    if (isArray) return form.add([...path, String(now.items.length)]);
    if (!name.value) return name.focus();
    const made = name.value;
    name.value = "";
    return form.add([...path, made]);
  };
  add.addEventListener("click", act);
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); act(); }
  });
  return {
    element: el("div", {}, inner, foot), inner,
    update(field) {
      now = field;
      const isThere = Boolean(field.fields || field.items);
      const what = line(field.title || field.name || "value", 60);
      add.textContent = isThere ? (isArray ? "Add an item" : "Add a property") : `Add ${what}`;
      const canAdd = !field.beyond && (!isThere || field.open);
      sync(foot, [field.beyond ? note : null, canAdd && isThere && !isArray ? name : null, canAdd ? add : null]);
    },
  };
}
