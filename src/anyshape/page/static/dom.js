// Elements, made of text: nothing here, or anywhere on this page, is ever read as markup.

const PROPERTIES = new Set([
  "checked", "className", "disabled", "hidden", "htmlFor", "id", "max", "min", "name", "open",
  "placeholder", "readOnly", "rows", "selected", "spellcheck", "tabIndex", "title", "type", "value",
]);

/** Return a new element. `on` holds listeners; what is no property of the list is an attribute. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (name === "on") {
      for (const [event, listen] of Object.entries(value)) node.addEventListener(event, listen);
    } else if (PROPERTIES.has(name)) {
      node[name] = value;
    } else if (value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Make `nodes` the children of `parent`; what is in its place is not touched, so focus stays. */
export function sync(parent, nodes) {
  const wanted = nodes.filter(Boolean);
  for (const child of [...parent.childNodes]) if (!wanted.includes(child)) child.remove();
  wanted.forEach((node, index) => {
    if (parent.childNodes[index] !== node) parent.insertBefore(node, parent.childNodes[index] ?? null);
  });
}

// Characters that show nothing, or that turn the text around them: a stranger's text must not use them
// to look like another.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/gu;

/** Return a stranger's text with everything in it visible. */
export function visible(text) {
  return String(text).replace(HIDDEN, (found) => {
    return `⟨U+${found.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** Return a stranger's text on one line, no longer than it may be. */
export function line(text, most = 200) {
  const flat = visible(String(text).slice(0, most + 1)).replace(/\s+/g, " ");
  return flat.length > most ? `${flat.slice(0, most)}…` : flat;
}

const SHOWN = 20_000;

/** Return a stranger's text as it is; of a long one the beginning, and a button for the rest. */
export function prose(text, tag = "pre", className = "prose") {
  const node = el(tag, { className }, visible(text.slice(0, SHOWN)));
  if (text.length <= SHOWN) return node;
  const rest = el("button", { type: "button", className: "quiet" },
    `Show all ${text.length.toLocaleString("en")} characters`);
  rest.addEventListener("click", () => { node.textContent = visible(text); rest.remove(); });
  return el("div", {}, node, rest);
}

let timer = 0;

/** Say something in passing, to the eye and to screen readers. */
export function say(text) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => status.classList.remove("shown"), 3500);
}

export function badge(text, tone = "", title = undefined) {
  return el("span", { className: `badge ${tone}`, title: title && line(title, 400) }, text);
}

export function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

let ids = 0;

export function fresh(prefix) {
  ids += 1;
  return `${prefix}-${ids}`;
}

/** Return tabs: a list of buttons for the keyboard and screen readers, and the panel they fill. */
export function tabs(label, views, chosen, onChoose) {
  const panel = el("div", { className: "panel", role: "tabpanel", tabIndex: -1, id: fresh("panel") });
  const buttons = views.map(({ id, title }) =>
    el("button", { type: "button", role: "tab", id: fresh("tab"), "data-tab": id, "aria-controls": panel.id,
      on: { click: () => choose(id), keydown: (event) => move(event, id) } }, title));
  const choose = (id, told = true) => {
    views.forEach((view, index) => {
      const on = view.id === id;
      buttons[index].setAttribute("aria-selected", String(on));
      buttons[index].tabIndex = on ? 0 : -1;
      if (on) panel.setAttribute("aria-labelledby", buttons[index].id);
    });
    panel.replaceChildren(views.find((view) => view.id === id).show());
    if (told) onChoose(id);
  };
  const move = (event, id) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = (views.findIndex((view) => view.id === id) + step + views.length) % views.length;
    choose(views[at].id);
    buttons[at].focus();
  };
  choose(views.some((view) => view.id === chosen) ? chosen : views[0].id, false);
  const list = el("div", { role: "tablist", "aria-label": label, className: "tabs" }, buttons);
  return el("div", { className: "tabbed" }, list, panel);
}
