// A form for any schema, and its JSON beside it, in step. Which fields there are, and what is wrong,
// the server side says anew after each change; here they are only shown.

import { ask } from "./api.js";
import { control } from "./controls.js";
import { el, fresh, line, plural, prose, sync } from "./dom.js";
import { getAt, parse, pointer, pretty, removeAt, setAt, tokens } from "./values.js";

const PAUSE = 120;
const MISSING = new Set(["required", "dependentRequired", "dependencies"]);

export class FormView {
  /** `subject` is what is filled in: `{tool: name}`, `{prompt: name}` or `{question: id}`. */
  constructor(subject, { value = {}, choices = {}, onChange = () => {}, label = "Arguments", isTouched = false } = {}) {
    this.subject = subject;
    this.value = value;
    this.choices = choices;
    this.problems = [];
    this.onChange = onChange;
    this.isJson = true;
    this.isTouched = isTouched; // what nobody has begun to fill in is not wrong yet
    this.changing = null;
    this.rows = new Map();
    this.turn = 0;
    this.fields = el("div", { className: "fields" });
    this.nothing = el("p", { className: "faint", hidden: true }, "It takes nothing.");
    const id = fresh("json");
    this.text = el("textarea", {
      id, className: "code", spellcheck: false, rows: 4, "aria-describedby": `${id}-state`,
      on: { input: () => this.readText(), blur: () => this.isJson && this.writeText() },
    });
    this.state = el("p", { className: "state", id: `${id}-state`, role: "status" });
    this.list = el("ul", { className: "problems" });
    this.element = el("div", { className: "filling" },
      el("section", { className: "form", "aria-label": label }, this.fields),
      el("section", { className: "json", "aria-label": "The same as JSON" },
        el("label", { htmlFor: id, className: "caption" }, "JSON"), this.text, this.state, this.list));
    this.writeText();
    this.ready = this.refresh();
  }

  get isRight() { return this.isJson && !this.problems.length; }

  /** Make a new value of the one there is, and ask what becomes of it; first come, first served. */
  edit(make, { now = false } = {}) {
    if (this.changing) return this.changing.then(() => this.edit(make, { now }));
    this.value = make();
    this.isTouched = true;
    this.isJson = true;
    this.writeText();
    if (now) return this.refresh();
    this.plan();
    return undefined;
  }

  /** Ask what becomes of the value when there is a pause in typing. */
  plan() {
    clearTimeout(this.timer);
    this.turn += 1; // answers about what was there before are of no use any more
    this.element.setAttribute("aria-busy", "true");
    this.timer = setTimeout(() => this.refresh(), PAUSE);
  }

  /** Have the server side make a new value: only the schema says what that is. */
  change(change) {
    if (this.changing) return this.changing.then(() => this.change(change));
    this.isTouched = true;
    this.changing = this.refresh(change).finally(() => { this.changing = null; });
    return this.changing;
  }

  put(path, value, options) { return this.edit(() => this.placed(path, value), options); }

  remove(path, options = { now: true }) { return this.edit(() => removeAt(this.value, path), options); }

  add(path) { return this.change({ kind: "add", path }); }

  /** Return the value with one part exchanged. */
  placed(path, value) {
    let placed = setAt(this.value, path, value);
    for (let depth = path.length - 1; depth >= 0; depth -= 1) {
      // What can only be one thing, such as the kind of an alternative, need not be filled in.
      for (const field of this.rows.get(pointer(path.slice(0, depth)))?.field.fields ?? []) {
        const own = tokens(field.path);
        const isSettled = field.required && field.options?.length === 1 && getAt(placed, own) === undefined;
        if (isSettled) placed = setAt(placed, own, field.options[0]);
      }
    }
    return placed;
  }

  isItem(path) { return Array.isArray(getAt(this.value, path.slice(0, -1))); }

  choose(path, place, chosen) { return this.change({ kind: "choose", path, place, chosen }); }

  readText() {
    clearTimeout(this.timer);
    this.isTouched = true;
    try {
      this.value = parse(this.text.value);
      this.isJson = true;
      this.plan();
    } catch (error) {
      this.isJson = false;
      this.turn += 1;
      this.element.removeAttribute("aria-busy");
      this.tell(`Not JSON: ${error.message}`, "bad");
      this.onChange(this);
    }
  }

  writeText() {
    if (document.activeElement === this.text) return;
    this.text.value = pretty(this.value);
    this.text.rows = Math.min(24, Math.max(4, this.text.value.split("\n").length + 1));
  }

  async refresh(change = undefined) {
    clearTimeout(this.timer);
    const turn = (this.turn += 1);
    this.element.setAttribute("aria-busy", "true");
    try {
      await this.take(turn, change);
    } finally {
      if (turn === this.turn) this.element.removeAttribute("aria-busy");
    }
  }

  async take(turn, change) {
    const { subject, value, choices } = this;
    let found;
    try {
      found = await ask("form", { subject, value, choices, change });
    } catch (error) {
      if (turn === this.turn) this.tell(error.message, "bad");
      return;
    }
    if (turn !== this.turn) return; // overtaken by what was typed meanwhile
    if (change) {
      this.value = found.value;
      if (change.kind === "choose") this.choices = { ...this.choices, [change.place]: change.chosen };
      this.writeText();
    }
    this.problems = found.problems;
    this.show(found.form);
    this.showProblems(found.unknown);
    this.onChange(this);
  }

  tell(text, tone) {
    this.state.textContent = text;
    this.state.className = `state ${tone}`;
  }

  showProblems(unknown) {
    const count = this.problems.length;
    if (unknown) this.tell(`Not judged: ${unknown}`, "bad");
    else if (count && !this.isTouched) this.tell("To be filled in", "");
    else if (count) this.tell(plural(count, "problem"), "bad");
    else this.tell("Fits the schema", "good");
    this.list.classList.toggle("calm", !this.isTouched);
    this.list.replaceChildren(...this.problems.map((problem) =>
      el("li", {},
        el("button", { type: "button", className: "at", on: { click: () => this.reveal(problem) } },
          line(this.rowOf(problem)?.field.path || problem.path || "/", 80)),
        prose(problem.message, "span", ""))));
  }

  /** Bring the place of a problem before the eye and the keyboard. */
  reveal(problem) {
    const row = this.rowOf(problem);
    (row?.element.querySelector("input,select,textarea,button") ?? this.text).focus();
  }

  /** Return the row that a problem belongs to: what it names as missing, or the nearest around it. */
  rowOf(problem) {
    if (MISSING.has(problem.keyword)) {
      const missing = /"(?:[^"\\]|\\.)*"/.exec(problem.message)?.[0];
      for (const row of this.rows.values()) {
        const { field } = row;
        if (field.required && !field.given && parentOf(field.path) === problem.path
          && JSON.stringify(field.name) === missing) return row;
      }
    }
    for (let path = problem.path; ; path = parentOf(path)) {
      const row = this.rows.get(path);
      if (row || !path) return row;
    }
  }

  show(form) {
    const before = this.rows;
    this.rows = new Map();
    const root = this.row(form, before);
    root.element.classList.add("root");
    this.nothing.hidden = Boolean(form.open || form.beyond || form.fields?.length);
    sync(this.fields, [root.element, this.nothing]);
    for (const row of this.rows.values()) row.tell([]);
    const placed = new Map();
    for (const problem of this.isTouched ? this.problems : []) {
      const row = this.rowOf(problem);
      if (row) placed.set(row, [...(placed.get(row) ?? []), problem.message]);
    }
    for (const [row, messages] of placed) row.tell(messages);
  }

  /** Return the row of a field: the one before, if it is of the same kind, so that focus stays. */
  row(field, before) {
    const sort = [field.kind, field.kinds.length > 1, Boolean(field.options), Boolean(field.fields),
      Boolean(field.items), Boolean(field.long), Boolean(field.extra), Boolean(field.beyond)].join();
    const known = before.get(field.path);
    const row = known?.sort === sort ? known : control(this, field, sort);
    this.rows.set(field.path, row);
    row.field = field;
    row.update(field, getAt(this.value, tokens(field.path)));
    const inner = (field.fields ?? field.items ?? []).map((each) => this.row(each, before).element);
    if (row.inner) sync(row.inner, inner);
    return row;
  }
}

function parentOf(path) {
  return pointer(tokens(path).slice(0, -1));
}
