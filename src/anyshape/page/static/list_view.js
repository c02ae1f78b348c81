// The list of everything there is. Rows are cheap, so that thousands of them can be searched at once.

import { badge, el, line, plural } from "./dom.js";
import { stringify } from "./values.js";

export class ListView {
  constructor(place, search, onChoose) {
    this.place = place;
    this.search = search;
    this.onChoose = onChoose;
    this.rows = [];
    this.chosen = null;
    search.addEventListener("input", () => this.filter());
    search.addEventListener("keydown", (event) => { if (event.key === "ArrowDown" || event.key === "Enter") this.step(event, null, 1); });
    place.addEventListener("click", (event) => this.pick(event.target.closest("button[data-at]")));
    place.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) this.step(event, event.target.closest("button[data-at]"), step);
    });
  }

  fill({ tools, prompts, resources, templates, rejected }) {
    this.rows = [];
    const sections = [
      ["Tools", tools.map((tool) => ({ kind: "tool", key: tool.name, name: tool.name, about: tool.description ?? tool.title, entry: tool,
        mark: badge(stringify(tool.tokens), tool.cost === "cheap" ? "" : "warn", `about ${stringify(tool.tokens)} tokens, ${tool.cost} to check`) }))],
      ["Prompts", prompts.map((prompt) => ({ kind: "prompt", key: prompt.name, name: prompt.name, about: prompt.description ?? prompt.title, entry: prompt }))],
      ["Resources", resources.map((resource) => ({ kind: "resource", key: resource.uri, name: resource.name, about: resource.uri, entry: resource }))],
      ["Templates", templates.map((template) => ({ kind: "template", key: template.uriTemplate, name: template.name, about: template.uriTemplate, entry: template }))],
      ["Refused", Object.entries(rejected).map(([name, reason]) => ({ kind: "rejected", key: name, name, about: reason, entry: reason, mark: badge("refused", "bad") }))],
    ];
    this.sections = sections.filter(([, items]) => items.length).map(([title, items]) => {
      const count = el("span", { className: "faint" });
      const list = el("ul", {}, items.map((item) => this.row(item)));
      const element = el("section", { "aria-label": title }, el("h2", {}, title, " ", count, title === "Tools" ? el("span", { className: "right" }, "tokens") : ""), list);
      return { element, count, rows: items.map((item) => item.row) };
    });
    const nothing = el("p", { className: "faint empty" }, "Nothing is listed.");
    this.place.replaceChildren(...(this.sections.length ? this.sections.map(({ element }) => element) : [nothing]));
    this.filter();
  }

  row(item) {
    const button = el("button", { type: "button", "data-at": String(this.rows.length), tabIndex: -1 },
      el("span", { className: "row-name" }, line(item.name, 120)), item.mark ?? "",
      item.about ? el("span", { className: "row-about" }, line(item.about, 140)) : "");
    item.row = el("li", {}, button);
    item.button = button;
    item.words = `${item.name}\n${String(item.about ?? "").slice(0, 2000)}`.toLowerCase();
    this.rows.push(item);
    return item.row;
  }

  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of this.rows) {
      const isHidden = !words.every((word) => item.words.includes(word));
      if (item.row.hidden !== isHidden) item.row.hidden = isHidden;
    }
    for (const section of this.sections ?? []) {
      const shown = section.rows.filter((row) => !row.hidden).length;
      section.element.hidden = shown === 0;
      section.count.textContent = shown === section.rows.length ? shown.toLocaleString("en") : `${shown.toLocaleString("en")} of ${section.rows.length.toLocaleString("en")}`;
    }
    this.settle();
  }

  /** Have exactly one row in the order of the tab key. */
  settle() {
    const shown = this.rows.filter((item) => !item.row.hidden);
    if (this.reachable) this.reachable.button.tabIndex = -1;
    this.reachable = shown.includes(this.chosen) ? this.chosen : shown[0];
    if (this.reachable) this.reachable.button.tabIndex = 0;
    this.search.setAttribute("aria-description", `${plural(shown.length, "match").replace("matchs", "matches")}`);
  }

  step(event, from, by) {
    event.preventDefault();
    const shown = this.rows.filter((item) => !item.row.hidden);
    const at = from ? shown.findIndex((item) => item.button === from) + by : 0;
    if (at < 0) this.search.focus();
    else shown[Math.min(at, shown.length - 1)]?.button.focus();
  }

  pick(button) {
    if (button) this.onChoose(this.rows[Number(button.dataset.at)]);
  }

  find(kind, key) {
    return this.rows.find((item) => item.kind === kind && item.key === key);
  }

  mark(item) {
    this.chosen?.button.removeAttribute("aria-current");
    this.chosen = item ?? null;
    item?.button.setAttribute("aria-current", "true");
    item?.button.scrollIntoView({ block: "nearest" });
    this.settle();
  }
}
